"""new_session: requests with retries, a bounded pool and the trust that the operating system has."""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Mapping
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from requests.utils import DEFAULT_CA_BUNDLE_PATH, requote_uri
from urllib3.util import Retry

from envsolve import __version__
from envsolve.index.limits import BACKOFF_SECONDS, MAX_CONNECTIONS
from envsolve.redact import origin
from envsolve.settings import Settings

# Another place may have the file: a host that doesn't answer is not waited for as long as one that does.
_CONNECT_RETRIES = 2
_RETRIED = (408, 429, 500, 502, 503, 504, 520, 522, 524)


class SystemTrustAdapter(HTTPAdapter):
    """Trusts the certificates of the operating system, as pip does, beside those of a file (default: requests' own).

    They are read once: urllib3 would read the file again for each connection, which takes 30 ms of a processor.
    """

    def __init__(self, certificates: str, **rest: Any) -> None:
        self._certificates = certificates
        self._context = _trusting(certificates)
        super().__init__(**rest)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs, ssl_context=self._context)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        return super().proxy_manager_for(*args, **kwargs, ssl_context=self._context)

    def cert_verify(self, conn: Any, url: str, verify: Any, cert: Any) -> None:
        super().cert_verify(conn, url, verify, cert)  # type: ignore[no-untyped-call]  # OSError: there is no such file
        if self._certificates in (conn.ca_certs, conn.ca_cert_dir):
            conn.ca_certs = conn.ca_cert_dir = None


def _trusting(certificates: str) -> ssl.SSLContext:
    context = ssl.create_default_context()
    own = ssl.get_default_verify_paths().cafile
    if own and os.path.realpath(own) == os.path.realpath(certificates):
        return context  # read just now, which takes 20 ms
    folder = os.path.isdir(certificates)  # noqa: PTH112
    with contextlib.suppress(OSError):
        context.load_verify_locations(None if folder else certificates, certificates if folder else None)
    return context


class QuickSession(requests.Session):
    """Works out once for each host what requests works out for each request: proxies, certificates, netrc, headers.

    That takes half of the processor time of a small request, and a lock makes hundreds.
    """

    def __init__(self) -> None:
        super().__init__()
        self._settled: dict[str, dict[str, Any]] = {}
        self._heads: dict[str, CaseInsensitiveDict[str]] = {}

    def fetch(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        login: tuple[str, str] | None,
        timeout: tuple[float, float],
        **trust: Any,
    ) -> requests.Response:
        """The answer of an address, body unread; `trust` is proxies, verify and cert as `request` takes them.

        Raises what `request` raises.
        """
        key = f"{method} {origin(url)} {login}"
        if key not in self._heads:
            made = self.prepare_request(requests.Request(method, url, auth=login))
            self._heads[key] = CaseInsensitiveDict(made.headers)
        if url.isascii():
            request = _prepared(method, url, {**self._heads[key], **headers})
            settled = self.merge_environment_settings(url, trust["proxies"], True, trust["verify"], trust["cert"])
            answer = self.get_adapter(url).send(request, timeout=timeout, **settled)
            if not answer.is_redirect:
                return answer
            answer.close()  # requests knows which headers may go along to another host
        return self.request(method, url, headers=headers, auth=login, timeout=timeout, stream=True, **trust)

    def merge_environment_settings(
        self, url: str | bytes | None, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        host = f"{origin(str(url))} {proxies} {verify} {cert}"
        if host not in self._settled:
            found = super().merge_environment_settings(url, proxies or {}, stream, verify, cert)
            self._settled[host] = dict(found)
        return {**self._settled[host], "stream": stream}


def _prepared(method: str, url: str, headers: Mapping[str, str]) -> requests.PreparedRequest:
    request = requests.PreparedRequest()
    request.method, request.url, request.headers = method, requote_uri(url), CaseInsensitiveDict(headers)
    return request


def new_session(settings: Settings) -> QuickSession:
    """A session for many threads; time limits, certificates and log-ins go with each request."""
    session = QuickSession()
    session.headers["User-Agent"] = f"envsolve/{__version__}"
    limits = _limits(settings)
    session.mount("http://", HTTPAdapter(**limits))
    session.mount("https://", SystemTrustAdapter(settings.cert or DEFAULT_CA_BUNDLE_PATH, **limits))
    for host in settings.trusted_hosts:
        session.mount(f"https://{host}", HTTPAdapter(**limits))
    return session


def _limits(settings: Settings) -> dict[str, Any]:
    retry = Retry(
        total=settings.retries,
        connect=min(_CONNECT_RETRIES, settings.retries),
        backoff_factor=BACKOFF_SECONDS,
        status_forcelist=_RETRIED,
        raise_on_status=False,
        respect_retry_after_header=False,
    )
    pool = {"pool_connections": MAX_CONNECTIONS, "pool_maxsize": MAX_CONNECTIONS, "pool_block": True}
    return {"max_retries": retry, **pool}
