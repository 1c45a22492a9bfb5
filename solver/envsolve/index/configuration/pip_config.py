"""pip's configuration: PIP_* variables and pip.conf files, with pip's own order of precedence."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from envsolve.errors import InputError
from envsolve.index.configuration.given import Given, Layer

if TYPE_CHECKING:
    import configparser

# pip's option -> envsolve's setting; where two name the same, the later one wins.
_OPTIONS = {
    "index-url": "index",
    "pypi-url": "index",
    "extra-index-url": "extra-index",
    "find-links": "find-links",
    "no-index": "no-index",
    "cert": "cert",
    "client-cert": "client-cert",
    "proxy": "proxy",
    "trusted-host": "trusted-host",
    "default-timeout": "timeout",
    "timeout": "timeout",
    "retries": "retries",
    "keyring-provider": "keyring",
}
_FILE_NAME = "pip.ini" if sys.platform == "win32" else "pip.conf"


def from_pip(environ: Mapping[str, str]) -> Layer:
    """The settings that pip would use for `pip install`. Raises InputError for a file that pip couldn't read either."""
    found = _from_files(environ)
    for option, setting in _OPTIONS.items():
        name = f"PIP_{option.upper().replace('-', '_')}"
        if environ.get(name):
            found[setting] = Given(value=environ[name], origin=name, lenient=True)
    return found


def _from_files(environ: Mapping[str, str]) -> dict[str, Given]:
    """[install] outranks [global]; within one section the later file wins."""
    by_section: dict[str, dict[str, Given]] = {"global": {}, "install": {}}
    for path in config_files(environ):
        parser = _parse(path)
        for section, found in by_section.items():
            items = dict(parser.items(section)) if parser.has_section(section) else {}
            found.update(_settings(items, f"{path}: [{section}]"))
    return {**by_section["global"], **by_section["install"]}


def _settings(items: Mapping[str, str], where: str) -> dict[str, Given]:
    named = {key.replace("_", "-").removeprefix("--"): value for key, value in items.items()}
    return {
        setting: Given(value=named[option], origin=f"{where} {option}", lenient=True)
        for option, setting in _OPTIONS.items()
        if named.get(option)
    }


def _parse(path: Path) -> configparser.RawConfigParser:
    import configparser  # many machines have no such file

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8"), source=str(path))
    except (configparser.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {str(error).splitlines()[0]}", hint="pip config debug") from error
    except OSError:
        return configparser.RawConfigParser()
    return parser


def config_files(environ: Mapping[str, str]) -> Iterator[Path]:
    """The files that pip reads, the weakest first: global, user, site, PIP_CONFIG_FILE. os.devnull there means none."""
    own = environ.get("PIP_CONFIG_FILE")
    if own == os.devnull:
        return
    files = [folder / _FILE_NAME for folder in _global_folders()]
    if not (own and Path(own).exists()):
        files += [Path.home() / ("pip" if os.name == "nt" else ".pip") / _FILE_NAME, _user_folder() / _FILE_NAME]
    files.append(Path(sys.prefix) / _FILE_NAME)
    if own:
        files.append(Path(own))
    yield from (path for path in files if path.is_file())


def _global_folders() -> list[Path]:
    if sys.platform == "win32":
        return [Path(platformdirs.site_config_dir("pip", appauthor=False))]
    if sys.platform == "darwin":
        return [Path("/Library/Application Support/pip")]
    listed = platformdirs.site_config_dir("pip", appauthor=False, multipath=True)
    return [*map(Path, listed.split(os.pathsep)), Path("/etc")]


def _user_folder() -> Path:
    if sys.platform != "darwin":
        return Path(platformdirs.user_config_dir("pip", appauthor=False, roaming=True))
    own = Path.home() / "Library/Application Support/pip"
    return own if own.is_dir() else Path.home() / ".config/pip"
