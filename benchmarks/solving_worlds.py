"""Worlds for solving.py: the torch family served as the PyTorch index serves it, and indexes of growing size."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel

REPOSITORY = Path(__file__).resolve().parents[1]
TORCH, VISION, AUDIO = "2.11.0", "0.26.0", "2.11.0"
TRIO = ("torch", "torchvision", "torchaudio")
B = (*TRIO, "transformers", "accelerate", "datasets", "scikit-learn", "pandas", "jupyterlab")
# What torch 2.11.0 requires on every platform; the CUDA libraries come from rules/torch/requires.json.
COMMON = (
    "filelock",
    "typing-extensions>=4.10.0",
    "setuptools<82",
    "sympy>=1.13.3",
    "networkx>=2.5.1",
    "jinja2",
    "fsspec>=0.8.5",
)


@contextmanager
def torch_world(variant: str) -> Iterator[IndexServer]:
    """The trio of one variant with its real requirements, for the running CPython and Linux x86_64."""
    python = f"cp3{sys.version_info.minor}"
    tag = f"{python}-{python}-manylinux_2_28_x86_64"
    with IndexServer() as server:
        for name, version, requires in (
            ("torch", TORCH, (*COMMON, *_cuda(variant))),
            ("torchvision", VISION, ("numpy", f"torch=={TORCH}", "pillow!=8.3.*,>=5.3.0")),
            ("torchaudio", AUDIO, (f"torch=={TORCH}",)),
        ):
            server.add_wheel(variant, StubWheel(name=name, version=f"{version}+{variant}", tag=tag, requires=requires))
        yield server


def _cuda(variant: str) -> list[str]:
    rows = json.loads((REPOSITORY / "rules/torch/requires.json").read_text())["quoted"]
    return rows[f"{TORCH}+{variant}"]["requires"] if variant != "cpu" else []


@contextmanager
def growing_world(packages: int, versions: int = 20, needs: int = 4) -> Iterator[IndexServer]:
    """An index of stub packages, and torch for the CPU: each version needs some packages that come later in the row.

    Every third need has an upper bound, so that the newest version isn't always the answer. Always the same world.
    """
    dice = random.Random(packages)
    with torch_world("cpu") as server:
        for name, version in (("filelock", 3), ("typing-extensions", 5), ("setuptools", 81), ("sympy", 2)):
            server.add_package(StubWheel(name=name, version=f"{version}.0"))
        for name in ("networkx", "jinja2", "fsspec", "numpy", "pillow"):
            server.add_package(StubWheel(name=name, version="9.0"))
        for number in range(packages):
            for version in range(1, versions + 1):
                later = range(number + 1, min(packages, number + 25))
                some = sorted(dice.sample(later, min(needs, len(later))))
                requires = tuple(f"{named(n)}>={dice.randint(1, versions // 2)}{_bound(n, versions)}" for n in some)
                server.add_package(StubWheel(name=named(number), version=f"{version}.0", requires=requires))
        yield server


def named(number: int) -> str:
    """The name of a stub package."""
    return f"stub-{number:03}"


def _bound(number: int, versions: int) -> str:
    return f",<{versions - number % 5}" if number % 3 == 0 else ""
