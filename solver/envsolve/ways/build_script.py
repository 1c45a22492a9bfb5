"""The script of a source build: a fixed body after a head with the values of one recipe."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from importlib.resources import files as resource_files

from packaging.version import Version

from envsolve.capability import Capability
from envsolve.ways.source_build import Recipe

NAME = "build-torch.sh"
_FLASH = Capability(8, 0)
_CAFFE2_ENDS = Version("2.2")
_HEADERS_MATTER = Version("2.0")
_CMAKE = "<4"  # projects of this age don't say that they take CMake 4


def build_script(recipe: Recipe, *, command: str, version: str) -> str:
    """The text of the script. `command` is the line that makes it again."""
    body = resource_files("envsolve.ways").joinpath("files", "build_torch_body.sh").read_text(encoding="utf-8")
    return "\n".join([*_head(recipe, command, version), "", body])


def _head(recipe: Recipe, command: str, version: str) -> Iterator[str]:
    yield "#!/usr/bin/env bash"
    yield f"# made by envsolve {version}; to change it, run this again:"
    yield f"#     {' '.join(command.split())}"
    yield f"# Compiles PyTorch {recipe.torch} for {' '.join(recipe.cards.split())} into wheels."
    yield f"# {recipe.toolkit.targets.why}"
    for note in recipe.notes:
        yield f"# note: {note}"
    yield "# Usage: bash build-torch.sh [FOLDER]   (default: ./pytorch-build; goes on after an interruption)"
    yield "# MAX_JOBS, CUDA_HOME, PYTHON and CXX outrank what is found."
    yield "set -euo pipefail"
    for name, value in values(recipe):
        yield f"readonly {name}={shlex.quote(value)}"
    yield from _flags(recipe)


def values(recipe: Recipe) -> Iterator[tuple[str, str]]:
    """What differs between recipes, as variables of the script."""
    toolkit, release = recipe.toolkit, recipe.release
    yield "TORCH", str(recipe.torch)
    yield "TORCHVISION", str(recipe.companions.get("torchvision", ""))
    yield "TORCHAUDIO", str(recipe.companions.get("torchaudio", ""))
    yield "LABEL", recipe.label
    yield "PYTHON_VERSION", str(recipe.python)
    yield "CUDA", str(toolkit.cuda)
    yield "GCC_MAJORS", " ".join(map(str, toolkit.host_gcc))
    yield "CUDNN_MAJOR", str(toolkit.image.cudnn)
    # torch, through cmake, and its extensions take different numbers.
    yield "ARCH_LIST_TORCH", toolkit.targets.torch
    yield "ARCH_LIST_EXTENSIONS", toolkit.targets.extensions
    yield "JOB_MIB", str(recipe.cost.job_mib)
    yield "CORE_HOURS", str(recipe.cost.core_hours)
    yield "DISK_GIB", str(recipe.cost.disk_gib)
    yield "OLD_LINUX_HEADERS", "1" if recipe.torch < _HEADERS_MATTER else ""
    yield "PIP_WHEEL", "" if recipe.torch < Version("2.9") else "1"
    yield "SETUPTOOLS", f"setuptools{release.setuptools}"
    yield "NUMPY", f"numpy{release.numpy}"
    yield "CMAKE", f"cmake>={release.cmake_min},{_CMAKE}"


def _flags(recipe: Recipe) -> Iterator[str]:
    yield "# flags of PyTorch's setup.py"
    yield "export USE_CUDA=1 USE_ROCM=0 USE_XPU=0 BUILD_TEST=0"
    if recipe.torch < _CAFFE2_ENDS:
        yield "export BUILD_CAFFE2=0"
    if not any(c >= _FLASH for c in recipe.capabilities):
        yield f"export USE_FLASH_ATTENTION=0  # its kernels need {_FLASH}; without them the build is smaller"
    if recipe.gpu_count == 1:
        yield "export USE_NCCL=0  # one GPU"
