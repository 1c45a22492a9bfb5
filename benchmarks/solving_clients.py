"""Clients for solving.py: the same requirements, as commands of envsolve and of other tools."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from solving_worlds import AUDIO, TORCH, TRIO, VISION

from fakes.index_server import IndexServer

# The running one: uv would look for another, and some packages want a later patch version than the first.
PYTHON = platform.python_version()
TARGETS = {
    "cpu": f"cpu,python={PYTHON},glibc=2.35,os=linux,arch=x86_64",
    "cu128": f"RTX 4090,driver=570.86.10,python={PYTHON},glibc=2.35,os=linux,arch=x86_64",
}
# uv reads no pip configuration: indexes and folders that it names here would be asked by envsolve alone.
_PLAIN = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": ""}
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:==| @ \S*?/[A-Za-z0-9_.]+?-)([^\s;\\-]+)", re.M)


@dataclass(frozen=True, kw_only=True)
class Job:
    """One command to time; `empty` are folders to remove before each run."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    empty: Sequence[Path] = ()


@dataclass(frozen=True, kw_only=True)
class Client:
    """One tool on one set. `output` is the lock that it writes, `offline` the words that keep it off the network."""

    name: str
    command: Sequence[str]
    output: Path
    cache: Path
    env: Mapping[str, str] = field(default_factory=dict)
    offline: Sequence[str] = ()

    def job(self, *, offline: bool = False, fresh: bool = False) -> Job:
        """A run with what the cache holds, without the network, or with an empty cache."""
        return Job(
            name=self.name,
            command=[*self.command, *(self.offline if offline else ())],
            env={**os.environ, **self.env},
            empty=[self.cache, self.output] if fresh else [self.output],
        )

    def pins(self) -> dict[str, str]:
        """The versions in the lock that was written last, by name."""
        found = _PIN.findall(unquote(self.output.read_text()))
        return {name.lower().replace("_", "-"): version for name, version in found}


def written(folder: Path, name: str, lines: Sequence[str]) -> Path:
    """A requirements file."""
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def envsolve(folder: Path, world: IndexServer, variant: str, names: Sequence[str], *, index: str = "") -> Client:
    """`envsolve lock` of some names, the torch family from a world."""
    inputs = written(folder, "ours.in", [f"torch=={TORCH}" if name == "torch" else name for name in names])
    output, cache = folder / "ours.txt", folder / "envsolve-cache"
    return Client(
        name="envsolve lock",
        command=[
            *(sys.executable, "-m", "envsolve", "lock", "-r", str(inputs), "--target", TARGETS[variant]),
            *("--mirror", world.whl, "-o", str(output)),
            *(("--index", index) if index else ()),
        ],
        output=output,
        cache=cache,
        env={"ENVSOLVE_CACHE_DIR": str(cache), **_PLAIN},
        offline=["--offline"],
    )


def from_snapshot(folder: Path) -> Client:
    """`envsolve lock --offline` of the trio with nothing cached: only the bundled snapshot."""
    output, cache = folder / "snapshot.txt", folder / "no-cache"
    return Client(
        name="envsolve lock, snapshot",
        command=[
            *(sys.executable, "-m", "envsolve", "lock", *TRIO, "--target", TARGETS["cu128"]),
            *("--offline", "-o", str(output)),
        ],
        output=output,
        cache=cache,
        env={"ENVSOLVE_CACHE_DIR": str(cache), **_PLAIN},
    )


def uv(folder: Path, world: IndexServer, variant: str, names: Sequence[str], *, index: str = "") -> Client:
    """`uv pip compile` of the same names and the same wheels of torch, torchvision and torchaudio."""
    inputs, output, cache = written(folder, "uv.in", _pinned(names, variant)), folder / "uv.txt", folder / "uv-cache"
    return Client(
        name="uv pip compile",
        command=[
            *("uv", "pip", "compile", "-q", str(inputs), "-o", str(output)),
            *("--python-version", PYTHON, "--python-platform", "x86_64-manylinux_2_35"),
            *("--index", f"{world.whl}/{variant}", *(("--default-index", index) if index else ())),
        ],
        output=output,
        cache=cache,
        env={"UV_CACHE_DIR": str(cache)},
        offline=["--offline"],
    )


def others(folder: Path, world: IndexServer, names: Sequence[str]) -> list[Client]:
    """pip, pip-tools, pdm and poetry on the CPU variant, those that are on PATH."""
    extra = f"{world.whl}/cpu"
    inputs = written(folder, "others.in", _pinned(names, "cpu"))
    makers = {"pip": _pip, "pip-compile": _pip_tools, "pdm": _pdm, "poetry": _poetry}
    found = {name: shutil.which(name) for name in makers}
    for name in sorted(set(makers) - {n for n, path in found.items() if path}):
        print(f"{name}: not on PATH, left out")
    return [makers[name](folder, inputs, extra) for name, path in found.items() if path]


def _pinned(names: Sequence[str], variant: str) -> list[str]:
    versions = {"torch": TORCH, "torchvision": VISION, "torchaudio": AUDIO}
    return [f"{name}=={versions[name]}+{variant}" if name in versions else name for name in names]


def _pip(folder: Path, inputs: Path, extra: str) -> Client:
    output, cache = folder / "pip.json", folder / "pip-cache"
    words = ["pip", "install", "-q", "--dry-run", "--ignore-installed", "--report", str(output)]
    words += ["-r", str(inputs), "--extra-index-url", extra, "--only-binary", ":all:"]
    return Client(name="pip install --dry-run", command=words, output=output, cache=cache, env=_pip_env(cache))


def _pip_tools(folder: Path, inputs: Path, extra: str) -> Client:
    output, cache = folder / "pip-tools.txt", folder / "pip-cache"
    words = ["pip-compile", "-q", "--output-file", str(output), "--extra-index-url", extra, "--rebuild", str(inputs)]
    words += ["--cache-dir", str(folder / "pip-tools-cache"), "--pip-args", "--only-binary :all:"]
    return Client(name="pip-compile", command=words, output=output, cache=cache, env=_pip_env(cache))


def _pip_env(cache: Path) -> dict[str, str]:
    return {"PIP_CACHE_DIR": str(cache), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def _pdm(folder: Path, inputs: Path, extra: str) -> Client:
    project = folder / "pdm"
    _project(project, inputs, f'[[tool.pdm.source]]\nname = "torch"\nurl = "{extra}"\nverify_ssl = false\n')
    words = ["pdm", "lock", "-q", "--project", str(project), "--platform", "linux", "--python", f"=={PYTHON}"]
    cache = folder / "pdm-cache"
    return Client(
        name="pdm lock", command=words, output=project / "pdm.lock", cache=cache, env={"PDM_CACHE_DIR": str(cache)}
    )


def _poetry(folder: Path, inputs: Path, extra: str) -> Client:
    project, cache = folder / "poetry", folder / "poetry-cache"
    _project(project, inputs, f'[[tool.poetry.source]]\nname = "torch"\nurl = "{extra}"\npriority = "supplemental"\n')
    words = ["poetry", "lock", "-q", "--directory", str(project)]
    env = {"POETRY_CACHE_DIR": str(cache)}
    return Client(name="poetry lock", command=words, output=project / "poetry.lock", cache=cache, env=env)


def _project(folder: Path, inputs: Path, more: str) -> None:
    folder.mkdir()
    dependencies = ", ".join(f'"{line}"' for line in inputs.read_text().split("\n") if line)
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "b"\nversion = "0"\n'
        f'requires-python = "=={PYTHON}"\ndependencies = [{dependencies}]\n\n{more}'
    )
