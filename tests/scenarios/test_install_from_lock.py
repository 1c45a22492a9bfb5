"""Installing from a lock, with the real installers and a fake index."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.installing import SIX, arguments, builds, install, lock_file, says
from fakes.stub_locks import served_lock, stub_lock
from fakes.stub_wheels import StubWheel

Output = pytest.CaptureFixture[str]


def test_an_environment_appears_under_its_name(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, capsys: Output
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))

    assert install(lock, server, "--installer", installer) == 0

    shown = capsys.readouterr()
    made = store / "envs/fresh"
    assert says(made, "import torch, six, pip; print(torch.__version__)") == "2.11.0+cpu"
    assert f"source '{made}/bin/activate'" in shown.out
    assert f"with {installer}" in shown.err
    marker = json.loads((made / "envsolve.json").read_text())
    assert (marker["stage"], marker["torch"]) == ("unverified", "2.11.0+cpu")
    assert (made / "envsolve-lock.txt").read_text() == lock.read_text()
    assert not list(made.glob(".envsolve*"))


def test_nothing_of_the_system_is_visible_inside(store: Path, tmp_path: Path, server: IndexServer) -> None:
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0
    with pytest.raises(subprocess.CalledProcessError):
        says(store / "envs/fresh", "import pytest")


@pytest.mark.skipif(os.name == "nt", reason="POSIX commands")
def test_commands_run_from_anywhere_and_hold_no_path_that_goes(
    store: Path, tmp_path: Path, server: IndexServer, installer: str
) -> None:
    """uv fills it by a path of its own, which is another environment's a moment later."""
    main = "import sys\ndef main(): print(sys.prefix)\n"
    tool = StubWheel(name="tool", version="1", modules={"tool.py": main}, scripts={"tool": "tool:main"})
    assert install(lock_file(tmp_path, served_lock(server, tool)), server, "--installer", installer) == 0

    made = store / "envs/fresh"
    (build,) = (store / "builds").iterdir()
    (tmp_path / "linked").symlink_to(made / "bin/tool")
    for command in (made / "bin/tool", build / "bin/tool", tmp_path / "linked"):
        assert Path(subprocess.check_output([command], text=True).strip()).resolve() == build
    whole = b"".join(path.read_bytes() for path in build.rglob("*") if path.is_file() and not path.is_symlink())
    assert str(store / "filling").encode() not in whole
    assert not list(store.glob("filling/*"))


@pytest.mark.parametrize(
    ("pattern", "fault", "code"),
    [
        ("*/six-*.whl", {"wrong": True}, None),
        ("*/torch-*.whl", {"wrong": True}, None),
        ("*/torch-*.whl", {"html": True}, None),
        ("*/torch-*.whl", {"truncated": True}, None),
        ("*/torch-*.whl", {"status": 404}, 3),
        ("*/torch-*.whl", {"status": 403}, 3),
    ],
    ids=["other-six", "other-torch", "html", "truncated", "gone", "forbidden"],
)
def test_other_bytes_than_the_locks_leave_nothing(
    store: Path,
    tmp_path: Path,
    server: IndexServer,
    installer: str,
    capsys: Output,
    pattern: str,
    fault: dict[str, object],
    code: int | None,
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX, padding=100_000))
    server.fault(pattern, **fault)

    ended = install(lock, server, "--installer", installer)

    error = capsys.readouterr().err
    assert ended == code if code else ended in (1, 3), error
    assert "hint: " in error and "it failed" not in error
    assert builds(store) == []
    assert run(["envs", "path", "fresh"]) == 2


def test_a_valid_wheel_that_is_not_the_locks_is_refused(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, capsys: Output
) -> None:
    other = StubWheel(name="six", version="1.17.0", modules={"six.py": "EVIL = True\n"})
    text = served_lock(server, other).replace(other.sha256, SIX.sha256)

    assert install(lock_file(tmp_path, text), server, "--installer", installer) == 1

    assert "not the file that the lock pins" in capsys.readouterr().err
    assert builds(store) == []


def test_a_name_that_is_taken_needs_replace(store: Path, tmp_path: Path, server: IndexServer, capsys: Output) -> None:
    lock = lock_file(tmp_path, served_lock(server))
    assert install(lock, server) == 0
    before = builds(store)

    assert install(lock, server) == 2

    assert "--replace" in capsys.readouterr().err
    assert builds(store) == before


def test_replace_makes_a_new_one_and_removes_the_old(store: Path, tmp_path: Path, server: IndexServer) -> None:
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0
    before = builds(store)

    assert install(lock_file(tmp_path, served_lock(server, SIX)), server, "--replace") == 0

    assert says(store / "envs/fresh", "import six; print(six.__version__)") == "1.17.0"
    assert len(builds(store)) == 1 and builds(store) != before


