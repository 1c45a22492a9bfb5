"""What runs inside the environment under test: standard library and torch only, Python 3.6 syntax, no envsolve.

`child.py` is started with the environment's own interpreter; it loads this folder as the package `envsolve_probes`.
"""
