"""Promise: what a lock says that verification must find."""

from __future__ import annotations

from typing import Literal

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from envsolve.lock.lock import Lock, LockedPackage
from envsolve.regex import regex
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build
from envsolve.verify.expected import Expected

_CUDA = regex(r"cu(\d+)(\d)")
_GPU_CODE = regex(r": \w+ ((?:sm|compute)_\w+)$")


def promise(lock: Lock, rulebook: Rulebook) -> Expected:
    """The Expected of a lock; the arch list is added where the rules know its torch build."""
    build = _build(lock, rulebook)
    cuda = _CUDA.fullmatch(lock.variant)
    return Expected(
        versions={package.name: version_of(package) for package in lock.packages},
        device=_device(lock),
        cuda=str(build.cuda) if build and build.cuda else f"{cuda[1]}.{cuda[2]}" if cuda else "",
        targets=tuple(str(target) for target in (*build.sm, *build.ptx)) if build and build.targets_known else (),
        gpu_codes=tuple(found[1] for gpu in lock.header.gpus if (found := _GPU_CODE.search(gpu))),
        python=lock.python,
    )


def _build(lock: Lock, rulebook: Rulebook) -> Build | None:
    torch = next((package for package in lock.packages if package.name == "torch"), None)
    return rulebook.build(Version(torch.version.public), lock.variant, lock.platform) if torch else None


def version_of(package: LockedPackage) -> str:
    """The version as pip will show it: the wheel's own, with its local label."""
    if package.direct:
        return str(parse_wheel_filename(package.files[0].filename)[1])
    return str(package.version)


def _device(lock: Lock) -> Literal["cuda", "cpu", "mps", "rocm", "xpu"]:
    if lock.platform == "macos_arm64":
        return "mps"
    if lock.variant.startswith("rocm"):
        return "rocm"
    if lock.variant == "xpu":
        return "xpu"
    return "cuda" if lock.variant.startswith("cu") else "cpu"
