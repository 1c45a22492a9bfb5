"""A project's own environment: envsolve install --path DIR."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.installing import SIX, builds, install, lock_file, says
from fakes.stub_locks import served_lock

Output = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def test_the_folder_is_the_environment(project: Path, server: IndexServer, capsys: Output) -> None:
    lock = lock_file(project, served_lock(server, SIX))

    assert install(lock, server, "--path", str(project / ".venv"), "--json") == 0

    said = json.loads(capsys.readouterr().out)
    assert (said["name"], said["path"]) == ("", str(project / ".venv"))
    assert says(project / ".venv", "import sys; print(sys.prefix)") == str(project / ".venv")
    assert (project / ".envsolve/.gitignore").read_text() == "*\n"


def test_a_relative_folder_with_dots(project: Path, server: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    lock = lock_file(project, served_lock(server))
    assert install(lock, server, "--path", "../project/.venv") == 0
    assert install(lock, server, "--path", ".venv") == 2
    assert says(project / ".venv", "import torch; print(torch.__version__)") == "2.11.0+cpu"


def test_replacing_goes_over_in_one_step(project: Path, server: IndexServer) -> None:
    folder = str(project / ".venv")
    assert install(lock_file(project, served_lock(server)), server, "--path", folder) == 0
    before = builds(project / ".envsolve")

    assert install(lock_file(project, served_lock(server, SIX)), server, "--path", folder, "--replace") == 0

    assert says(project / ".venv", "import six; print(six.__version__)") == "1.17.0"
    assert len(builds(project / ".envsolve")) == 1 and builds(project / ".envsolve") != before


@pytest.mark.parametrize("replace", [[], ["--replace"]], ids=["plain", "replace"])
@pytest.mark.parametrize("kind", ["folder", "file", "link"])
def test_what_envsolve_did_not_make_is_never_touched(
    project: Path, server: IndexServer, capsys: Output, kind: str, replace: list[str]
) -> None:
    lock, place = lock_file(project, served_lock(server)), project / "precious"
    if kind == "folder":
        place.mkdir()
        (place / "thesis.tex").write_text("years of work")
    elif kind == "file":
        place.write_text("years of work")
    else:
        (project / "elsewhere").mkdir()
        place.symlink_to("elsewhere")
    before = sorted(project.rglob("*"))

    assert install(lock, server, "--path", str(place), *replace) == 2

    assert "envsolve didn't make it" in capsys.readouterr().err
    assert sorted(project.rglob("*")) == before


def test_a_link_that_was_removed_by_hand_is_made_anew(project: Path, server: IndexServer) -> None:
    lock, folder = lock_file(project, served_lock(server)), project / ".venv"
    assert install(lock, server, "--path", str(folder)) == 0
    folder.unlink()

    assert install(lock, server, "--path", str(folder)) == 0

    assert len(builds(project / ".envsolve")) == 1


def test_two_environments_of_one_project_do_not_mix(project: Path, server: IndexServer) -> None:
    lock = lock_file(project, served_lock(server))
    assert install(lock, server, "--path", str(project / ".venv")) == 0
    assert install(lock, server, "--path", str(project / ".venv-2")) == 0
    assert install(lock, server, "--path", str(project / ".venv"), "--replace") == 0
    assert len(builds(project / ".envsolve")) == 2


def test_a_folder_in_a_folder_that_is_not_there(project: Path, server: IndexServer) -> None:
    lock = lock_file(project, served_lock(server))
    assert install(lock, server, "--path", str(project / "no/such/.venv")) == 2


def test_a_project_is_not_listed_among_the_names(
    project: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    assert install(lock_file(project, served_lock(server)), server, "--path", str(project / ".venv")) == 0
    capsys.readouterr()
    assert run(["envs", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["environments"] == []
