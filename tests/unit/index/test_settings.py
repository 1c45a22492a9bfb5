"""Settings: which value is in force and where it came from."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import InputError
from envsolve.index.configuration import pip_config
from envsolve.index.configuration.envsolve_config import config_file
from envsolve.settings import PYTORCH_INDEX, Settings, load_settings, redact


@pytest.fixture
def own_file(isolated: Path) -> Path:
    path = config_file()
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def pip_files(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Path]]:
    """pip's four files; nothing of this machine's."""
    monkeypatch.delenv("PIP_CONFIG_FILE")
    monkeypatch.setattr(pip_config, "_global_folders", lambda: [isolated / "global"])
    monkeypatch.setattr(sys, "prefix", str(isolated / "site"))
    folders = {"global": "global", "legacy": ".pip", "user": ".config/pip", "site": "site"}
    for folder in folders.values():
        (isolated / folder).mkdir(parents=True, exist_ok=True)
    yield {kind: isolated / folder / pip_config._FILE_NAME for kind, folder in folders.items()}


def test_the_defaults(isolated: Path) -> None:
    settings = load_settings()
    assert settings == Settings(cache_dir=isolated / ".cache/envsolve")
    assert settings.torch_bases == (PYTORCH_INDEX,) and settings.origins == {}
    assert settings.default_index.startswith("https://") and not settings.default_index.endswith("/")


def test_the_default_index_is_the_librarys_constant() -> None:
    from pypi_simple import PYPI_SIMPLE_ENDPOINT

    assert load_settings().default_index == PYPI_SIMPLE_ENDPOINT.rstrip("/")


_SOURCES = ("option", "variable", "file", "pip", "uv")


@pytest.mark.parametrize("strongest", range(len(_SOURCES)))
def test_the_strongest_source_wins(strongest: int, own_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {source: f"https://{source}.example/simple" for source in _SOURCES[strongest:]}
    monkeypatch.setenv("UV_DEFAULT_INDEX", said["uv"])
    if "pip" in said:
        monkeypatch.setenv("PIP_INDEX_URL", said["pip"])
    if "file" in said:
        own_file.write_text(f'index = "{said["file"]}"\n')
    if "variable" in said:
        monkeypatch.setenv("ENVSOLVE_INDEX", said["variable"])
    settings = load_settings({"index": said.get("option")})
    origins = {
        "option": "--index",
        "variable": "ENVSOLVE_INDEX",
        "file": f"{own_file}: index",
        "pip": "PIP_INDEX_URL",
        "uv": "UV_DEFAULT_INDEX",
    }
    assert settings.index == settings.default_index == said[_SOURCES[strongest]]
    assert settings.origins == {"index": origins[_SOURCES[strongest]]}


def test_lists_hold_what_everybody_says_the_strongest_first(
    own_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    own_file.write_text('find-links = ["shelf"]\n')
    (own_file.parent / "shelf").mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path}/b {tmp_path}/a https://links.example/x.html")
    monkeypatch.setenv("UV_FIND_LINKS", f"{tmp_path}/c, {tmp_path}/b")
    settings = load_settings({"find-links": [str(tmp_path / "a")]})
    assert settings.find_links == (
        (tmp_path / "a").as_uri(),
        (own_file.parent / "shelf").as_uri(),
        (tmp_path / "b").as_uri(),
        "https://links.example/x.html",
        (tmp_path / "c").as_uri(),
    )
    assert settings.origins["find-links"] == f"--find-links, {own_file}: find-links, PIP_FIND_LINKS, UV_FIND_LINKS"


def test_pips_files_in_pips_order(pip_files: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, path in pip_files.items():
        path.write_text(f"[global]\nindex-url = https://{kind}.example/simple\ntimeout = 7\n")
    assert load_settings().index == "https://site.example/simple"
    pip_files["site"].unlink()
    assert load_settings().index == "https://user.example/simple"
    pip_files["user"].write_text("[global]\nretries = 9\n")
    assert load_settings().index == "https://legacy.example/simple"
    # [install] outranks [global] of a later file, and a variable outranks both.
    pip_files["global"].write_text("[install]\nindex-url = https://install.example/simple\n")
    settings = load_settings()
    assert (settings.index, settings.retries, settings.timeout) == ("https://install.example/simple", 9, 7.0)
    assert settings.origins["index"] == f"{pip_files['global']}: [install] index-url"
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable.example/simple/")
    assert load_settings().index == "https://variable.example/simple"


def test_pip_config_file_takes_the_users_place(
    pip_files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pip_files["user"].write_text("[global]\nindex-url = https://user.example/simple\n")
    own = tmp_path / "own.conf"
    own.write_text("[global]\nextra-index-url =\n    https://one.example/simple\n    https://two.example/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(own))
    settings = load_settings()
    assert settings.index == ""
    assert settings.extra_indexes == ("https://one.example/simple", "https://two.example/simple")
    assert settings.index_strategy == "merge"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert load_settings().extra_indexes == ()


def test_pips_other_options(pip_files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("")
    pip_files["user"].write_text(
        f"[global]\ncert = {tmp_path}/ca.pem\nproxy = user:secret@proxy.example:3128\n"
        "trusted_host = a.example b.example\n"
        "no-index = yes\nkeyring-provider = subprocess\nconstraint = whatever.txt\n"
    )
    settings = load_settings()
    assert settings.cert == str(tmp_path / "ca.pem") and settings.proxy == "http://user:secret@proxy.example:3128"
    assert settings.trusted_hosts == ("a.example", "b.example")
    assert settings.no_index and settings.keyring == "subprocess" and settings.torch_bases == ()
    assert not any("secret" in line for line in settings.described())


def test_uvs_file(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = isolated / ".config/uv/uv.toml"
    path.parent.mkdir(parents=True)
    path.write_text(
        'offline = true\nindex = [{ url = "https://extra.example/simple" },'
        '{ name = "d", url = "https://default.example/simple", default = true },'
        '{ url = "https://explicit.example/simple", explicit = true }]\n[pip]\nfind-links = ["https://links.example"]\n'
    )
    assert load_settings().index == ""  # UV_NO_CONFIG is set
    monkeypatch.delenv("UV_NO_CONFIG")
    settings = load_settings()
    assert settings.index == "https://default.example/simple" and settings.offline
    assert settings.extra_indexes == ("https://extra.example/simple",) and settings.index_strategy == "first"
    assert settings.find_links == ("https://links.example",)


def test_uvs_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "main=https://d.example/simple")
    monkeypatch.setenv("UV_INDEX", "a=https://a.example/simple https://b.example/simple?x=1")
    monkeypatch.setenv("UV_HTTP_TIMEOUT", "33")
    settings = load_settings()
    assert settings.index == "https://d.example/simple" and settings.timeout == 33.0
    assert settings.extra_indexes == ("https://a.example/simple", "https://b.example/simple?x=1")


@pytest.mark.parametrize("value", ["1", "true", "YES", "on"])
def test_flags(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSOLVE_OFFLINE", value)
    assert load_settings().offline
    monkeypatch.setenv("ENVSOLVE_OFFLINE", "0")
    assert not load_settings().offline
    assert load_settings({"offline": True}).origins["offline"] == "--offline"


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("index", "ftp://old.example/", "an http, https or file address"),
        ("index", "https://", "not a valid address"),
        ("index", "https://[::1/simple", "not a valid address"),
        ("index", "https://host:port/", "not a valid address"),
        ("index", "no/such/folder", "neither an address nor a folder"),
        ("mirror", "https://m.example/whl/cu128", "the folder of one variant"),
        ("timeout", "soon", "a number of seconds"),
        ("timeout", "-1", "a number of seconds"),
        ("retries", "1.5", "a whole number"),
        ("offline", "perhaps", "true or false"),
        ("source", "conda", "pytorch or pypi"),
        ("cert", "no/such/ca.pem", "no such file"),
        ("keyring", "chrome", "subprocess or disabled"),
        ("find-links", "no/such/folder", "neither an address nor a folder"),
        ("extra-index", "https://ok.example/ gopher://x/", "an http, https or file address"),
    ],
)
def test_a_bad_value_names_its_origin(name: str, value: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = f"ENVSOLVE_{name.upper().replace('-', '_')}"
    monkeypatch.setenv(variable, value)
    with pytest.raises(InputError, match=why) as caught:
        load_settings()
    assert caught.value.message.startswith(f"{variable}: ")


def test_a_variants_folder_is_no_mirror_and_the_hint_says_what_is() -> None:
    with pytest.raises(InputError) as caught:
        load_settings({"mirror": "https://user:secret@m.example/whl/cu128/"})
    assert caught.value.hint == "--mirror https://****@m.example/whl"
    assert "secret" not in caught.value.message


def test_mistakes_in_the_own_file(own_file: Path) -> None:
    own_file.write_text('miror = "https://m.example/whl"\n')
    with pytest.raises(InputError, match="no setting 'miror'") as caught:
        load_settings()
    assert "mirror" in caught.value.hint and str(own_file) in caught.value.message
    own_file.write_text("mirror = \n")
    with pytest.raises(InputError, match=r"config\.toml: "):
        load_settings()
    own_file.write_text("mirror = 3\n")
    with pytest.raises(InputError, match=r"config\.toml: mirror: a text is needed"):
        load_settings()


def test_a_broken_pip_conf_is_named(pip_files: dict[str, Path]) -> None:
    pip_files["user"].write_text("index-url = no section\n")
    with pytest.raises(InputError, match=r"pip\.(conf|ini)"):
        load_settings()


def test_a_folder_that_pip_would_pass_over_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "gone"))
    assert load_settings().find_links == ((tmp_path / "gone").as_uri(),)


def test_relative_paths_are_made_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mirror here").mkdir()
    monkeypatch.chdir(tmp_path)
    settings = load_settings({"mirror": "mirror here", "cache-dir": "cache"})
    assert settings.mirror == (tmp_path / "mirror here").as_uri() and settings.cache_dir == tmp_path / "cache"


def test_credentials_are_kept_apart_by_host() -> None:
    settings = load_settings(
        {
            "index": "https://user:p%40ss@a.example:8443/simple",
            "extra-index": ["https://token@B.example/simple", "https://c.example/simple"],
        }
    )
    assert settings.credentials() == {"https://a.example:8443": ("user", "p@ss"), "https://b.example": ("token", "")}
    assert not any("p%40ss" in line or "token" in line for line in settings.described())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:secret@h.example/x", "https://****@h.example/x"),
        ("see https://a:b@h/ and http://c@i:1/", "see https://****@h/ and http://****@i:1/"),
        ("https://h.example/x@y", "https://h.example/x@y"),
        ("https://user:se@cret@h.example/", "https://****@h.example/"),
        ("file:///tmp/a@b", "file:///tmp/a@b"),
        ("no address", "no address"),
    ],
)
def test_redact(text: str, shown: str) -> None:
    assert redact(text) == shown


_SAFE = st.text(st.characters(whitelist_categories=("Ll", "Nd")), min_size=4, max_size=12)


@given(user=_SAFE, password=_SAFE.map(lambda text: f"pw-{text}"), path=_SAFE)
def test_no_password_survives_redaction(user: str, password: str, path: str) -> None:
    assert password not in redact(
        f"error at https://{user}:{password}@h.example/{path}: again http://{user}:{password}@i/"
    )
