"""What a conda lock needs beside the wheels: the packages that make the Python, and what a machine has without any."""

from __future__ import annotations

from collections.abc import Mapping

from envsolve.record import record

SUBDIRS: Mapping[str, str] = {  # a platform of the rules -> conda's folder for it
    "linux_x86_64": "linux-64",
    "linux_aarch64": "linux-aarch64",
    "windows_amd64": "win-64",
    "windows_arm64": "win-arm64",
    "macos_arm64": "osx-arm64",
    "macos_x86_64": "osx-64",
}
DEFAULT_CHANNELS = ("conda-forge",)


@record
class CondaPackage:
    """One package of a conda channel. `url` has no credentials, `md5` and `sha256` are hex ("" = not given)."""

    name: str
    version: str
    build: str
    url: str
    md5: str
    sha256: str
    depends: tuple[str, ...]


@record
class CondaPart:
    """The packages that make an environment's Python and pip, solved from these channels."""

    channels: tuple[str, ...]
    packages: tuple[CondaPackage, ...]


@record
class Virtual:
    """A virtual package: what a machine has by itself (`__cuda` 12.8: the newest CUDA of its driver)."""

    name: str
    version: str
    build: str = ""

    def __str__(self) -> str:
        return f"{self.version} {self.build}".rstrip()


def python_specs(python: str) -> tuple[str, ...]:
    """What conda is asked for: the Python of the lock and pip."""
    if python.endswith("t"):
        return (f"python {python.rstrip('t')}.*", "python-freethreading", "pip")
    return (f"python {python}.*", "pip")
