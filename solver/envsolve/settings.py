"""Settings: where packages come from and how they are fetched, each value with its origin."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from envsolve.addresses import PYTORCH_HOSTS, PYTORCH_INDEX
from envsolve.errors import InputError, OutsideError
from envsolve.index.configuration.envsolve_config import config_file, from_file, from_variables
from envsolve.index.configuration.fields import LISTS, READERS
from envsolve.index.configuration.given import Given, Layer
from envsolve.index.configuration.pip_config import from_pip
from envsolve.index.configuration.uv_config import from_uv
from envsolve.record import field, record
from envsolve.redact import credentials, origin, redact
from envsolve.regex import regex

__all__ = ["PYTORCH_HOSTS", "PYTORCH_INDEX", "Settings", "load_settings", "redact"]


@record
class Settings:
    """Addresses keep their credentials here: show them with `redact` only, or ask for `shown`.

    `mirror` is "" where none is set, `index` "" for the default Python index. `index_strategy`: "merge" looks at the
    default index and every extra one, as pip does; "first" lets the first that has the name answer alone, extra ones
    before the default, as uv does. `timeout` is in seconds.
    """

    source: Literal["pytorch", "pypi"] = "pytorch"
    pytorch_index: str = PYTORCH_INDEX
    mirror: str = ""
    index: str = ""
    extra_indexes: tuple[str, ...] = ()
    index_strategy: Literal["merge", "first"] = "merge"
    find_links: tuple[str, ...] = ()
    no_index: bool = False
    offline: bool = False
    refresh: bool = False
    cache_dir: Path
    timeout: float = 15.0
    retries: int = 3
    cert: str = ""
    client_cert: str = ""
    proxy: str = ""
    trusted_hosts: tuple[str, ...] = ()
    keyring: Literal["disabled", "subprocess"] = "disabled"
    origins: Mapping[str, str] = field(default_factory=dict)

    @property
    def default_index(self) -> str:
        """The address of the default Python index, with a package's name to be added after a slash."""
        return self.index or default_index_address()

    @property
    def torch_bases(self) -> tuple[str, ...]:
        """The bases of the PyTorch index to ask, in order: <base>/<variant>/<package>/."""
        bases = (self.mirror,) if self.mirror else ()
        return bases if self.no_index else (*bases, self.pytorch_index)

    def credentials(self) -> dict[str, tuple[str, str]]:
        """User name and password by scheme, host and port ("https://host:8443"), for requests and installers."""
        addresses = (self.mirror, self.index, *self.extra_indexes, *self.find_links)
        found = [(origin(address), credentials(address)) for address in addresses if address]
        return {host: login for host, login in found if login is not None}

    def described(self) -> list[str]:
        """One line for each value that is not the default, with its origin and without credentials."""
        return [f"{name} = {self._shown(name)} ({where})" for name, where in sorted(self.origins.items())]

    def _shown(self, name: str) -> str:
        value = getattr(self, _FIELDS.get(name, name.replace("-", "_")))
        return redact(" ".join(value) if isinstance(value, tuple) else str(value))


# Settings are named in the singular where people write them.
_FIELDS = {"extra-index": "extra_indexes", "trusted-host": "trusted_hosts"}


def load_settings(options: Mapping[str, object] | None = None, *, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings in force. `options` holds what the command line says, by the name of the setting ("extra-index");
    None, False and empty lists there mean "not said".

    Each value comes from the strongest that has it: option, ENVSOLVE_* variable, config.toml, pip, uv. Lists
    (extra-index, find-links, trusted-host) hold those of all, the strongest first. Raises InputError, which names the
    origin of a bad value.
    """
    variables = os.environ if environ is None else environ
    layers = [
        _from_options(options or {}),
        from_variables(variables),
        from_file(config_file()),
        from_pip(variables),
        from_uv(variables),
    ]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, read in READERS.items():
        given = next((layer[name] for layer in layers if name in layer), None)
        if given is not None:
            values[_FIELDS.get(name, name.replace("-", "_"))] = read(given)
            origins[name] = given.origin
    for name in LISTS:
        items, where = _gathered(name, layers)
        if items:
            values[_FIELDS.get(name, name.replace("-", "_"))] = items
            origins[name] = where
    values.setdefault("cache_dir", _cache_dir())
    return Settings(**values, index_strategy=_strategy(layers), origins=origins)


def _from_options(options: Mapping[str, object]) -> Layer:
    unknown = set(options) - set(READERS) - set(LISTS)
    if unknown:
        raise InputError(f"there is no setting {sorted(unknown)[0]!r}")
    said = {name: value for name, value in options.items() if value not in (None, False, (), [], "")}
    return {name: Given(value=value, origin=f"--{name}") for name, value in said.items()}


def _gathered(name: str, layers: Iterable[Layer]) -> tuple[tuple[str, ...], str]:
    givens = [layer[name] for layer in layers if name in layer]
    items = dict.fromkeys(item for given in givens for item in LISTS[name](given))
    return tuple(items), ", ".join(given.origin for given in givens)


def _strategy(layers: list[Layer]) -> Literal["merge", "first"]:
    """Extra indexes answer as the tool does whose configuration names the first of them; envsolve's own are safe."""
    strongest = next((n for n, layer in enumerate(layers) if "extra-index" in layer), None)
    pip = 3
    return "merge" if strongest in (None, pip) else "first"


def _cache_dir() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("envsolve", appauthor=False)


_ENDPOINT = regex(r"""^PYPI_SIMPLE_ENDPOINT\b[^=\n]*=\s*["']([^"'\n]+)["']""", re.MULTILINE)


@cache
def default_index_address() -> str:
    """pypi-simple's public constant. It is read from the source: importing the package costs a quarter of a second."""
    spec = importlib.util.find_spec("pypi_simple")
    if spec is None or spec.origin is None:
        raise OutsideError("pypi-simple is not installed", hint="--index URL names a Python index")
    found = _ENDPOINT.search(Path(spec.origin).read_text(encoding="utf-8"))
    if found:
        return found[1].rstrip("/")
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    return PYPI_SIMPLE_ENDPOINT.rstrip("/")
