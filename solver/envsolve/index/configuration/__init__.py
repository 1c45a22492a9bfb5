"""Where settings come from: options, ENVSOLVE_* variables, envsolve's file, pip's and uv's configuration."""
