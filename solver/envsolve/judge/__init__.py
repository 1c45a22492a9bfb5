"""(Machine, Build) -> Fit: kernels, driver, host. Every refusal is a value."""
