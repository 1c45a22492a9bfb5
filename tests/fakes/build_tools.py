"""Stand-ins for what a source build calls: a toolkit, a compiler, git, Python. They log and write empty wheels."""

from __future__ import annotations

from pathlib import Path

_NVCC = """#!/bin/sh
echo "Cuda compilation tools, release {cuda}, V{cuda}.99"
"""

_GXX = """#!/bin/sh
echo {gcc}
"""

_GIT = """#!/bin/sh
echo "git $*" >>"$LOG"
for last; do :; done
mkdir -p "$last" && : >"$last/requirements.txt"
"""

# `python -m venv DIR` copies itself; the two ways to a wheel leave one behind; the rest succeeds.
_PYTHON = """#!/bin/sh
echo "python $*" >>"$LOG"
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    *bdist_wheel*|*"pip wheel"*)
        name=$(basename "$PWD")
        [ "$FAIL" != "$name" ] || exit 1
        [ "$name" != pytorch ] || name=torch
        version=${BUILD_VERSION:-$PYTORCH_BUILD_VERSION}
        {
            echo "build $name $version arch=$TORCH_CUDA_ARCH_LIST jobs=$MAX_JOBS cxx=$CXX"
            echo "for $name flash=${USE_FLASH_ATTENTION:-} torch=${PYTORCH_VERSION:-}"
        } >>"$LOG"
        mkdir -p dist && : >"dist/$name-$version-cp310-cp310-linux_x86_64.whl" ;;
esac
"""


class BuildTools:
    """A folder with the stand-ins; `log` is what they were called with."""

    def __init__(self, folder: Path, *, cuda: str, gcc: str, cudnn: int, python: str) -> None:
        self.folder = folder
        self.cuda_home = folder / "cuda"
        self.log_file = folder / "log"
        self._script(self.cuda_home / "bin" / "nvcc", _NVCC.format(cuda=cuda))
        for compiler in (f"g++-{gcc}", f"gcc-{gcc}", "g++", "gcc"):
            self._script(folder / "bin" / compiler, _GXX.format(gcc=gcc))
        self._script(folder / "bin" / "git", _GIT)
        self._script(folder / "bin" / f"python{python}", _PYTHON)
        header = self.cuda_home / "include" / "cudnn_version.h"
        header.parent.mkdir(parents=True)
        header.write_text(f"#define CUDNN_MAJOR {cudnn}\n#define CUDNN_MINOR 5\n")
        self.set_linux_headers(5, 15)

    def set_linux_headers(self, major: int, minor: int, patch: int = 0) -> None:
        version = (major << 16) + (minor << 8) + patch
        (self.folder / "version.h").write_text(f"#define LINUX_VERSION_CODE {version}\n")

    def environ(self, **more: str) -> dict[str, str]:
        path = f"{self.folder / 'bin'}:/usr/bin:/bin"
        own = {"PATH": path, "CUDA_HOME": str(self.cuda_home), "LINUX_HEADERS": str(self.folder)}
        return {**own, "LOG": str(self.log_file), "HOME": "/nowhere", **more}

    @property
    def log(self) -> list[str]:
        return self.log_file.read_text().splitlines() if self.log_file.exists() else []

    def _script(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
