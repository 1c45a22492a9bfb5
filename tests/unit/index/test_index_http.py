"""Requests: retries, log-ins, certificates, proxies, and errors that say what to do."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.errors import OutsideError
from envsolve.index.http import Http, RangesIgnored, Unreachable
from envsolve.settings import Settings
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        running.add_package(StubWheel(name="six", version="1.17"))
        yield running


@pytest.fixture
def closing() -> Iterator[list[Http]]:
    made: list[Http] = []
    yield made
    for http in made:
        http.close()


def _http(closing: list[Http], **settings: object) -> Http:
    fields = {"cache_dir": Path("unused"), "retries": 2, "timeout": 5.0}
    closing.append(Http(Settings(**(fields | settings))))  # type: ignore[arg-type]
    return closing[-1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_errors_that_pass_are_tried_again(server: IndexServer, closing: list[Http]) -> None:
    server.fault("/simple/six/", status=503, times=2)
    assert _http(closing).get(f"{server.simple}/six/").status == 200
    assert server.count("/simple/six/") == 3


def test_errors_that_stay_are_told(server: IndexServer, closing: list[Http]) -> None:
    server.fault("/simple/six/", status=503)
    with pytest.raises(Unreachable, match="answered 503") as caught:
        _http(closing).get(f"{server.simple}/six/")
    assert "--mirror" in caught.value.hint and "--offline" in caught.value.hint
    assert server.count("/simple/six/") == 3


def test_an_answer_that_breaks_off_is_tried_again(server: IndexServer, closing: list[Http]) -> None:
    server.fault("/simple/six/", truncated=True, times=2)
    assert b"six-1.17" in _http(closing).get(f"{server.simple}/six/").body
    server.fault("/simple/six/", truncated=True)
    with pytest.raises(OutsideError, match="broke off"):
        _http(closing, retries=1).get(f"{server.simple}/six/")


def test_nobody_there(closing: list[Http]) -> None:
    http = _http(closing, retries=0)
    url = f"http://127.0.0.1:{_free_port()}/whl/cu128/torch/"
    with pytest.raises(Unreachable, match="connection refused") as caught:
        http.get(url)
    assert url in caught.value.message and "--find-links" in caught.value.hint
    asked = http.count
    with pytest.raises(Unreachable):  # a host that is down is not asked again in this run
        http.get(url)
    assert http.count == asked


def test_a_name_that_is_not_known(closing: list[Http]) -> None:
    with pytest.raises(Unreachable, match="its name is not known"):
        _http(closing, retries=0).get("http://no-such-host.invalid/simple/six/")


def test_no_answer_in_time(server: IndexServer, closing: list[Http]) -> None:
    server.fault("/simple/six/", slow=1.0)
    with pytest.raises(Unreachable, match="no answer in time"):
        _http(closing, retries=0, timeout=0.1).get(f"{server.simple}/six/")


def test_redirects_are_followed_and_told(server: IndexServer, closing: list[Http]) -> None:
    server.fault("/old/*", redirect=f"{server.simple}/six/")
    reply = _http(closing).get(f"{server.base}/old/six/")
    assert (reply.status, reply.url) == (200, f"{server.simple}/six/")
    server.fault("/circle/", redirect=f"{server.base}/circle/")
    with pytest.raises(Unreachable, match="redirects in a circle"):
        _http(closing).get(f"{server.base}/circle/")


def test_a_range_that_is_ignored_is_not_read(server: IndexServer, closing: list[Http]) -> None:
    server.ranges = False
    http = _http(closing)
    for _ in range(2):
        with pytest.raises(RangesIgnored):
            http.get_range(f"{server.base}/packages/six-1.17-py3-none-any.whl", "-10")
    assert server.count("*.whl") == 1


def _login(server: IndexServer, user: str) -> str:
    return f"http://{user}@{server.simple.removeprefix('http://')}"


def test_a_login_in_the_address_is_sent_to_its_host_only(server: IndexServer, closing: list[Http]) -> None:
    server.require_login("/simple/*", "user", "p@ss")
    http = _http(closing, index=_login(server, "user:p%40ss"))
    assert http.get(f"{server.simple}/six/").status == 200
    with IndexServer() as other:
        http.get(f"{other.simple}/six/")
        assert "Authorization" not in other.requests[0].headers


def test_a_login_does_not_follow_a_redirect_to_another_host(server: IndexServer, closing: list[Http]) -> None:
    with IndexServer() as other:
        server.fault("/simple/six/", redirect=f"{other.simple}/six/")
        _http(closing, index=_login(server, "user:secret")).get(f"{server.simple}/six/")
        assert "Authorization" in server.requests[-1].headers
        assert "Authorization" not in other.requests[-1].headers


@pytest.mark.parametrize("user", ["", "user:wrong"])
def test_a_login_that_is_missing_or_wrong_is_told(server: IndexServer, closing: list[Http], user: str) -> None:
    server.require_login("/simple/*", "user", "secret")
    http = _http(closing, index=_login(server, user) if user else server.simple)
    with pytest.raises(OutsideError, match=r"wants a log-in \(401\)") as caught:
        http.get(f"{server.simple}/six/")
    assert "netrc" in caught.value.hint and "wrong" not in str(caught.value)


def test_netrc_is_read(server: IndexServer, closing: list[Http], isolated: Path) -> None:
    server.require_login("/simple/*", "user", "secret")
    netrc = isolated / ".netrc"
    netrc.write_text("machine 127.0.0.1 login user password secret\n")
    netrc.chmod(0o600)
    assert _http(closing).get(f"{server.simple}/six/").status == 200


@pytest.mark.skipif(os.name == "nt", reason="the fake keyring is a shell script")
def test_keyring_is_asked_where_the_settings_say_so(
    server: IndexServer, closing: list[Http], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.require_login("/simple/*", "user", "secret")
    keyring = tmp_path / "keyring"
    keyring.write_text('#!/bin/sh\n[ "$1 $3" = "get user" ] && echo secret || exit 1\n')
    keyring.chmod(keyring.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    address = _login(server, "user")
    assert _http(closing, index=address, keyring="subprocess").get(f"{server.simple}/six/").status == 200
    with pytest.raises(OutsideError, match="log-in"):
        _http(closing, index=address).get(f"{server.simple}/six/")


def test_a_proxy_is_used_and_its_password_not_shown(server: IndexServer, closing: list[Http]) -> None:
    proxy = server.base.replace("http://", "http://user:secret@")
    http = _http(closing, proxy=proxy, retries=0)
    assert http.get("http://index.invalid/simple/six/").status in (200, 404)  # the fake server answered as the proxy
    assert "Proxy-Authorization" in server.requests[-1].headers
    dead = _http(closing, proxy=f"http://user:secret@127.0.0.1:{_free_port()}", retries=0)
    with pytest.raises(Unreachable, match="through the proxy") as caught:
        dead.get("http://index.invalid/simple/six/")
    assert "secret" not in str(caught.value) + caught.value.hint and "****@127.0.0.1" in str(caught.value)
