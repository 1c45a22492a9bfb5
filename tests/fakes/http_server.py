"""A threaded HTTP server on 127.0.0.1 with Range requests, ETags, logins and faults; it counts what it is asked."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import unquote


@dataclass(kw_only=True)
class Fault:
    """What goes wrong for paths that match; `times` counts down (None = always)."""

    pattern: str
    html: bool = False  # an HTML error page with status 200
    truncated: bool = False  # half of the body, then the connection is closed
    wrong: bool = False  # other bytes of the same length
    status: int = 0
    slow: float = 0.0  # seconds before the answer
    redirect: str = ""
    times: int | None = None


@dataclass(frozen=True, kw_only=True)
class Seen:
    """One request, as it was answered."""

    method: str
    path: str
    status: int
    headers: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A body with its type and headers, before ranges and faults."""

    body: bytes
    type: str = "application/octet-stream"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class FakeHttp:
    """Serves what `answer` says until the `with` block ends; everything may be changed while it runs."""

    def __init__(self) -> None:
        self.ranges = True
        self.etags = True
        self.requests: list[Seen] = []
        self._faults: list[Fault] = []
        self._logins: list[tuple[str, str]] = []
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop()
        self._thread.join()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, path: str, accept: str) -> Answer:
        """The whole body of a path, as if nothing were wrong."""
        raise NotImplementedError

    def fault(self, pattern: str, **what: object) -> Fault:
        """Switch a fault on for paths that match the shell pattern; see Fault."""
        fault = Fault(pattern=pattern, **what)  # type: ignore[arg-type]
        self._faults.append(fault)
        return fault

    def clear_faults(self) -> None:
        self._faults.clear()

    def require_login(self, pattern: str, user: str, password: str) -> None:
        """Answer 401 on matching paths unless basic credentials are sent."""
        token = base64.b64encode(f"{user}:{password}".encode()).decode()
        self._logins.append((pattern, f"Basic {token}"))

    def count(self, pattern: str = "*") -> int:
        """How many requests matched."""
        with self._lock:
            return sum(fnmatchcase(seen.path, pattern) for seen in self.requests)

    def take_fault(self, path: str) -> Fault | None:
        """The first fault for a path that is still on; its count goes down."""
        with self._lock:
            for fault in self._faults:
                if fnmatchcase(path, fault.pattern) and fault.times != 0:
                    if fault.times is not None:
                        fault.times -= 1
                    return fault
        return None

    def allowed(self, path: str, authorization: str) -> bool:
        return all(token == authorization for pattern, token in self._logins if fnmatchcase(path, pattern))

    def record(self, seen: Seen) -> None:
        with self._lock:
            self.requests.append(seen)


class _Server(ThreadingHTTPServer):
    """Knows its open connections, so that none outlives the `with` block."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, index: FakeHttp) -> None:
        self.index = index
        self.open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: socket.socket, client_address: object) -> None:  # type: ignore[override]
        self.open.add(request)
        super().process_request(request, client_address)  # type: ignore[arg-type]

    def shutdown_request(self, request: socket.socket) -> None:  # type: ignore[override]
        self.open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no news."""

    def stop(self) -> None:
        self.shutdown()
        for connection in list(self.open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
        deadline = time.monotonic() + 5
        while self.open and time.monotonic() < deadline:
            time.sleep(0.005)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def _serve(self) -> None:
        path = unquote(self.path.partition("?")[0])
        index = self.server.index
        if not index.allowed(path, self.headers.get("Authorization", "")):
            self._send(path, Answer(body=b"", status=401, headers={"WWW-Authenticate": 'Basic realm="index"'}))
            return
        answer = index.answer(path, self.headers.get("Accept", ""))
        fault = index.take_fault(path)
        if fault is None:
            self._send(path, self._ranged(self._fresh(answer)))
        elif fault.truncated:
            self._send(path, self._ranged(answer), cut=True)
        else:
            time.sleep(fault.slow)
            self._send(path, _spoilt(self._ranged(answer), fault))

    def _fresh(self, answer: Answer) -> Answer:
        """304 where the client's ETag still holds."""
        if answer.status != 200 or not self.server.index.etags:
            return answer
        etag = f'"{hashlib.sha256(answer.body).hexdigest()[:16]}"'
        if self.headers.get("If-None-Match") == etag:
            return Answer(body=b"", type=answer.type, status=304, headers={"ETag": etag})
        return Answer(body=answer.body, type=answer.type, headers={**answer.headers, "ETag": etag})

    def _ranged(self, answer: Answer) -> Answer:
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if asked is None or answer.status != 200 or not self.server.index.ranges:
            return answer
        total = len(answer.body)
        first, last = asked.groups()
        start = int(first) if first else max(0, total - int(last))
        stop = total if not first or not last else min(total, int(last) + 1)
        if start >= stop:
            return Answer(body=b"", status=416, headers={"Content-Range": f"bytes */{total}"})
        headers = {**answer.headers, "Content-Range": f"bytes {start}-{stop - 1}/{total}"}
        return Answer(body=answer.body[start:stop], type=answer.type, status=206, headers=headers)

    def _send(self, path: str, answer: Answer, *, cut: bool = False) -> None:
        self.server.index.record(Seen(method=self.command, path=path, status=answer.status, headers=dict(self.headers)))
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.type)
        self.send_header("Content-Length", str(len(answer.body)))
        if self.server.index.ranges:
            self.send_header("Accept-Ranges", "bytes")
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body[: len(answer.body) // 2] if cut else answer.body)
        self.close_connection = self.close_connection or cut


def _spoilt(answer: Answer, fault: Fault) -> Answer:
    """The answer after a fault."""
    changes: list[tuple[bool, Callable[[], Answer]]] = [
        (bool(fault.redirect), lambda: Answer(body=b"", status=302, headers={"Location": fault.redirect})),
        (bool(fault.status), lambda: Answer(body=b"out of order", type="text/plain", status=fault.status)),
        (fault.html, lambda: Answer(body=b"<html><body>Please log in</body></html>", type="text/html")),
        (fault.wrong, lambda: Answer(body=bytes(255 - b for b in answer.body), type=answer.type)),
    ]
    return next((make() for on, make in changes if on), answer)
