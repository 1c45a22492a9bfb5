"""Http: requests with time limits, retries, certificates, proxies and log-ins, as pip has them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from envsolve.errors import OutsideError
from envsolve.index.limits import BACKOFF_SECONDS, CONNECT_SECONDS, MAX_CONNECTIONS
from envsolve.index.login import Logins
from envsolve.index.pace import Pace
from envsolve.record import record
from envsolve.redact import origin, redact
from envsolve.settings import Settings

if TYPE_CHECKING:
    from requests import Response

    from envsolve.index.session import QuickSession

ELSEWHERE = "--mirror, --index or --find-links name another place; --offline uses what is cached"


@record
class Reply:
    """An answer in memory: `url` is where redirects led to, header names are lower case."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "")


class RangesIgnored(Exception):
    """A server sent a whole file where a range was asked for."""


class Unreachable(OutsideError):
    """No answer from an address: another one may have the file."""


class Http:
    """One session for a run; `requests` is imported with the first request. Safe to use from several threads."""

    def __init__(self, settings: Settings) -> None:
        self.count = 0
        self.pace = Pace()
        self._settings = settings
        self._logins = Logins(settings)
        self._session: QuickSession | None = None
        self._lock = threading.Lock()
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._dead: dict[str, Unreachable] = {}
        self._without_ranges: set[str] = set()
        self._with_ranges: set[str] = set()

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def gives_ranges(self, url: str) -> bool:
        """Whether the host of an address was seen to give ranges of files."""
        return origin(url) in self._with_ranges

    def get_range(self, url: str, span: str, *, passes: tuple[int, ...] = ()) -> Reply:
        """A range of a file: "0-99", or "-100" for its end. Raises RangesIgnored, Unreachable or OutsideError."""
        host = origin(url)
        if host in self._without_ranges:
            raise RangesIgnored
        try:
            reply = self.get(url, {"Range": f"bytes={span}"}, passes=passes)
            if reply.status == 206:
                self._with_ranges.add(host)
            return reply
        except RangesIgnored:
            self._without_ranges.add(host)
            raise

    def get(
        self, url: str, headers: Mapping[str, str] | None = None, *, method: str = "GET", passes: tuple[int, ...] = ()
    ) -> Reply:
        """The answer of an address; a body that breaks off is asked for again.

        Statuses below 300, 304, 404 and those in `passes` are given back. Raises Unreachable or OutsideError.
        """
        for attempt in range(self._settings.retries + 1):
            try:
                with self.open(url, headers, method=method, passes=passes) as answer:
                    if headers and "Range" in headers and answer.status_code == 200:
                        raise RangesIgnored
                    return _reply(answer)
            except _BrokenOff as error:
                if attempt == self._settings.retries:
                    raise OutsideError(f"{redact(url)} broke off in the middle of an answer", hint=ELSEWHERE) from error
                time.sleep(BACKOFF_SECONDS * 2**attempt)
        raise AssertionError("a loop of at least one attempt")

    @contextlib.contextmanager
    def open(
        self, url: str, headers: Mapping[str, str] | None = None, *, method: str = "GET", passes: tuple[int, ...] = ()
    ) -> Iterator[Response]:
        """An answer whose body is still to be read, in pieces (see `pieces`)."""
        host = origin(url)
        if host in self._dead:
            raise self._dead[host]
        with self._slots:
            answer = self._send(method, url, headers or {})
            with contextlib.closing(answer):
                _check_status(answer, url, passes)
                yield answer

    def _send(self, method: str, url: str, headers: Mapping[str, str]) -> Response:
        """One request, and once more with a log-in from keyring where the first one was refused."""
        answer = self._once(method, url, headers, self._logins.known(url))
        if answer.status_code == 401:
            login = self._logins.asked(url)
            if login is not None:
                answer.close()
                answer = self._once(method, url, headers, login)
        return answer

    def _once(self, method: str, url: str, headers: Mapping[str, str], login: tuple[str, str] | None) -> Response:
        import requests

        settings, parts = self._settings, urlsplit(url)
        trusted = bool({parts.netloc, parts.hostname} & set(settings.trusted_hosts))
        with self._lock:
            self.count += 1
        began = time.monotonic()
        try:
            answer = self._open_session().fetch(
                method,
                url,
                headers={"Accept-Encoding": "identity" if "Range" in headers else "gzip, deflate", **headers},
                login=login,
                timeout=(min(CONNECT_SECONDS, settings.timeout), settings.timeout),
                verify=False if trusted else settings.cert or True,
                cert=settings.client_cert or None,
                proxies={"http": settings.proxy, "https": settings.proxy} if settings.proxy else None,
            )
            self.pace.note(time.monotonic() - began)
            return answer
        except requests.exceptions.RequestException as error:
            failure = _unreachable(error, url, settings)
            if isinstance(error, requests.exceptions.ConnectionError):
                self._dead[origin(url)] = failure
            raise failure from None
        except OSError as error:  # what REQUESTS_CA_BUNDLE or netrc names is looked at by requests itself
            raise OutsideError(f"{redact(url)} can't be asked: {error}", hint="look at REQUESTS_CA_BUNDLE") from error

    def _open_session(self) -> QuickSession:
        with self._lock:
            if self._session is None:
                from envsolve.index.session import new_session

                self._session = new_session(self._settings)
            return self._session


