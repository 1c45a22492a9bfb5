"""Somebody else's index: it offers a higher torch, a private name, and other bytes. None of it gets in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from envsolve.errors import OutsideError
from envsolve.index.package_index import PackageIndex, open_index
from envsolve.settings import load_settings
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel, stub_family, stub_torch

TAG = "cp312-cp312-manylinux_2_28_x86_64"
TRIO = {"torch": "2.11.0+cu128", "torchvision": "0.26.0+cu128", "torchaudio": "2.11.0+cu128"}


@pytest.fixture
def pytorch() -> Iterator[IndexServer]:
    """A mirror of the PyTorch index with the trio, each member listed in another form."""
    with IndexServer() as server:
        family = stub_family("cu128", tag=TAG, torch="2.11.0", torchvision="0.26.0", torchaudio="2.11.0")
        for wheel, form in zip(family, "ABD", strict=True):
            server.add_wheel("cu128", wheel, form=form)
        server.add_root(stub_torch("2.0.1", tag=TAG))
        yield server


@pytest.fixture
def hostile() -> Iterator[IndexServer]:
    with IndexServer() as server:
        for wheel in stub_family("cu128", tag=TAG, torch="99.0", torchvision="99.0", torchaudio="99.0"):
            server.add_package(wheel)
        for wheel in stub_family("cu128", tag=TAG, torch="2.11.0", torchvision="0.26.0", torchaudio="2.11.0"):
            server.add_package(wheel)
        server.add_package(StubWheel(name="our-models", version="99.0"))
        yield server


def _open(monkeypatch: pytest.MonkeyPatch, **variables: str) -> PackageIndex:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = replace(load_settings(), pytorch_index="http://no-such-host.invalid/whl")
    return open_index(settings, python="3.12", platform="linux_x86_64")


@pytest.mark.parametrize("way", ["PIP_EXTRA_INDEX_URL", "UV_INDEX", "ENVSOLVE_EXTRA_INDEX", "PIP_INDEX_URL"])
def test_torch_comes_from_its_own_index_whatever_another_offers(
    pytorch: IndexServer, hostile: IndexServer, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    index = _open(monkeypatch, ENVSOLVE_MIRROR=pytorch.whl, ENVSOLVE_RETRIES="0", **{way: hostile.simple})
    with index:
        for name, version in TRIO.items():
            files = index.files(name, variant="cu128")
            assert {str(file.version) for file in files} == {version}
            assert {file.source for file in files} == {f"{pytorch.whl}/cu128"}
            assert index.files(name) == ()
    assert hostile.requests == []


def test_a_private_name_is_not_taken_from_the_public_index(
    hostile: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with IndexServer() as private:
        private.add_package(StubWheel(name="our-models", version="1.2"))
        index = _open(monkeypatch, ENVSOLVE_INDEX=hostile.simple, ENVSOLVE_EXTRA_INDEX=private.simple)
        with index:
            assert [str(file.version) for file in index.files("our-models")] == ["1.2"]
    assert hostile.requests == []


def test_other_bytes_under_the_same_name_are_refused(pytorch: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page says what the wheel hashes to; a mirror in between sends another wheel of that name."""
    pytorch.ranges = False
    index = _open(monkeypatch, ENVSOLVE_MIRROR=pytorch.whl, ENVSOLVE_RETRIES="0")
    with index:
        file = index.files("torch", variant="cu128")[0]
        evil = stub_torch("2.11.0+cu128", tag=TAG, requires=("evil",))
        pytorch.replace(f"{pytorch.whl}/cu128/{evil.filename}", evil.content)
        pytorch.fault("*.metadata", status=404)
        with pytest.raises(OutsideError, match="and the index says"):
            index.metadata(file)


def test_a_log_in_page_everywhere_is_no_package(pytorch: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytorch.fault("*", html=True)
    index = _open(monkeypatch, ENVSOLVE_MIRROR=pytorch.whl, ENVSOLVE_RETRIES="0")
    with index, pytest.raises(OutsideError, match="no index page"):
        index.files("torch", variant="cu128")


def test_a_password_is_in_no_error_and_no_warning(
    pytorch: IndexServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytorch.fault("/whl/*", status=500)
    secret = pytorch.whl.replace("http://", "http://user:hunter2@")
    index = _open(monkeypatch, ENVSOLVE_MIRROR=secret, ENVSOLVE_RETRIES="0")
    with index, pytest.raises(OutsideError) as caught:
        index.files("torch", variant="cu128")
    shown = repr(caught.value) + caught.value.hint + repr(index.warnings) + "".join(capsys.readouterr())
    assert "hunter2" not in shown
