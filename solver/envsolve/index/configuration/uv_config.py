"""uv's configuration: UV_* variables and uv.toml of the system and the user."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import platformdirs

from envsolve.index.configuration.envsolve_config import read_toml
from envsolve.index.configuration.given import Given, Layer
from envsolve.regex import regex

_VARIABLES = {
    "UV_INDEX_URL": "index",
    "UV_DEFAULT_INDEX": "index",
    "UV_EXTRA_INDEX_URL": "extra-index",
    "UV_INDEX": "extra-index",
    "UV_FIND_LINKS": "find-links",
    "UV_NO_INDEX": "no-index",
    "UV_OFFLINE": "offline",
    "UV_HTTP_TIMEOUT": "timeout",
    "UV_HTTP_RETRIES": "retries",
    "UV_INSECURE_HOST": "trusted-host",
    "UV_KEYRING_PROVIDER": "keyring",
}
_KEYS = {
    "index-url": "index",
    "extra-index-url": "extra-index",
    "find-links": "find-links",
    "no-index": "no-index",
    "offline": "offline",
    "allow-insecure-host": "trusted-host",
    "keyring-provider": "keyring",
}
_NAMED = regex(r"[\w.-]+=(?=\w+:|[./~])", re.ASCII)


def from_uv(environ: Mapping[str, str]) -> Layer:
    """The settings that `uv pip install` would use. Raises InputError for a uv.toml that can't be read."""
    found: dict[str, Given] = {}
    for path in config_files(environ):
        found.update(_from_file(path))
    for name, setting in _VARIABLES.items():
        if environ.get(name):
            found[setting] = Given(value=_variable_value(name, environ[name]), origin=name, lenient=True)
    return found


def _variable_value(name: str, text: str) -> object:
    """`name=` before an index is dropped; lists are split as uv splits them."""
    if name == "UV_FIND_LINKS":
        return [item.strip() for item in text.split(",") if item.strip()]
    if name == "UV_INDEX":
        return [_NAMED.sub("", item, count=1) for item in text.split()]
    return _NAMED.sub("", text.strip(), count=1) if name == "UV_DEFAULT_INDEX" else text


def _from_file(path: Path) -> Layer:
    table = read_toml(path)
    pip_table = table.get("pip")
    found: dict[str, Given] = {}
    for part in (table, pip_table if isinstance(pip_table, dict) else {}):
        for key, setting in _KEYS.items():
            if key in part:
                found[setting] = Given(value=part[key], origin=f"{path}: {key}", base=path.parent, lenient=True)
        found.update(_indexes(part.get("index"), path))
    return found


def _indexes(tables: object, path: Path) -> dict[str, Given]:
    """[[index]]: the default one and the others; an explicit one serves only packages that name it."""
    rows = [row for row in tables if isinstance(row, dict) and row.get("url")] if isinstance(tables, list) else []
    rows = [row for row in rows if not row.get("explicit")]
    origin = f"{path}: [[index]]"
    default = [row["url"] for row in rows if row.get("default")]
    extra = [row["url"] for row in rows if not row.get("default")]
    found = {"index": Given(value=default[0], origin=origin, base=path.parent, lenient=True)} if default else {}
    if extra:
        found["extra-index"] = Given(value=extra, origin=origin, base=path.parent, lenient=True)
    return found


def config_files(environ: Mapping[str, str]) -> Iterator[Path]:
    """The files that uv reads outside a project, the weakest first."""
    if environ.get("UV_NO_CONFIG"):
        return
    if environ.get("UV_CONFIG_FILE"):
        yield Path(environ["UV_CONFIG_FILE"])
        return
    yield from (path for path in [_system_file(), _user_file()] if path.is_file())


def _system_file() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("PROGRAMDATA", "C:/ProgramData")) / "uv/uv.toml"
    folders = os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(os.pathsep)
    listed = [Path(folder) / "uv/uv.toml" for folder in folders if folder]
    return next((path for path in listed if path.is_file()), Path("/etc/uv/uv.toml"))


def _user_file() -> Path:
    if sys.platform == "win32":
        return Path(platformdirs.user_config_dir("uv", appauthor=False, roaming=True)) / "uv.toml"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "uv/uv.toml"
