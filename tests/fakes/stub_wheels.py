"""Stub wheels made in code: valid for pip, uv and installer, a few hundred bytes each, the same bytes every time.

wheel = StubWheel(name="six", version="1.17.0", requires=("typing-extensions>=4",), modules={"six.py": "X = 1"})
wheel.filename, wheel.content, wheel.sha256, wheel.metadata, wheel.metadata_sha256
path = wheel.write(tmp_path)                                     # a file for find-links
stub_torch("2.11.0+cu128", tag="cp312-cp312-manylinux_2_28_x86_64")
stub_family("cu128", torch="2.11.0", torchvision="0.26.0", torchaudio="2.11.0", tag=...)   # the trio, one variant
StubSdist(name="six", version="1.17.0")
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

_DATE = (1980, 1, 1, 0, 0, 0)


def _escape(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name)


def _metadata(
    name: str, version: str, requires: tuple[str, ...], extras: tuple[str, ...], requires_python: str
) -> bytes:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", "Summary: a stub for tests"]
    if requires_python:
        lines.append(f"Requires-Python: {requires_python}")
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    return ("\n".join(lines) + "\n\nA stub.\n").encode()


@dataclass(frozen=True, kw_only=True)
class StubWheel:
    """A wheel in memory. `modules` maps a path in the wheel to its source, `scripts` a command to its module:function;
    `tag` is as in the file name.

    `padding` bytes that don't compress are stored first, so that a ranged read of the tail is worth its while.
    """

    name: str
    version: str
    tag: str = "py3-none-any"
    build: str = ""
    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    requires_python: str = ""
    modules: Mapping[str, str] = field(default_factory=dict)
    scripts: Mapping[str, str] = field(default_factory=dict)
    padding: int = 0

    @property
    def filename(self) -> str:
        parts = [_escape(self.name), self.version, *([self.build] if self.build else []), self.tag]
        return "-".join(parts) + ".whl"

    @cached_property
    def metadata(self) -> bytes:
        return _metadata(self.name, self.version, self.requires, self.extras, self.requires_python)

    @property
    def metadata_sha256(self) -> str:
        return hashlib.sha256(self.metadata).hexdigest()

    @cached_property
    def content(self) -> bytes:
        return _zip(self._files(), f"{_escape(self.name)}-{self.version}.dist-info/RECORD")

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def write(self, folder: Path) -> Path:
        path = folder / self.filename
        path.write_bytes(self.content)
        return path

    def _files(self) -> dict[str, bytes]:
        info = f"{_escape(self.name)}-{self.version}.dist-info"
        modules = self.modules or {f"{_escape(self.name)}.py": f"__version__ = {self.version!r}\n"}
        files = {path: source.encode() for path, source in modules.items()}
        if self.padding:
            files[f"{_escape(self.name)}_padding.bin"] = _noise(self.padding)
        files[f"{info}/METADATA"] = self.metadata
        files[f"{info}/WHEEL"] = self._wheel_file()
        if self.scripts:
            lines = ["[console_scripts]", *(f"{name} = {what}" for name, what in self.scripts.items())]
            files[f"{info}/entry_points.txt"] = ("\n".join(lines) + "\n").encode()
        return files

    def _wheel_file(self) -> bytes:
        pythons, abis, platforms = (part.split(".") for part in self.tag.rsplit("-", 2))
        tags = [f"Tag: {p}-{a}-{f}" for p in pythons for a in abis for f in platforms]
        pure = "true" if self.tag.endswith("-none-any") else "false"
        build = [f"Build: {self.build}"] if self.build else []
        lines = ["Wheel-Version: 1.0", "Generator: envsolve-tests", f"Root-Is-Purelib: {pure}", *build, *tags]
        return ("\n".join(lines) + "\n").encode()


@dataclass(frozen=True, kw_only=True)
class StubSdist:
    """A source distribution that builds with setuptools; only its name, bytes and PKG-INFO matter to most tests."""

    name: str
    version: str
    requires_python: str = ""

    @property
    def filename(self) -> str:
        return f"{_escape(self.name)}-{self.version}.tar.gz"

    @cached_property
    def metadata(self) -> bytes:
        return _metadata(self.name, self.version, (), (), self.requires_python)

    @property
    def metadata_sha256(self) -> str:
        return hashlib.sha256(self.metadata).hexdigest()

    @cached_property
    def content(self) -> bytes:
        base = f"{_escape(self.name)}-{self.version}"
        setup = f"from setuptools import setup\nsetup(name={self.name!r}, version={self.version!r})\n"
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w") as tar:
            for path, data in {"PKG-INFO": self.metadata, "setup.py": setup.encode()}.items():
                info = tarfile.TarInfo(f"{base}/{path}")
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        return gzip.compress(raw.getvalue(), mtime=0)

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def write(self, folder: Path) -> Path:
        path = folder / self.filename
        path.write_bytes(self.content)
        return path


def stub_torch(version: str = "2.11.0+cu128", *, requires: tuple[str, ...] = (), **rest: object) -> StubWheel:
    """A torch that imports: `__version__`, `version.cuda` and a `cuda` module which sees no GPU."""
    local = version.partition("+")[2]
    cuda = f"{local[2:-1]}.{local[-1]}" if re.fullmatch(r"cu\d{3}", local) else None
    modules = {
        "torch/__init__.py": f"from torch import cuda, version\n__version__ = {version!r}\n",
        "torch/version.py": f"__version__ = {version!r}\ncuda = {cuda!r}\nhip = None\n",
        "torch/cuda/__init__.py": (
            "def is_available():\n    return False\n\n\n"
            "def device_count():\n    return 0\n\n\n"
            "def get_arch_list():\n    return []\n"
        ),
    }
    return StubWheel(name="torch", version=version, requires=requires, modules=modules, **rest)  # type: ignore[arg-type]


def stub_companion(name: str, version: str, *, torch: str = "", **rest: object) -> StubWheel:
    """A torchvision or torchaudio that imports torch; `torch` is the public version it pins ("" = none)."""
    modules = {f"{name}/__init__.py": f"import torch\n__version__ = {version!r}\n"}
    pin = (f"torch=={torch}",) if torch else ()
    return StubWheel(name=name, version=version, requires=pin, modules=modules, **rest)  # type: ignore[arg-type]


def stub_family(
    variant: str,
    *,
    tag: str,
    torch: str,
    torchvision: str = "",
    torchaudio: str = "",
    requires: tuple[str, ...] = (),
    label: bool = True,
) -> list[StubWheel]:
    """The asked members of the family for one variant and tag, each with +variant unless `label` is False."""
    suffix = f"+{variant}" if label else ""
    wheels = [stub_torch(f"{torch}{suffix}", tag=tag, requires=requires)]
    for name, version in {"torchvision": torchvision, "torchaudio": torchaudio}.items():
        if version:
            wheels.append(stub_companion(name, f"{version}{suffix}", torch=torch, tag=tag))
    return wheels


def _noise(count: int) -> bytes:
    """Bytes that don't compress, the same every time."""
    blocks = (hashlib.sha256(number.to_bytes(8, "big")).digest() for number in range(count // 32 + 1))
    return b"".join(blocks)[:count]


def _zip(files: Mapping[str, bytes], record: str) -> bytes:
    rows = []
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(_entry(path), data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(data)}")
        archive.writestr(_entry(record), "\n".join([*rows, f"{record},,"]) + "\n")
    return raw.getvalue()


def _entry(path: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, date_time=_DATE)
    info.external_attr = 0o644 << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info
