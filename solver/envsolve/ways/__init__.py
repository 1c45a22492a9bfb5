"""(Machine, Build, rules) -> the ways out: driver, container, source build, extensions. Values, no effects."""