class _BrokenOff(Exception):
    """A body ended before its announced length."""


def pieces(answer: Response, url: str, size: int = 1 << 20) -> Iterator[bytes]:
    """The body in pieces. Raises OutsideError if it breaks off."""
    try:
        yield from _pieces(answer, size)
    except _BrokenOff as error:
        raise OutsideError(f"{redact(url)} broke off in the middle of a file", hint=ELSEWHERE) from error


def _pieces(answer: Response, size: int) -> Iterator[bytes]:
    import requests

    try:
        yield from answer.iter_content(size)
    except requests.exceptions.RequestException as error:
        raise _BrokenOff from error


def _reply(answer: Response) -> Reply:
    body = b"".join(_pieces(answer, 1 << 16))
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return Reply(url=answer.url, status=answer.status_code, headers=headers, body=body)


def _check_status(answer: Response, url: str, passes: tuple[int, ...]) -> None:
    status = answer.status_code
    if status < 300 or status in (304, 404, *passes):
        return
    if status in (401, 403, 407):
        raise OutsideError(
            f"{redact(url)} wants a log-in ({status})",
            hint="put user and password into the address (https://user:password@host/…) or into your netrc file",
        )
    raise Unreachable(f"{redact(url)} answered {status} {answer.reason}", hint=ELSEWHERE)


def _unreachable(error: Exception, url: str, settings: Settings) -> Unreachable:
    import requests

    shown = redact(url)
    if isinstance(error, requests.exceptions.SSLError):
        return Unreachable(
            f"the certificate of {shown} can't be verified",
            hint="name your company's certificates: cert in config.toml, ENVSOLVE_CERT or PIP_CERT",
        )
    if isinstance(error, requests.exceptions.ProxyError):
        return Unreachable(
            f"{shown} can't be reached through the proxy {redact(settings.proxy)}".rstrip(),
            hint="check proxy in config.toml, PIP_PROXY or HTTPS_PROXY",
        )
    return Unreachable(f"{shown} can't be reached: {_why(error)}", hint=ELSEWHERE)


def _why(error: BaseException) -> str:
    """The reason at the bottom of requests' and urllib3's wrappings, in a few words."""
    text = f"{type(error).__name__} {error}"
    words = {
        "NameResolution": "its name is not known",
        "ConnectTimeout": "no answer in time",
        "ReadTimeout": "no answer in time",
        "Connection refused": "connection refused",
        "actively refused": "connection refused",
        "Network is unreachable": "no network",
        "TooManyRedirects": "it redirects in a circle",
        "too many": "it fails again and again",
    }
    return next((said for sign, said in words.items() if sign in text), type(error).__name__)
