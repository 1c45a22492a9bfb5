"""envsolve's own configuration: ENVSOLVE_* variables and config.toml in the user's configuration folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_config_path

from envsolve.errors import InputError, OutsideError
from envsolve.index.configuration.fields import LISTS, READERS
from envsolve.index.configuration.given import Given, Layer

NAMES = (*READERS, *LISTS)


def variable(name: str) -> str:
    """The environment variable of a setting: "extra-index" -> ENVSOLVE_EXTRA_INDEX."""
    return f"ENVSOLVE_{name.upper().replace('-', '_')}"


def from_variables(environ: Mapping[str, str]) -> Layer:
    """The settings in ENVSOLVE_* variables; an empty variable is as good as none."""
    return {
        name: Given(value=environ[variable(name)], origin=variable(name))
        for name in NAMES
        if environ.get(variable(name))
    }


def config_file() -> Path:
    """Where envsolve looks for its configuration."""
    return user_config_path("envsolve", appauthor=False) / "config.toml"


def from_file(path: Path) -> Layer:
    """The settings in a config.toml; none if it isn't there. Raises InputError for what it can't read."""
    table = read_toml(path)
    unknown = [key for key in table if key not in NAMES]
    if unknown:
        from difflib import get_close_matches

        near = get_close_matches(unknown[0], NAMES, n=1)
        raise InputError(
            f"{path}: there is no setting {unknown[0]!r}", hint=f"did you mean {near[0]!r}?" if near else ""
        )
    return {key: Given(value=value, origin=f"{path}: {key}", base=path.parent) for key, value in table.items()}


def read_toml(path: Path) -> dict[str, object]:
    """A TOML file, or an empty table if it isn't there."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise OutsideError(f"{path} can't be read: {error.strerror}") from error
    import tomllib  # many machines have no such file

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from error
