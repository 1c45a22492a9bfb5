"""The machine inside a container: the host's GPUs and driver, the base image's C library and Python."""

from __future__ import annotations

from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Libc, Machine
from envsolve.record import replace
from envsolve.rulebook.ways_rows import PythonImage
from envsolve.rulebook.ways_tables import Ways


def base_image(python: str, ways: Ways) -> PythonImage:
    """The image for a Python ("3.12", "3.12.1"). Raises InputError where the rules know none."""
    minor = ".".join(python.split(".")[:2])
    known = ", ".join(str(p) for p in ways.python_images)
    hint = f"--python 3.12; there are images for {known}"
    if python.endswith("t"):
        raise InputError(f"there is no official image of free-threaded Python {python}", hint=hint)
    image = ways.python_images.get(Dotted.parse(minor)) if minor else None
    if image is None:
        raise InputError(f"no official slim image of Python {python or '?'} is known to the rules", hint=hint)
    return image


def inside(machine: Machine, ways: Ways) -> Machine:
    """The machine as programs in the container see it. A Windows or WSL host keeps Windows driver numbers.

    Raises InputError for a Mac with a GPU (containers there see none) and for a Python without image.
    """
    if machine.os == "macos" and machine.vendor not in (None, "none"):
        raise InputError("a container on macOS sees no GPU", hint="envsolve install --name NAME installs without one")
    image = base_image(machine.python or "", ways)
    return replace(
        machine,
        os="linux",
        arch="aarch64" if machine.arch == "arm64" else machine.arch,
        libc=Libc(name="glibc", version=image.glibc),
        wsl=machine.wsl or machine.os == "windows",
        assumed=tuple(a for a in machine.assumed if a not in ("os", "python")),
    )
