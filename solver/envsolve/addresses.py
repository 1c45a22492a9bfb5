"""The addresses that envsolve is about: the PyTorch index and the hosts that serve its files."""

PYTORCH_INDEX = "https://download.pytorch.org/whl"
# One store behind both names: the pages link to either, the path is the same.
PYTORCH_HOSTS = ("download.pytorch.org", "download-r2.pytorch.org")
