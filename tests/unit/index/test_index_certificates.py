"""Certificates: whom a session trusts over TLS, and that it reads them once."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from envsolve.errors import OutsideError
from envsolve.index.http import Http, Unreachable
from envsolve.index.session import new_session
from envsolve.settings import Settings


class _Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that trusts nobody is no news."""


@contextmanager
def _https(authority: trustme.CA) -> Iterator[str]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = _Server(("127.0.0.1", 0), _Page)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def address(authority: trustme.CA) -> Iterator[str]:
    with _https(authority) as running:
        yield running


def _settings(**fields: object) -> Settings:
    return Settings(**({"cache_dir": Path("unused"), "retries": 0, "timeout": 5.0} | fields))  # type: ignore[arg-type]


def _status(address: str, **fields: object) -> int:
    http = Http(_settings(**fields))
    try:
        return http.get(address).status
    finally:
        http.close()


def test_a_company_s_certificate_is_trusted_where_it_is_named(
    authority: trustme.CA, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "company.pem"
    authority.cert_pem.write_to_path(str(file))
    assert _status(address, cert=str(file)) == 200


def test_the_operating_system_s_certificates_are_trusted(
    authority: trustme.CA, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "system.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    assert _status(address) == 200


def test_nobody_else_is_trusted(address: str, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    for fields in ({}, {"cert": str(other)}):
        with pytest.raises(Unreachable, match=r"certificate of https://127\.0\.0\.1"):
            _status(address, **fields)


def test_a_trusted_host_needs_no_certificate(address: str) -> None:
    with pytest.warns(Warning, match="Unverified HTTPS request"):
        assert _status(address, trusted_hosts=("127.0.0.1",)) == 200


def test_a_certificate_file_that_is_not_there_is_no_blank_cheque(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = str(tmp_path / "absent.pem")
    with pytest.raises(OutsideError, match="invalid path"):
        _status(address, cert=absent)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", absent)
    with pytest.raises(OutsideError, match="invalid path") as caught:
        _status(address)
    assert "REQUESTS_CA_BUNDLE" in caught.value.hint


def test_certificates_are_read_once_for_all_connections(
    authority: trustme.CA, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "company.pem"
    authority.cert_pem.write_to_path(str(file))
    read: list[str] = []
    load = ssl.SSLContext.load_verify_locations

    def counted(self: ssl.SSLContext, *args: object, **kwargs: object) -> None:
        read.append(str(args or kwargs))
        load(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", counted)
    http = Http(_settings(cert=str(file)))
    with ThreadPoolExecutor(4) as pool:
        assert [reply.status for reply in pool.map(http.get, [address] * 8)] == [200] * 8
    http.close()
    assert len([one for one in read if str(file) in one]) == 1


def test_what_the_environment_says_is_worked_out_once_for_a_host(
    authority: trustme.CA, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bundle.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    asked: list[str] = []
    monkeypatch.setattr("requests.sessions.get_environ_proxies", lambda url, no_proxy: asked.append(url) or {})
    session = new_session(_settings())
    for path in ("/a", "/b", "/c"):
        trust = {"proxies": None, "verify": True, "cert": None}
        with session.fetch("GET", address + path, headers={}, login=None, timeout=(5, 5), **trust) as answer:
            assert answer.content == b"ok"
    session.close()
    assert len(asked) == 1
