"""Environments with a stub in place of torch: virtual environments with a few lines of Python that act like it."""

from __future__ import annotations

import base64
import hashlib
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Enough of torch for the build, the driver, a matrix product and the proof of native code; the rest raises.
TORCH = """
import os, random, sys, types
from torch import version
__version__ = version.__version__
float32, float64, float16, bfloat16, int32, int64 = "f32", "f64", "f16", "bf16", "i32", "i64"


class Tensor:
    def __init__(self, rows): self.rows = rows
    def same(self, *args, **kwargs): return self
    to = detach = cpu = double = same
    def norm(self): return Tensor([[sum(v * v for r in self.rows for v in r) ** 0.5]])
    def item(self): return self.rows[0][0]
    def map(self, f): return Tensor([[f(v) for v in r] for r in self.rows])
    def __mul__(self, n): return self.map(lambda v: v * n)
    def __add__(self, n): return self.map(lambda v: v + n)
    def __sub__(self, other):
        return Tensor([[a - b for a, b in zip(r, s)] for r, s in zip(self.rows, other.rows)])
    def index_select(self, axis, picks): return Tensor([self.rows[i] for i in picks.rows])
    def sum(self, axis): return Tensor([[sum(r)] for r in self.rows])


def randn(rows, columns): return Tensor([[random.random() for _ in range(columns)] for _ in range(rows)])
def randperm(n): return Tensor(random.sample(range(n), n))


def matmul(a, b):  # of the first column and row only: the real thing takes seconds
    return Tensor([[row[0] * y for y in b.rows[0]] for row in a.rows])


def space(**names): return types.SimpleNamespace(**names)


backends = space(
    cuda=space(matmul=space(allow_tf32=False)),
    cudnn=space(allow_tf32=False, version=lambda: None, is_available=lambda: False),
    mps=space(is_available=lambda: False),
)
_C = space(_cuda_getArchFlags=lambda: ARCH_LIST)
ARCH_LIST, DEVICES, WHY = None, [], "Torch not compiled with CUDA enabled"


def fail(*args): raise RuntimeError(WHY)


cuda = space(
    is_available=lambda: bool(DEVICES),
    device_count=lambda: len(DEVICES),
    get_device_name=lambda n: DEVICES[n][0],
    get_device_capability=lambda d: DEVICES[int(str(d).split(":")[-1])][1],
    get_arch_list=lambda: (ARCH_LIST or "").split() if DEVICES else [],
    synchronize=lambda d: None,
    init=fail,
    current_device=fail,
)
"""

# With these the stub has nothing that could fail: only the matrix product is left to it.
ALL_ELSE_SKIPPED = """
class Everything:
    def __getattr__(self, name): raise sys.modules["envsolve_probes.protocol"].Skip("the stub has no " + name)
nn = linalg = Everything()
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(Everything(), name)
_two = randn
def randn(*size): return _two(*size) if len(size) == 2 and size[0] != 64 and size != (257, 1025) else Everything().randn
"""


@dataclass(frozen=True)
class StubEnvironment:
    """A virtual environment at `path` with stub packages in it."""

    path: Path

    @property
    def interpreter(self) -> Path:
        return self.path / "bin" / "python"

    @property
    def site(self) -> Path:
        return next((self.path / "lib").glob("python3*")) / "site-packages"

    def add(self, name: str, version: str, files: dict[str, str], requires: Sequence[str] = ()) -> None:
        """Install a package by hand, with a right RECORD."""
        info = f"{name.replace('-', '_')}-{version}.dist-info"
        needs = "".join(f"Requires-Dist: {need}\n" for need in requires)
        files = {**files, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}\n"}
        record = ""
        for file, text in files.items():
            target = self.site / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record += f"{file},sha256={digest},{len(text.encode())}\n"
        (self.site / info / "RECORD").write_text(record + f"{info}/RECORD,,\n", encoding="utf-8")


def empty_environment(path: Path) -> StubEnvironment:
    """A virtual environment of the running Python without any package."""
    venv.create(path, with_pip=False, symlinks=True)
    return StubEnvironment(path)


def stub_environment(
    path: Path, *, version: str = "2.11.0+cpu", cuda: str | None = None, more: str = "", requires: Sequence[str] = ()
) -> StubEnvironment:
    """An environment with a stub torch; `more` is code at the end of its __init__.py."""
    environment = empty_environment(path)
    stated = f"__version__ = {version!r}\ncuda: Optional[str] = {cuda!r}\nhip: Optional[str] = None\n"
    files = {"torch/__init__.py": TORCH + more, "torch/version.py": "from typing import Optional\n" + stated}
    environment.add("torch", version, files, requires)
    return environment


def gpus(*capabilities: tuple[int, int], targets: str = "sm_80 sm_90 compute_90") -> str:
    """Code for `more`: a CUDA build that sees these GPUs."""
    devices = [(f"NVIDIA Stub {major}{minor}", (major, minor)) for major, minor in capabilities]
    return f"\nARCH_LIST, DEVICES, WHY = {targets!r}, {devices!r}, 'No CUDA GPUs are available'\n"
