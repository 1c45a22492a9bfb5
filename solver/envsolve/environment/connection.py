"""Connection: an installer's environment, so that the user's settings decide how files come, never which."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from envsolve.environment.child import plain_environment
from envsolve.settings import Settings

# How uv and pip work, not what they install: these of the user's variables are passed on.
_UV_KEPT = (
    "UV_CACHE_DIR",
    "UV_LINK_MODE",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "UV_HTTP_RETRIES",
    "UV_CONCURRENT_DOWNLOADS",
    "UV_CONCURRENT_INSTALLS",
)
_PIP_KEPT = ("PIP_CACHE_DIR",)
# Installers give up sooner than a slow mirror needs for the first bytes of 3 GB.
_LEAST_SECONDS = 60


def pip_environment(settings: Settings) -> dict[str, str]:
    """The environment for pip: its configuration files and variables are left out, the settings put in."""
    return _joined(
        _PIP_KEPT,
        {
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PIP_INDEX_URL": settings.index,
            "PIP_EXTRA_INDEX_URL": " ".join(settings.extra_indexes),
            "PIP_FIND_LINKS": " ".join(_addresses(settings.find_links)),
            "PIP_CERT": settings.cert,
            "PIP_CLIENT_CERT": settings.client_cert,
            "PIP_PROXY": settings.proxy,
            "PIP_TRUSTED_HOST": " ".join(settings.trusted_hosts),
            "PIP_KEYRING_PROVIDER": "subprocess" if settings.keyring == "subprocess" else "",
            "PIP_TIMEOUT": _seconds(settings),
            "PIP_RETRIES": str(settings.retries),
        },
    )


def uv_environments(settings: Settings) -> tuple[dict[str, str], ...]:
    """The environments for uv, one for each order of the indexes that is worth a try.

    uv takes a file from the first index that names it, even if its bytes are others than the lock's and a later index
    has the right ones. So the order in which locks are made comes first, and the other one second.
    """
    extra = settings.extra_indexes
    if not extra:
        return (_uv_environment(settings, ()),)
    default_first, default_last = (settings.default_index, *extra), extra
    orders = (default_last, default_first) if settings.index_strategy == "first" else (default_first, default_last)
    return tuple(_uv_environment(settings, order) for order in orders)


def _uv_environment(settings: Settings, before_default: tuple[str, ...]) -> dict[str, str]:
    """Its configuration files and variables are left out, the settings put in."""
    return _joined(
        _UV_KEPT,
        {
            "UV_NO_CONFIG": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_DEFAULT_INDEX": settings.index,
            "UV_INDEX": " ".join(before_default),
            # every file is pinned by its hash: whichever index has it may serve it
            "UV_INDEX_STRATEGY": "unsafe-best-match",
            "UV_FIND_LINKS": ",".join(_addresses(settings.find_links)),
            "SSL_CERT_FILE": settings.cert,
            "SSL_CLIENT_CERT": settings.client_cert,
            "ALL_PROXY": settings.proxy,
            "UV_INSECURE_HOST": " ".join(settings.trusted_hosts),
            "UV_KEYRING_PROVIDER": "subprocess" if settings.keyring == "subprocess" else "",
            "UV_HTTP_TIMEOUT": _seconds(settings),
        },
    )


def options(settings: Settings, tool: str) -> list[str]:
    """What an installer takes on its command line only. Nothing here may carry credentials: others can see it."""
    without_index = settings.no_index or (settings.offline and tool != "uv")  # pip has no other way to be offline
    found = ["--no-index"] if without_index else []
    if settings.offline and tool == "uv":
        found.append("--offline")
    elif settings.refresh and tool == "uv":
        found.append("--refresh")
    for folder in _folders(settings.find_links):  # a variable would be split at blanks
        found += ["--find-links", str(folder)]
    return found


def _folders(find_links: Iterable[str]) -> list[Path]:
    local = [link for link in find_links if not _is_remote(link)]
    return [Path(unquote(urlsplit(link).path)) if link.startswith("file:") else Path(link) for link in local]


def _addresses(find_links: Iterable[str]) -> list[str]:
    return [link for link in find_links if _is_remote(link)]


def _is_remote(link: str) -> bool:
    return urlsplit(link).scheme in ("http", "https")


def _joined(kept: tuple[str, ...], values: dict[str, str]) -> dict[str, str]:
    kept_values = {name: os.environ[name] for name in kept if os.environ.get(name)}
    return {**plain_environment(), **kept_values, **{name: value for name, value in values.items() if value}}


def _seconds(settings: Settings) -> str:
    return str(max(_LEAST_SECONDS, round(settings.timeout)))
