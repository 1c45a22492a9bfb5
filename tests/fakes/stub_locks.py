"""A lock of stub wheels, as envsolve writes it: torch and its family by address, the rest by version and hash."""

from __future__ import annotations

import platform
import sys

from packaging.version import Version

from envsolve.lock import requirements_txt
from envsolve.lock.lock import Lock, LockedFile, LockedPackage, LockHeader
from envsolve.machine.host import this_host
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel, stub_torch

RUNNING = f"{sys.version_info[0]}.{sys.version_info[1]}"


def stub_lock(
    direct: dict[str, StubWheel], pinned: list[StubWheel], *, python: str = RUNNING, target: str | None = None
) -> Lock:
    """`direct` maps an address to its wheel; `target` is the platform (default: this machine's)."""
    packages = [_package(wheel, url=url) for url, wheel in direct.items()] + [_package(w) for w in pinned]
    return Lock(
        header=LockHeader(
            command="envsolve lock torch --variant cpu",
            target=f"{platform.system().lower()}, python {python}, cpu",
            gpus=(),
            rules="0" * 64,
            envsolve="0.1.0",
        ),
        python=python,
        platform=target or this_host().platform,
        variant="cpu",
        index_url="https://download.pytorch.org/whl/cpu",
        packages=tuple(packages),
    )


def served_lock(server: IndexServer, *others: StubWheel, python: str = RUNNING, padding: int = 0) -> str:
    """The text of a lock for a stub torch and others, all of which `server` now serves."""
    torch = stub_torch("2.11.0+cpu", padding=padding)
    address = server.add_wheel("cpu", torch)
    for wheel in others:
        server.add_package(wheel)
    return requirements_txt.write(stub_lock({address: torch}, list(others), python=python))


def _package(wheel: StubWheel, *, url: str = "") -> LockedPackage:
    file = LockedFile(filename=wheel.filename, url=url, sha256=wheel.sha256, size=len(wheel.content))
    return LockedPackage(
        name=wheel.name, version=Version(wheel.version), files=(file,), direct=bool(url), via=("the test",)
    )
