"""A folder of one's own with a fake index, and `envsolve lock` in it, for the stories of locks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.pytorch_index import serve_as_pytorch_index
from fakes.stub_wheels import StubWheel, stub_family, stub_torch

LINUX_312 = "cp312-cp312-manylinux_2_28_x86_64"
LINUX = "RTX 5070 Ti,driver=570.86.10,python=3.12,glibc=2.35,os=linux,arch=x86_64"
WINDOWS = "RTX 5060,driver=572.16,python=3.12,os=windows,arch=x86_64"
MACOS = "python=3.12,os=macos,arch=arm64,vendor=apple"


class LockWorld:
    """`world.lock("torch", "-o", "a.txt", target=...)` runs the command against the fake index."""

    def __init__(self, server: IndexServer) -> None:
        self.server = server

    def lock(self, *words: str, targets: tuple[str, ...] = (LINUX,)) -> int:
        chosen = [word for target in targets for word in ("--target", target)]
        return run(["lock", *words, *chosen, "--mirror", self.server.whl, "--index", self.server.simple])

    def serve(self, name: str, *versions: str, requires: tuple[str, ...] = ()) -> None:
        for version in versions:
            self.server.add_package(StubWheel(name=name, version=version, requires=requires))


def names(path: Path | str) -> list[str]:
    """The pins of a requirements lock: name==version, or the start of the wheel's name."""
    lines = [line for line in Path(path).read_text().splitlines() if line[:1] not in ("#", " ")]
    shown = [line.partition(" ; ")[0].rstrip(" \\") for line in lines]
    return [line.split("/")[-1].split("-cp")[0] if "://" in line else line for line in shown]


def targets_here(world: LockWorld) -> tuple[str, str]:
    """Both targets with the Python that runs, for clients that look at it."""
    cp = f"cp3{sys.version_info.minor}"
    for tag in ("manylinux_2_28_x86_64", "win_amd64"):
        world.server.add_wheel("cu128", stub_torch("2.11.0+cu128", tag=f"{cp}-{cp}-{tag}"))
    here = f"python=3.{sys.version_info.minor}"
    return LINUX.replace("python=3.12", here), WINDOWS.replace("python=3.12", here)


@contextmanager
def lock_world(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    """2.11.0 and 2.10.0 on cu128 for Linux and Windows, complete; behind the mirror there is nothing more."""
    monkeypatch.chdir(folder)
    with IndexServer() as server:
        for torch, vision in (("2.11.0", "0.26.0"), ("2.10.0", "0.25.0")):
            for tag in (LINUX_312, "cp312-cp312-win_amd64"):
                for wheel in stub_family("cu128", tag=tag, torch=torch, torchvision=vision, torchaudio=torch):
                    server.add_wheel("cu128", wheel)
        serve_as_pytorch_index(monkeypatch, server.whl)
        yield LockWorld(server)
