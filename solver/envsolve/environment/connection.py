"""Connection: how an installer reaches the files, apart from what it may install."""

from __future__ import annotations

import os
from dataclasses import dataclass

from envsolve.environment.child import plain_environment

# How uv works, not what it installs: these of the user's variables are passed on.
_UV_KEPT = (
    "UV_CACHE_DIR",
    "UV_LINK_MODE",
    "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS",
    "UV_KEYRING_PROVIDER",
    "UV_HTTP_TIMEOUT",
    "UV_HTTP_RETRIES",
    "UV_INSECURE_HOST",
    "UV_CONCURRENT_DOWNLOADS",
    "UV_CONCURRENT_INSTALLS",
)
_PIP_KEPT = ("PIP_CACHE_DIR", "PIP_KEYRING_PROVIDER", "PIP_RETRIES")


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """Where files come from, and the way there. Addresses may carry credentials, so it is never shown or kept.

    Any index may serve a package here: the lock pins every file by its hash.
    """

    index_url: str = ""  # "" = the installer's own default
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    cert: str = ""
    client_cert: str = ""
    proxy: str = ""
    trusted_hosts: tuple[str, ...] = ()
    timeout_s: float | None = None
    offline: bool = False


def pip_environment(connection: Connection) -> dict[str, str]:
    """The environment for pip: none of the user's configuration but the connection."""
    values = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_INDEX_URL": connection.index_url,
        "PIP_EXTRA_INDEX_URL": " ".join(connection.extra_index_urls),
        "PIP_FIND_LINKS": " ".join(connection.find_links),
        "PIP_CERT": connection.cert,
        "PIP_CLIENT_CERT": connection.client_cert,
        "PIP_PROXY": connection.proxy,
        "PIP_TRUSTED_HOST": " ".join(connection.trusted_hosts),
        "PIP_TIMEOUT": _seconds(connection.timeout_s),
        # pip has no offline mode: without an index it takes find-links, file addresses and its cache
        "PIP_NO_INDEX": "1" if connection.offline else "",
    }
    return _joined(values, _PIP_KEPT)


def uv_environment(connection: Connection) -> dict[str, str]:
    """The environment for uv: none of the user's configuration but the connection."""
    values = {
        "UV_NO_CONFIG": "1",
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_DEFAULT_INDEX": connection.index_url,
        "UV_INDEX": " ".join(connection.extra_index_urls),
        # every file is pinned by its hash, so the first index that has it is as good as another
        "UV_INDEX_STRATEGY": "unsafe-best-match" if connection.extra_index_urls else "",
        "UV_FIND_LINKS": ",".join(connection.find_links),
        "SSL_CERT_FILE": connection.cert,
        "SSL_CLIENT_CERT": connection.client_cert,
        "ALL_PROXY": connection.proxy,
        "UV_INSECURE_HOST": " ".join(connection.trusted_hosts),
        "UV_HTTP_TIMEOUT": _seconds(connection.timeout_s),
        "UV_OFFLINE": "1" if connection.offline else "",
    }
    return _joined(values, _UV_KEPT)


def _joined(values: dict[str, str], kept: tuple[str, ...]) -> dict[str, str]:
    kept_values = {name: os.environ[name] for name in kept if os.environ.get(name)}
    return {**plain_environment(), **kept_values, **{name: value for name, value in values.items() if value}}


def _seconds(timeout_s: float | None) -> str:
    return "" if timeout_s is None else str(max(1, round(timeout_s)))
