"""envsolve: the PyTorch build that runs on this GPU and driver, planned, locked, installed and proven."""

__version__ = "0.1.0"