def test_a_replacement_that_cannot_be_filled_leaves_the_old_one(
    store: Path, tmp_path: Path, server: IndexServer
) -> None:
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0
    before = builds(store)
    lock = lock_file(tmp_path, served_lock(server, SIX))
    server.fault("*/six-*.whl", wrong=True)

    assert install(lock, server, "--replace") in (1, 3)

    assert builds(store) == before
    assert says(store / "envs/fresh", "import torch; print(torch.__version__)") == "2.11.0+cpu"


def test_what_fails_verification_is_kept_aside(
    store: Path, tmp_path: Path, server: IndexServer, capsys: Output
) -> None:
    """The stub torch can't compute anything, so the real verification refuses it."""
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0
    lock = lock_file(tmp_path, served_lock(server, SIX))

    assert install(lock, server, "--replace", "--verify", "now") == 1
    assert install(lock, server, "--replace", "--verify", "now") == 1

    error = capsys.readouterr().err
    assert "failed verification" in error and "FAILED" in error
    assert run(["envs", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["environments"]
    assert [one["state"] for one in listed] == ["unverified", "failed"]
    assert listed[1]["verification"]["verified"] is False
    with pytest.raises(subprocess.CalledProcessError):
        says(store / "envs/fresh", "import six")


def test_the_users_pip_and_uv_configuration_decide_nothing(
    store: Path,
    isolated: Path,
    tmp_path: Path,
    server: IndexServer,
    installer: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("six<1\ntorch==1.0\n")
    (isolated / ".config/pip").mkdir()
    (isolated / ".config/uv").mkdir()
    (isolated / ".config/pip/pip.conf").write_text(f"[global]\nconstraint = {constraints}\nuser = true\n")
    (isolated / ".config/uv/uv.toml").write_text('constraint-dependencies = ["six<1"]\n[pip]\nno-binary = [":all:"]\n')
    monkeypatch.delenv("PIP_CONFIG_FILE")
    monkeypatch.delenv("UV_NO_CONFIG")
    for name, value in {
        "PIP_CONSTRAINT": str(constraints),
        "PIP_NO_BINARY": ":all:",
        "PIP_TARGET": str(tmp_path / "elsewhere"),
        "UV_CONSTRAINT": str(constraints),
        "UV_NO_BINARY": "1",
        "UV_EXCLUDE_NEWER": "2001-01-01",
        "PYTHONPATH": str(tmp_path),
        "VIRTUALENV_SYSTEM_SITE_PACKAGES": "true",
    }.items():
        monkeypatch.setenv(name, value)

    assert install(lock_file(tmp_path, served_lock(server, SIX)), server, "--installer", installer) == 0

    assert says(store / "envs/fresh", "import six; print(six.__version__)") == "1.17.0"
    assert "include-system-site-packages = false" in (store / "envs/fresh/pyvenv.cfg").read_text()


@pytest.mark.parametrize("variable", ["ENVSOLVE_EXTRA_INDEX", "PIP_EXTRA_INDEX_URL"])
def test_another_index_has_other_bytes_under_the_same_name(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A company's own build of a public wheel: the index that has the lock's bytes serves it, whatever the order."""
    lock = lock_file(tmp_path, served_lock(server, SIX))
    with IndexServer() as company:
        company.add_package(StubWheel(name="six", version="1.17.0", modules={"six.py": "OTHER = True\n"}))
        monkeypatch.setenv(variable, company.simple)
        assert install(lock, server, "--installer", installer) == 0


def test_credentials_reach_the_index_and_nothing_else(
    store: Path, tmp_path: Path, server: IndexServer, installer: str, capsys: Output
) -> None:
    lock = lock_file(tmp_path, served_lock(server, SIX))
    for pattern in ("/simple/*", "/packages/*", "/whl/*"):
        server.require_login(pattern, "user", "p@ss word")
    index = server.simple.replace("//", "//user:p%40ss%20word@")

    assert run(["-v", *arguments(lock, server, "--installer", installer, "--index", index)]) == 0

    shown = capsys.readouterr()
    assert "p%40ss" not in shown.err + shown.out and "p@ss" not in shown.err + shown.out
    found = subprocess.run(["grep", "-rl", "-e", "p%40ss", "-e", "p@ss", str(store)], capture_output=True, text=True)
    assert found.stdout == ""


def test_files_on_this_disk_need_no_network(store: Path, tmp_path: Path, server: IndexServer, installer: str) -> None:
    wheels = tmp_path / "my wheels"
    wheels.mkdir()
    lock = lock_file(tmp_path, served_lock(server, SIX))
    server.write_tree(tmp_path / "tree")
    torch = next((tmp_path / "tree/whl/cpu").glob("torch-*.whl"))
    shutil.copy(torch, wheels)
    SIX.write(wheels)
    local = (wheels / torch.name).as_uri()
    text = "\n".join(
        f"torch @ {local}#{line.partition('#')[2]}" if line.startswith("torch @ ") else line
        for line in lock.read_text().splitlines()
    )
    asked = server.count()

    assert (
        install(
            lock_file(tmp_path, text + "\n"), server, "--offline", "--find-links", str(wheels), "--installer", installer
        )
        == 0
    )

    assert server.count() == asked


def test_a_mirror_serves_what_the_lock_names_by_the_official_address(
    store: Path, tmp_path: Path, server: IndexServer, installer: str
) -> None:
    text = served_lock(server, SIX).replace(server.whl, "https://download.pytorch.org/whl")

    assert install(lock_file(tmp_path, text), server, "--mirror", server.whl, "--installer", installer) == 0

    assert says(store / "envs/fresh", "import torch; print(torch.__version__)") == "2.11.0+cpu"


def test_a_lock_that_an_editor_on_windows_saved(store: Path, tmp_path: Path, server: IndexServer) -> None:
    lock = lock_file(tmp_path, served_lock(server))
    lock.write_bytes(b"\xef\xbb\xbf" + lock.read_bytes().replace(b"\n", b"\r\n"))
    assert install(lock, server) == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "can't read the lock {lock}: No such file or directory"),
        (b"\xff\xfet\x00", "can't read the lock {lock}: it is not a text in UTF-8"),
        (b"torch==2.11.0\n", "requirements.lock.txt was not made by envsolve"),
    ],
)
def test_a_file_that_is_no_lock(
    store: Path, tmp_path: Path, server: IndexServer, capsys: Output, content: bytes | None, said: str
) -> None:
    lock = tmp_path / "requirements.lock.txt"
    if content is not None:
        lock.write_bytes(content)
    assert install(lock, server) == 2
    assert said.format(lock=lock) in capsys.readouterr().err
    assert not builds(store)


def test_a_lock_for_another_system_is_refused(store: Path, tmp_path: Path, server: IndexServer, capsys: Output) -> None:
    from envsolve.lock import requirements_txt

    lock = lock_file(tmp_path, requirements_txt.write(stub_lock({}, [SIX], target="windows_amd64")))

    assert install(lock, server) == 1
    assert "windows_amd64" in capsys.readouterr().err


def test_a_python_that_is_nowhere_is_told_how_to_get(
    store: Path, tmp_path: Path, server: IndexServer, capsys: Output
) -> None:
    lock = lock_file(tmp_path, served_lock(server, python="3.99"))

    assert install(lock, server) == 3

    error = capsys.readouterr().err
    assert "no Python 3.99" in error and "uv python install 3.99" in error
    assert builds(store) == []


@pytest.mark.slow
@pytest.mark.parametrize(("minor", "tool"), [("3.6", "uv"), ("3.8", "uv"), ("3.8", "pip"), ("3.13", "pip")])
def test_an_older_or_newer_python_of_pyenv(
    store: Path, tmp_path: Path, server: IndexServer, minor: str, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = Path(os.environ.get("PYENV_ROOT") or Path(pwd.getpwuid(os.getuid()).pw_dir) / ".pyenv")
    if not list((root / "versions").glob(f"{minor}.*")):
        pytest.skip(f"pyenv has no Python {minor} here")
    monkeypatch.setenv("PYENV_ROOT", str(root))

    lock = lock_file(tmp_path, served_lock(server, SIX, python=minor))
    assert install(lock, server, "--installer", tool) == 0

    inside = says(store / "envs/fresh", "import sys, six, pip, torch; print('%d.%d' % sys.version_info[:2])")
    assert inside == minor


def test_json_says_where_it_is(store: Path, tmp_path: Path, server: IndexServer, capsys: Output) -> None:
    assert install(lock_file(tmp_path, served_lock(server)), server, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["schema"], said["name"], said["state"]) == (1, "fresh", "unverified")
    assert said["path"] == str(store / "envs/fresh")
    assert said["size_bytes"] > 1000


@pytest.mark.parametrize("name", ["../x", "a/b", "", ".hidden", "-x", "con", "x" * 65, "a b", "ä", "x\n"])
def test_a_name_that_is_a_path_or_a_trick_is_refused(
    store: Path, tmp_path: Path, server: IndexServer, name: str
) -> None:
    lock = lock_file(tmp_path, served_lock(server))
    assert run(["install", f"--name={name}", "--lock", str(lock), "--index", server.simple]) == 2
    assert not store.exists()


@pytest.mark.parametrize("place", [[], ["--name", "a", "--path", "b"]], ids=["neither", "both"])
def test_one_place_must_be_named(tmp_path: Path, server: IndexServer, place: list[str]) -> None:
    lock = lock_file(tmp_path, served_lock(server))
    assert run(["install", *place, "--lock", str(lock)]) == 2


def test_a_wheel_with_a_script_runs_it_from_the_environments_path(
    store: Path, tmp_path: Path, server: IndexServer
) -> None:
    tool = StubWheel(name="tool", version="1", modules={"tool.py": "print('ran')\n"})
    assert install(lock_file(tmp_path, served_lock(server, tool)), server) == 0
    assert says(store / "envs/fresh", "import tool") == "ran"
