"""What reaches an installer of the user's settings, and what doesn't."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from envsolve.environment.connection import options, pip_environment, uv_environments
from envsolve.environment.handed import handed, reachable
from envsolve.settings import Settings
from fakes.stub_locks import stub_lock
from fakes.stub_wheels import StubWheel

PYTORCH = "https://download.pytorch.org/whl"


def settings(tmp_path: Path, **more: object) -> Settings:
    return Settings(cache_dir=tmp_path, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["PIP_CONSTRAINT", "UV_OVERRIDE", "PYTHONPATH", "UV_TORCH_BACKEND", "PIP_EXTRA_INDEX_URL"]
)
def test_the_users_variables_stay_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "evil")
    assert "evil" not in {**pip_environment(settings(tmp_path)), **uv_environments(settings(tmp_path))[0]}.values()


@pytest.mark.parametrize(
    "name", ["HTTPS_PROXY", "no_proxy", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NETRC", "HOME", "PATH"]
)
def test_the_way_to_the_network_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "/kept")
    assert pip_environment(settings(tmp_path))[name] == uv_environments(settings(tmp_path))[0][name] == "/kept"


def test_settings_reach_both(tmp_path: Path) -> None:
    given = settings(
        tmp_path,
        index="https://u:p@idx/simple",
        extra_indexes=("https://a/simple", "https://b/simple"),
        find_links=("https://links/", "file:///a%20b", "/c d"),
        cert="/ca.pem",
        proxy="http://proxy:3128",
        trusted_hosts=("idx",),
        keyring="subprocess",
        timeout=180.0,
    )
    pip, uv = pip_environment(given), uv_environments(given)[0]
    assert (pip["PIP_INDEX_URL"], uv["UV_DEFAULT_INDEX"]) == (given.index, given.index)
    assert pip["PIP_EXTRA_INDEX_URL"] == "https://a/simple https://b/simple"
    assert pip["PIP_FIND_LINKS"] == uv["UV_FIND_LINKS"] == "https://links/"
    assert (pip["PIP_CERT"], uv["SSL_CERT_FILE"]) == ("/ca.pem", "/ca.pem")
    assert (pip["PIP_PROXY"], uv["ALL_PROXY"]) == ("http://proxy:3128", "http://proxy:3128")
    assert pip["PIP_TRUSTED_HOST"] == uv["UV_INSECURE_HOST"] == "idx"
    assert pip["PIP_KEYRING_PROVIDER"] == uv["UV_KEYRING_PROVIDER"] == "subprocess"
    assert pip["PIP_TIMEOUT"] == uv["UV_HTTP_TIMEOUT"] == "180"
    assert options(given, "uv") == ["--find-links", "/a b", "--find-links", "/c d"]


@pytest.mark.parametrize("strategy", ["merge", "first"])
def test_uv_looks_in_the_order_in_which_locks_are_made_and_then_in_the_other(tmp_path: Path, strategy: str) -> None:
    given = settings(tmp_path, index="https://d/", extra_indexes=("https://a/",), index_strategy=strategy)
    orders = [env["UV_INDEX"] for env in uv_environments(given)]
    default_first = ["https://d/ https://a/", "https://a/"]
    assert orders == (default_first if strategy == "merge" else default_first[::-1])


def test_configuration_files_are_switched_off(tmp_path: Path) -> None:
    assert pip_environment(settings(tmp_path))["PIP_CONFIG_FILE"] == os.devnull
    assert uv_environments(settings(tmp_path))[0]["UV_NO_CONFIG"] == "1"


def test_offline_and_no_index(tmp_path: Path) -> None:
    assert options(settings(tmp_path, offline=True), "uv") == ["--offline"]
    assert options(settings(tmp_path, offline=True), "pip") == ["--no-index"]
    assert options(settings(tmp_path, no_index=True), "uv") == ["--no-index"]
    assert options(settings(tmp_path), "pip") == []


def test_command_lines_carry_no_credentials(tmp_path: Path) -> None:
    given = settings(tmp_path, find_links=("https://u:secret@h/",), index="https://u:secret@h/simple")
    assert "secret" not in " ".join([*options(given, "pip"), *options(given, "uv")])


@pytest.mark.parametrize(
    ("url", "more", "expected"),
    [
        (f"{PYTORCH}/cu128/torch.whl", {}, f"{PYTORCH}/cu128/torch.whl"),
        (f"{PYTORCH}/cu128/torch.whl", {"mirror": "https://m/wheels/"}, "https://m/wheels/cu128/torch.whl"),
        (f"{PYTORCH}/cu128/torch.whl", {"mirror": "https://u:p%40@m/w"}, "https://u:p%40@m/w/cu128/torch.whl"),
        ("https://h/torch.whl", {"mirror": "https://m/wheels"}, "https://h/torch.whl"),
        ("https://h/torch.whl", {"index": "https://u:p%2F@h/simple"}, "https://u:p%2F@h/torch.whl"),
        ("https://h:8443/torch.whl", {"index": "https://u:p@h/simple"}, "https://h:8443/torch.whl"),
    ],
)
def test_addresses_as_they_are_reached_from_here(
    tmp_path: Path, url: str, more: dict[str, object], expected: str
) -> None:
    assert reachable(url, settings(tmp_path, **more)) == expected


def test_the_handed_lock_is_private_and_goes(tmp_path: Path) -> None:
    torch, six = StubWheel(name="torch", version="2"), StubWheel(name="six", version="1")
    lock = stub_lock({"https://h/torch-2-py3-none-any.whl": torch}, [six])
    with pytest.raises(RuntimeError), handed(lock, tmp_path, settings(tmp_path, index="https://u:p@h/s")) as path:
        # uv before 0.12 takes only --hash, not the fragment, for the hash of an address
        assert path.read_text().splitlines() == [
            f"torch @ https://u:p@h/torch-2-py3-none-any.whl --hash=sha256:{torch.sha256}",
            f"six==1 --hash=sha256:{six.sha256}",
        ]
        assert os.name == "nt" or stat.S_IMODE(path.stat().st_mode) == 0o600
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
