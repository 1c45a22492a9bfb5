"""`envsolve init`: a project gets its lock, its declaration and its check, or nothing; run again, no change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.keeping.readme_section import END, START
from fakes.lock_world import LINUX, WINDOWS, LockWorld, lock_world, names

Output = pytest.CaptureFixture[str]
DEFAULT = "requirements.lock.txt"
OTHER = LINUX.replace("RTX 5070 Ti", "RTX 5090")
DAY = ("--today", "2026-12-01")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.17")
        (tmp_path / "project").mkdir()
        monkeypatch.chdir(tmp_path / "project")
        yield ready


def init(world: LockWorld, *words: str, targets: tuple[str, ...] = (LINUX,)) -> int:
    chosen = [word for target in targets for word in ("--target", target)]
    return run(["init", *words, *chosen, "--mirror", world.server.whl, "--index", world.server.simple])


def files() -> dict[str, bytes]:
    return {path.as_posix(): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


def test_an_empty_folder_gets_all_of_it(world: LockWorld, capsys: Output) -> None:
    assert init(world, "--readme", "--ci", "github") == 0
    assert capsys.readouterr().err == (
        "wrote requirements.in\nwrote requirements.lock.txt\nwrote .envsolve.toml\nwrote README.md\n"
        "wrote .github/workflows/envsolve.yml\nnext: commit them; `envsolve check` holds the locks to .envsolve.toml\n"
    )
    assert Path("requirements.in").read_text() == "torch\ntorchvision\ntorchaudio\n"
    assert Path(".envsolve.toml").read_text() == (
        "# What this project must run on, and the locks that answer it. Made by envsolve init; edit it as you like.\n"
        "# `envsolve check` holds the locks to it.\n"
        'schema = 1\nrequirements = ["requirements.in"]\nlocks = ["requirements.lock.txt"]\n\n'
        f'[[targets]]\nmachine = "{LINUX}"\n'
    )
    assert Path("README.md").read_text() == (
        "<!-- envsolve init: what stands between these two lines is written anew -->\n"
        "## Tested on\n\n| machine | Python | torch | runs as | lock |\n| --- | --- | --- | --- | --- |\n"
        "| RTX 5070 Ti, driver 570.86.10, linux x86_64 | 3.12 | 2.11.0+cu128 | RTX 5070 Ti: native sm_120 "
        "| `requirements.lock.txt` |\n\n"
        "The locks are judged for these machines: `envsolve install --lock requirements.lock.txt` makes the environment"
        " and\nproves it on the GPU, `envsolve check` says whether the locks still fit.\n"
        "<!-- envsolve init: end -->\n"
    )
    assert [name.split("-")[0] for name in names(DEFAULT)] == ["torch", "torchaudio", "torchvision"]
    assert "#     envsolve lock -r requirements.in --target" in Path(DEFAULT).read_text()
    capsys.readouterr()
    assert run(["check", *DAY]) == 0
    assert run(["lock", "--check"]) == 0


def test_twice_changes_nothing(world: LockWorld, capsys: Output) -> None:
    assert init(world, "--readme", "--ci", "github") == 0
    before = files()
    assert init(world, "--readme", "--ci", "github") == 0
    assert init(world, targets=()) == 0  # what it was made with is declared
    assert files() == before
    said = capsys.readouterr().err
    assert said.count("unchanged .envsolve.toml") == 2 and said.count("wrote .envsolve.toml") == 1


def test_a_dry_run_shows_the_diff_and_writes_nothing(world: LockWorld, capsys: Output) -> None:
    Path("README.md").write_text("# app\n")
    before = files()
    assert init(world, "torch", "--dry-run") == 0
    assert files() == before
    said = capsys.readouterr()
    assert "--- /dev/null\n+++ b/requirements.in\n@@ -0,0 +1 @@\n+torch\n" in said.out
    assert "--- a/README.md\n+++ b/README.md\n" in said.out
    assert "would write requirements.lock.txt" in said.err


PROJECT = """\
[build-system]
requires = ["hatchling"]   # as it was

