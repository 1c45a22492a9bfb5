"""new_session: requests with retries, a bounded pool and the trust that the operating system has."""

from __future__ import annotations

import ssl
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from envsolve import __version__
from envsolve.index.limits import BACKOFF_SECONDS, MAX_CONNECTIONS
from envsolve.settings import Settings

# Another place may have the file: a host that doesn't answer is not waited for as long as one that does.
_CONNECT_RETRIES = 2
_RETRIED = (408, 429, 500, 502, 503, 504, 520, 522, 524)


class SystemTrustAdapter(HTTPAdapter):
    """Trusts the certificates of the operating system, as pip does, beside those that requests brings along."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs, ssl_context=ssl.create_default_context())

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        return super().proxy_manager_for(*args, **kwargs, ssl_context=ssl.create_default_context())


def new_session(settings: Settings) -> requests.Session:
    """A session for many threads; time limits, certificates and log-ins go with each request."""
    session = requests.Session()
    session.headers["User-Agent"] = f"envsolve/{__version__}"
    session.mount("http://", _adapter(HTTPAdapter, settings))
    session.mount("https://", _adapter(SystemTrustAdapter, settings))
    for host in settings.trusted_hosts:
        session.mount(f"https://{host}", _adapter(HTTPAdapter, settings))
    return session


def _adapter(kind: type[HTTPAdapter], settings: Settings) -> HTTPAdapter:
    retry = Retry(
        total=settings.retries,
        connect=min(_CONNECT_RETRIES, settings.retries),
        backoff_factor=BACKOFF_SECONDS,
        status_forcelist=_RETRIED,
        raise_on_status=False,
        respect_retry_after_header=False,
    )
    return kind(max_retries=retry, pool_connections=MAX_CONNECTIONS, pool_maxsize=MAX_CONNECTIONS, pool_block=True)
