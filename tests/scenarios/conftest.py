"""A fake index and a store of its own for each scenario."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.index_server import IndexServer
from fakes.installing import end_spawned


@pytest.fixture(autouse=True)
def nothing_runs_on() -> Iterator[None]:
    """Ends what a test has started, when it fails half-way too: pytest would tell of it in another test."""
    yield
    end_spawned()


@pytest.fixture
def server() -> Iterator[IndexServer]:
    with IndexServer() as running:
        yield running


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of named environments; its name has a blank on purpose."""
    monkeypatch.setenv("ENVSOLVE_HOME", str(tmp_path / "my envs"))
    return tmp_path / "my envs"


@pytest.fixture(params=["uv", "pip"])
def installer(request: pytest.FixtureRequest) -> str:
    from envsolve.environment.pythons import find_uv

    if request.param == "uv" and find_uv() is None:
        pytest.skip("uv is not installed")
    return str(request.param)