[project]
name = "app"
version = "1"
dependencies = [
    "six>=1.17",  # needed
]
"""


def test_a_pyproject_keeps_every_other_byte(world: LockWorld) -> None:
    Path("pyproject.toml").write_bytes(PROJECT.replace("\n", "\r\n").encode())
    assert init(world, "torch", "torchvision") == 0
    expected = PROJECT.replace('    "six', '    "torch",\n    "torchvision",\n    "six')
    assert Path("pyproject.toml").read_bytes() == expected.replace("\n", "\r\n").encode()
    assert not Path("requirements.in").exists()
    assert 'requirements = ["pyproject.toml"]' in Path(".envsolve.toml").read_text()
    assert [name.split("-")[0] for name in names(DEFAULT)] == ["six==1.17", "torch", "torchvision"]
    before = files()
    assert init(world, "torch", "torchvision") == 0
    assert files() == before
    assert run(["check", *DAY]) == 0


def test_a_pyproject_that_asks_for_torch_is_not_touched(world: LockWorld) -> None:
    Path("pyproject.toml").write_text(PROJECT.replace('"six>=1.17"', '"torch<2.11"'))
    before = Path("pyproject.toml").read_bytes()
    assert init(world) == 0
    assert Path("pyproject.toml").read_bytes() == before
    assert names(DEFAULT) == ["torch-2.10.0%2Bcu128"]


def test_requirements_that_are_there_are_used_and_added_to(world: LockWorld) -> None:
    Path("requirements.in").write_text("# ours\nsix")
    assert init(world, "torch") == 0
    assert Path("requirements.in").read_text() == "# ours\nsix\ntorch\n"
    assert names(DEFAULT) == ["six==1.17", "torch-2.11.0%2Bcu128"]


def test_targets_that_one_file_can_not_hold_get_one_each(world: LockWorld, capsys: Output) -> None:
    assert init(world, "torch", targets=(LINUX, OTHER)) == 0
    text = Path(".envsolve.toml").read_text()
    assert 'locks = ["lockfiles/rtx-5070-ti-linux-x86-64.txt"]' in text
    assert 'locks = ["lockfiles/rtx-5090-linux-x86-64.txt"]' in text
    assert run(["check", *DAY]) == 0
    before = files()
    assert init(world, targets=()) == 0
    assert files() == before
    assert run(["lock", "--check", "-o", "lockfiles/"]) == 0
    assert run(["lock", "--check", "-o", "lockfiles/", "--json"]) == 2
    Path("requirements.in").write_text("torch\nsix\n")
    assert run(["lock", "--check", "-o", "lockfiles/"]) == 1
    assert run(["lock", "--upgrade", "-o", "lockfiles/"]) == 0
    assert run(["check", *DAY]) == 0


def test_several_formats_for_several_targets(world: LockWorld) -> None:
    assert init(world, "torch", "six", "-o", "a.txt", "-o", "pylock.toml", targets=(LINUX, WINDOWS)) == 0
    assert 'locks = ["a.txt", "pylock.toml"]' in Path(".envsolve.toml").read_text()
    assert run(["check", *DAY]) == 0


def test_a_target_is_completed_so_that_ci_reads_the_same(world: LockWorld) -> None:
    from envsolve.machine.host import this_host

    assert init(world, "torch", "--python", "3.12", "--dry-run", targets=("RTX 5070 Ti,driver=570.86.10",)) in (0, 1)
    here = this_host()
    if here.platform == "linux_x86_64":
        assert init(world, "torch", "--python", "3.12", targets=("RTX 5070 Ti,driver=570.86.10",)) == 0
        machine = "RTX 5070 Ti,driver=570.86.10,python=3.12,os=linux,arch=x86_64"
        assert f'machine = "{machine}"' in Path(".envsolve.toml").read_text()


def test_without_a_target_it_is_this_machine(world: LockWorld, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    from envsolve.machine.host import this_host

    if this_host().platform != "linux_x86_64":
        pytest.skip("the stub wheels are Linux x86-64 builds")
    monkeypatch.setenv("ENVSOLVE_GPUS", "RTX 5070 Ti")
    monkeypatch.setenv("ENVSOLVE_DRIVER", "570.86.10")
    assert init(world, "torch", "--python", "3.12", targets=()) == 0
    (line,) = (line for line in Path(".envsolve.toml").read_text().splitlines() if line.startswith("machine = "))
    assert line.startswith('machine = "RTX 5070 Ti,') and "driver=570.86.10,python=3.12,os=linux,arch=x86_64" in line
    monkeypatch.delenv("ENVSOLVE_GPUS")
    monkeypatch.delenv("ENVSOLVE_DRIVER")  # CI has neither
    before = files()
    assert run(["check", *DAY]) == 0
    assert init(world, targets=()) == 0
    assert files() == before


def test_a_profile_inside_the_project_is_named_and_one_outside_is_written_out(world: LockWorld) -> None:
    Path("machines").mkdir()
    assert run(["detect", "--target", LINUX, "-o", "machines/lab.json"]) == 0
    assert run(["detect", "--target", LINUX, "-o", "../lab.json"]) == 0
    assert init(world, "torch", targets=("machines/lab.json",)) == 0
    assert 'machine = "machines/lab.json"' in Path(".envsolve.toml").read_text()
    assert run(["check", *DAY]) == 0
    assert init(world, "--force", targets=("../lab.json",)) == 0
    assert 'machine = "RTX 5070 Ti,' in Path(".envsolve.toml").read_text()


def test_from_another_folder(world: LockWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert init(world, "torch", "--project", "project") == 0
    assert (tmp_path / "project/requirements.in").is_file() and not (tmp_path / "requirements.in").exists()
    assert run(["check", "--project", "project", *DAY]) == 0
    (tmp_path / "project/deep").mkdir()
    monkeypatch.chdir(tmp_path / "project/deep")
    assert run(["check", *DAY]) == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("torch=1",), "'torch=1' is not a requirement"),
        (("--project", "nowhere"), "nowhere is no folder"),
        (("-r", "absent.in"), "can't read absent.in"),
        (("-r", "../absent.in"), "lies outside the project"),
        (("-o", "lock.json"), "no lock format goes with the name"),
        (("--target", "RTX 4090,drivr=1"), "unknown key 'drivr'"),
        (("--gpus", "visible"), "is of this shell"),
        (("--extra", "gpu"), "--extra goes with a pyproject.toml"),
    ],
)
def test_bad_input_writes_nothing(world: LockWorld, capsys: Output, words: tuple[str, ...], told: str) -> None:
    assert init(world, *words) == 2
    assert told in capsys.readouterr().err
    assert files() == {}


def test_no_lock_no_files(world: LockWorld, capsys: Output) -> None:
    assert init(world, "torch==2.11.0", targets=(LINUX.replace("RTX 5070 Ti", "GTX 1080 Ti"),)) == 1
    assert "6.1" in capsys.readouterr().out
    assert init(world, "torch", "nosuch") == 1
    assert init(world, "torch", "--variant", "cu126", "--variant", "cpu") == 1
    assert "gets cu128, and cu126 or cpu is allowed" in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_what_is_there_is_not_overwritten_without_force(world: LockWorld, capsys: Output) -> None:
    assert init(world, "torch") == 0
    before = files()
    assert init(world, "--python", "3.11", targets=()) == 2
    assert "--python goes with --target" in capsys.readouterr().err
    assert init(world, targets=(OTHER,)) == 2
    assert ".envsolve.toml is there and says otherwise" in capsys.readouterr().err
    Path("requirements.in").write_text("torch<2.11\n")
    assert init(world) == 2
    assert "requirements.lock.txt is there and would change" in capsys.readouterr().err
    assert {**files(), "requirements.in": b""} == {**before, "requirements.in": b""}
    assert init(world, "--force") == 0
    assert names(DEFAULT) == ["torch-2.10.0%2Bcu128"]


def test_foreign_files_stay(world: LockWorld, capsys: Output) -> None:
    Path(DEFAULT).write_text("torch==2.1\n")
    assert init(world, "torch", "--force") == 2
    assert "was not made by envsolve" in capsys.readouterr().err
    Path(DEFAULT).unlink()
    Path(".github/workflows").mkdir(parents=True)
    Path(".github/workflows/envsolve.yml").write_text("name: mine\n")
    assert init(world, "torch", "--ci", "github", "--force") == 2
    assert "envsolve.yml is there and was not made by envsolve init" in capsys.readouterr().err
    assert not Path("requirements.in").exists()
    assert init(world, "torch", "--force") == 0
    assert "is somebody's own and was left alone" in capsys.readouterr().err
    assert Path(".github/workflows/envsolve.yml").read_text() == "name: mine\n"


def test_a_disk_that_fails_leaves_nothing(world: LockWorld, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert init(world, "torch", "--ci", "github") == 3
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("error", [OSError(1, "Operation not permitted"), KeyboardInterrupt()])
def test_one_file_that_can_not_be_replaced_leaves_the_others_as_they_were(
    world: LockWorld, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    Path("requirements.in").write_text("# ours\nsix\n")
    Path("README.md").write_text("# app\n")
    before = files()
    replace = Path.replace

    def immutable(self: Path, target: Path) -> Path:
        if target.name == "README.md":
            raise error
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", immutable)
    assert init(world, "torch", "--ci", "github") == (130 if isinstance(error, KeyboardInterrupt) else 3)
    assert files() == before and not Path(".github").exists()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_readme_that_is_a_link_stays_one(world: LockWorld) -> None:
    Path("docs").mkdir()
    Path("docs/README.md").write_text("# app\n")
    Path("README.md").symlink_to("docs/README.md")
    assert init(world) == 0
    assert Path("README.md").is_symlink() and "## Tested on" in Path("docs/README.md").read_text()


def test_as_json(world: LockWorld, capsys: Output) -> None:
    assert init(world, "torch", "--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["files"] == [
        {"path": name, "written": True} for name in ("requirements.in", DEFAULT, ".envsolve.toml")
    ]
    assert answer["targets"] == [LINUX]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("setup.py", 'setup(install_requires=["six"])\n'),
        ("setup.cfg", "[options]\ninstall_requires = six\n"),
        ("Pipfile", '[packages]\nsix = "*"\n'),
        ("pyproject.toml", '[tool.poetry.dependencies]\nsix = "*"\n'),
        ("pyproject.toml", '[project]\nname = "a"\nversion = "1"\ndynamic = ["dependencies"]\n'),
        ("requirements/base.txt", "six\n"),
    ],
)
def test_what_is_not_read_is_told(world: LockWorld, capsys: Output, file: str, text: str) -> None:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text(text)
    assert init(world) == 0
    assert f"note: {file.split('base')[0]} is not read" in capsys.readouterr().err
    assert init(world) == 0
    assert "is not read" not in capsys.readouterr().err  # requirements.in is there now


def test_a_conda_project(world: LockWorld) -> None:
    Path("environment.yml").write_text("dependencies:\n  - python=3.12\n  - six\n  - pip:\n    - torch\n")
    assert init(world) == 0
    assert 'requirements = ["environment.yml"]' in Path(".envsolve.toml").read_text()
    assert names(DEFAULT) == ["six==1.17", "torch-2.11.0%2Bcu128"]
    assert run(["check", *DAY]) == 0


def test_a_readme_in_another_case_with_other_line_ends(world: LockWorld) -> None:
    Path("readme.md").write_bytes("\ufeff# app\r\n".encode())
    assert init(world) == 0
    made = Path("readme.md").read_bytes()
    assert made.startswith("\ufeff# app\r\n".encode()) and made.count(b"\n") == made.count(b"\r\n") > 5
    assert init(world) == 0
    assert Path("readme.md").read_bytes() == made and not Path("README.md").exists()


@pytest.mark.parametrize("text", ["# app\n{start}\nours\n", "# app\n{end}\nours\n"])
def test_a_readme_that_lost_a_mark_is_left_alone(world: LockWorld, capsys: Output, text: str) -> None:
    Path("README.md").write_text(text.format(start=START, end=END))
    before = files()
    assert init(world) == 2
    assert "has lost one of the marks" in capsys.readouterr().err
    assert files() == before


def test_a_readme_of_another_encoding(world: LockWorld, capsys: Output) -> None:
    Path("README.md").write_bytes("# \u00fcber\n".encode("latin-1"))
    before = files()
    assert init(world) == 2
    assert "README.md is not UTF-8 text" in capsys.readouterr().err
    assert files() == before
    assert init(world, "--no-readme") == 0


def test_a_project_in_a_folder_of_a_repository(world: LockWorld, capsys: Output) -> None:
    Path(".git").mkdir()
    Path(".github").mkdir()
    Path("pkg/my app").mkdir(parents=True)
    assert init(world, "--project", "pkg/my app") == 0
    workflow = Path(".github/workflows/envsolve-pkg-my-app.yml")
    assert "- run: envsolve check --project 'pkg/my app' --format github\n" in workflow.read_text()
    assert not Path("pkg/my app/.github").exists()
    before = files()
    assert init(world, "--project", "pkg/my app", "--ci", "github") == 0
    assert files() == before
    capsys.readouterr()
    assert run(["check", "--project", "pkg/my app", *DAY]) == 0


def test_a_submodule_is_a_repository_of_its_own(world: LockWorld) -> None:
    Path(".git").mkdir()
    Path(".github").mkdir()
    Path("sub/.github").mkdir(parents=True)
    Path("sub/.git").write_text("gitdir: ../.git/modules/sub\n")
    assert init(world, "--project", "sub") == 0
    assert Path("sub/.github/workflows/envsolve.yml").is_file() and not Path(".github/workflows").exists()
