"""Scripts that run in the interpreter of the environment: Python 3.6 syntax, standard library alone."""
