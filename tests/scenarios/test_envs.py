"""envsolve envs: list, path, run, remove."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.installing import builds, install, lock_file, python_of
from fakes.stub_locks import served_lock

Output = pytest.CaptureFixture[str]


@pytest.fixture
def fresh(store: Path, tmp_path: Path, server: IndexServer, capsys: Output) -> Path:
    assert install(lock_file(tmp_path, served_lock(server)), server) == 0
    capsys.readouterr()
    return store / "envs/fresh"


def envs(*more: str, **rest: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "envsolve", "envs", *more], capture_output=True, text=True, timeout=120, **rest
    )  # type: ignore[call-overload,no-any-return]


def test_an_empty_store(store: Path, capsys: Output) -> None:
    assert run(["envs", "list"]) == 0
    shown = capsys.readouterr()
    assert shown.out == "" and "envsolve install" in shown.err
    assert not store.exists()


def test_list_is_a_table_and_json(fresh: Path, capsys: Output) -> None:
    assert run(["envs", "list"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.split() == ["NAME", "STATE", "PYTHON", "TORCH", "SIZE", "PATH"]
    assert row.split()[:2] == ["fresh", "unverified"] and str(fresh) in row

    assert run(["envs", "list", "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["environments"]
    assert (one["name"], one["torch"], one["variant"]) == ("fresh", "2.11.0+cpu", "cpu")
    assert len(one["lock_sha256"]) == 64 and one["verification"] is None


def test_path_is_the_folder_alone(fresh: Path, capsys: Output) -> None:
    assert run(["envs", "path", "fresh"]) == 0
    assert capsys.readouterr().out == f"{fresh}\n"


@pytest.mark.parametrize("command", [["path"], ["run"], ["remove"]])
def test_a_name_that_is_not_there(fresh: Path, capsys: Output, command: list[str]) -> None:
    assert run(["envs", *command, "frehs", *(["true"] if command == ["run"] else [])]) == 2
    assert "there is no environment 'frehs'" in capsys.readouterr().err
    assert fresh.exists()


def test_run_uses_the_environment_and_passes_everything_through(fresh: Path) -> None:
    code = (
        "import sys, os, torch; print(sys.argv[1:], os.environ['VIRTUAL_ENV']); sys.stderr.write(input()); sys.exit(7)"
    )
    done = envs("run", "fresh", "--", "python", "-c", code, "--json", "-v", "--", "x y", input="heard\n")
    assert done.returncode == 7
    assert done.stdout.startswith("['--json', '-v', '--', 'x y'] ")
    assert done.stderr == "heard"


def test_run_without_the_dashes(fresh: Path) -> None:
    assert envs("run", "fresh", "python", "-c", "print(1)").stdout == "1\n"


def test_a_signal_that_ends_the_program_is_seen(fresh: Path) -> None:
    done = envs("run", "fresh", "--", "python", "-c", "import os; os.kill(os.getpid(), 15)")
    assert done.returncode == -signal.SIGTERM


def test_run_of_a_program_that_is_not_there(fresh: Path) -> None:
    done = envs("run", "fresh", "--", "no-such-program")
    assert done.returncode == 2 and "there is no program 'no-such-program'" in done.stderr


@pytest.fixture
def condas(fresh: Path) -> Path:
    """An environment as conda makes them: with what a package wants to be run for activation."""
    (fresh / "conda-meta").mkdir()
    scripts = fresh / "etc/conda/activate.d"
    scripts.mkdir(parents=True)
    (scripts / "a-cuda.sh").write_text('export CUDA_HOME="$CONDA_PREFIX/targets" SEEN="$#" FIRST=a\nfalse\n')
    (scripts / "b.sh").write_text('export FIRST="$FIRST b"\n')
    (scripts / "c.fish").write_text("not for this shell")
    return fresh


_SHOW = "import os, sys; print(os.environ.get('CUDA_HOME'), os.environ.get('SEEN'), os.environ.get('FIRST'), sys.argv)"


@pytest.mark.skipif(sys.platform == "win32", reason="the scripts are for POSIX shells")
def test_condas_activation_scripts_run_as_with_conda_run(condas: Path) -> None:
    done = envs("run", "fresh", "--", "python", "-c", _SHOW, "x y", "$HOME", "*")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"{condas.resolve()}/targets 0 a b ['-c', 'x y', '$HOME', '*']"
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_no_shell_stays_between(condas: Path) -> None:
    done = envs("run", "fresh", "--", "python", "-c", "import os; os.kill(os.getpid(), 15)")
    assert done.returncode == -signal.SIGTERM
    done = envs(
        "run", "fresh", "--", "python", "-c", "import sys; sys.stderr.write(input()); sys.exit(7)", input="in\n"
    )
    assert (done.returncode, done.stderr) == (7, "in")


@pytest.mark.parametrize(
    "state", ['{"env_vars": {"MODE": "fast", "GONE": "***unset***"}}', "{", '{"env_vars": []}', "[]"]
)
def test_variables_that_were_set_for_condas(condas: Path, state: str) -> None:
    (condas / "conda-meta/state").write_text(state)
    done = envs("run", "fresh", "--", "python", "-c", "import os; print(os.environ.get('MODE'), 'GONE' in os.environ)")
    assert done.stdout == ("fast False\n" if "fast" in state else "None False\n"), done.stderr


def test_remove(store: Path, fresh: Path, capsys: Output) -> None:
    assert run(["envs", "remove", "fresh"]) == 0
    assert not os.path.lexists(fresh) and builds(store) == []
    assert run(["envs", "list"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc")
@pytest.mark.parametrize("how", ["envs run", "its own python"])
def test_remove_refuses_while_a_program_runs_in_it(store: Path, fresh: Path, capsys: Output, how: str) -> None:
    start = [sys.executable, "-m", "envsolve", "envs", "run", "fresh", "--", "python"]
    start = start if how == "envs run" else [str(python_of(store / "builds" / builds(store)[0]))]
    code = "print('up', flush=True); input()"
    with subprocess.Popen([*start, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout and program.stdout.readline() == "up\n"
        assert run(["envs", "remove", "fresh"]) == 1
        assert "in use" in capsys.readouterr().err
        assert python_of(fresh).exists()
        program.communicate("\n")
    assert run(["envs", "remove", "fresh"]) == 0


def test_remove_needs_the_exact_name(fresh: Path) -> None:
    assert run(["envs", "remove", "Fresh"]) == 2
    assert run(["envs", "remove", "../envs/fresh"]) == 2
    assert fresh.exists()


def test_one_whose_marker_is_damaged_is_named_and_not_overwritten(
    fresh: Path, store: Path, tmp_path: Path, server: IndexServer, capsys: Output
) -> None:
    (fresh / "envsolve.json").write_text("garbage")
    (store / "envs" / "not a name").mkdir()
    assert run(["envs", "list"]) == 0
    assert "fresh can't be read; to be rid of it: envsolve envs remove fresh" in capsys.readouterr().err
    lock = lock_file(tmp_path, served_lock(server))
    assert install(lock, server) == 2
    assert "exists already" in capsys.readouterr().err
    assert install(lock, server, "--replace") == 0
    (fresh / "envsolve.json").write_text("garbage")
    assert run(["envs", "remove", "fresh"]) == 0
    assert builds(store) == []
