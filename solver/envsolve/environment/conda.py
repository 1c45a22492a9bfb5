"""Conda: an environment whose Python comes from a conda channel; everything else comes from the lock, by its hashes."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from envsolve.environment.child import Ended, plain_environment, run_child
from envsolve.errors import InputError, OutsideError
from envsolve.lock.conda import SUBDIRS, Virtual, python_specs
from envsolve.record import field, record, replace
from envsolve.redact import strip_credentials
from envsolve.regex import regex
from envsolve.settings import Settings, redact

_TOKEN = regex(r"/t/[^/]+/")
_TOOLS = ("micromamba", "mamba", "conda")
# conda's own override of what it finds on the machine, by virtual package
_OVERRIDES = {"__cuda": "CONDA_OVERRIDE_CUDA", "__glibc": "CONDA_OVERRIDE_GLIBC", "__osx": "CONDA_OVERRIDE_OSX"}


@record
class Conda:
    """What makes the Python: the tool (None: py-rattler, in a child process), channels, what the machine has."""

    tool: Path | None
    channels: tuple[str, ...]
    python: str
    platform: str
    virtual: tuple[Virtual, ...] = field(default_factory=tuple)

    @property
    def shown(self) -> str:
        return f"{self.tool.stem} ({self.tool})" if self.tool else "py-rattler"

    @property
    def public_channels(self) -> tuple[str, ...]:
        """The channels without credentials (a user and password, or conda's /t/TOKEN/), which may be kept."""
        return tuple(_TOKEN.sub("/", strip_credentials(channel)) for channel in self.channels)


def find_conda() -> Path | None:
    """micromamba, mamba or conda on PATH. Raises InputError when there is neither one of them nor py-rattler."""
    found = _on_path()
    if found is None and not _found_rattler():
        raise InputError(
            "--manager conda needs conda, mamba or micromamba on PATH, or py-rattler",
            hint="pip install 'envsolve[conda]'",
        )
    return found


def _on_path() -> Path | None:
    return next((Path(path) for name in _TOOLS if (path := shutil.which(name))), None)


def _found_rattler() -> bool:
    from importlib.util import find_spec

    return find_spec("rattler") is not None


def environment_yml(conda: Conda) -> str:
    """The part of an environment.yml that conda is asked for."""
    import yaml

    document = {
        "channels": [*conda.channels, "nodefaults"],
        "dependencies": [spec.replace(" ", "=").removesuffix(".*") for spec in python_specs(conda.python)],
    }
    return yaml.safe_dump(document, sort_keys=False)


def create_with_conda(
    conda: Conda, path: Path, settings: Settings, *, on_line: Callable[[str], None], keep_open: tuple[int, ...] = ()
) -> None:
    """Make the environment at `path`, with Python and pip of the channels. Raises OutsideError."""
    path.mkdir(parents=True)
    written = path / "conda-environment.yml"
    written.write_text(environment_yml(conda), encoding="utf-8")
    command, more = _with_tool(conda, path, written, settings) if conda.tool else _with_rattler(conda, path, settings)
    env = {**plain_environment(), **more}
    try:
        ended = run_child(command, env=env, on_line=lambda line: on_line(redact(line)), keep_open=keep_open)
    except OSError as error:
        raise OutsideError(f"could not start {command[0]}: {error.strerror}") from error
    if ended.code != 0:
        raise _failed(conda, ended)
    written.write_text(environment_yml(replace(conda, channels=conda.public_channels)), encoding="utf-8")


def _with_tool(conda: Conda, path: Path, written: Path, settings: Settings) -> tuple[list[str], dict[str, str]]:
    tool = conda.tool
    assert tool is not None
    # conda proper knows environment files in its `env` command only, and refuses a folder that is there unless forced
    verb = ["create"] if tool.stem == "micromamba" else ["env", "update"]
    command = [str(tool), *verb, "--prefix", str(path), "--file", str(written)]
    if tool.stem == "micromamba":
        command += ["--yes", "--no-rc"]
    else:
        (path / "conda-meta").mkdir()
        (path / "conda-meta" / "history").touch()  # what makes a folder an environment
    overrides = {_OVERRIDES[v.name]: v.version for v in conda.virtual if v.name in _OVERRIDES}
    return command, {**overrides, **({"CONDA_OFFLINE": "true"} if settings.offline else {})}


def _with_rattler(conda: Conda, path: Path, settings: Settings) -> tuple[list[str], dict[str, str]]:
    asked: Mapping[str, object] = {
        "channels": conda.channels,
        "specs": python_specs(conda.python),
        "subdir": SUBDIRS[conda.platform],
        "virtual": [(v.name, v.version, v.build) for v in conda.virtual],
        "prefix": str(path),
        "cache_dir": str(settings.cache_dir / "conda"),
        "offline": settings.offline,
    }
    return [sys.executable, "-m", "envsolve.environment.conda_child", json.dumps(asked)], {}


def _failed(conda: Conda, ended: Ended) -> OutsideError:
    said = [line for line in ended.last_lines if line.strip()]
    last = redact(" ".join("; ".join(said[-3:]).split()))
    where = ", ".join(map(redact, conda.channels))
    how = f"signal {-ended.code}" if ended.code < 0 else last
    return OutsideError(
        f"{conda.shown} can't make a Python {conda.python} from {where}: {how}",
        hint="--conda-channel names another channel; without --manager conda a Python of this machine is used",
    )
