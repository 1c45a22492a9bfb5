"""What a lock's header says that it was made from, read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.cli.command_line import lock_command
from envsolve.cli.planned import Asked
from envsolve.cli.recorded import parse_command, recorded_in
from envsolve.errors import InputError
from envsolve.lock.header import command_in
from envsolve.lock.newer import NewerLockError
from envsolve.machine.target import looks_like_path

_WORDS = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8).filter(
    lambda text: not text.startswith(("-", "/")) and ":" not in text and "\\" not in text
)
_LISTS = st.lists(_WORDS, max_size=2)


@given(
    asked=st.builds(
        Asked,
        requirements=_LISTS,
        files=_LISTS.map(lambda names: [Path(name) for name in names]),
        constraints=_LISTS.map(lambda names: [Path(name) for name in names]),
        extras=_LISTS,
        groups=_LISTS,
        python=st.none() | st.just("3.12"),
        gpus=st.sampled_from(["all", "best", "0,1"]),
        variant=st.none() | st.just("cu126"),
        sdists=st.booleans(),
    ),
    targets=st.lists(_WORDS, max_size=2),
)
def test_a_command_reads_back_as_what_was_asked(asked: Asked, targets: list[str]) -> None:
    read = parse_command(asked.command({"--index": "https://host.example/simple"}, targets=targets), "a.txt")
    assert read.asked(Asked(), another_machine=False) == asked
    assert read.targets() == [str(Path(text)) if looks_like_path(text) else text for text in targets]
    assert read.options["--index"] == ("https://host.example/simple",)


def test_what_is_said_outranks_the_header_and_another_machine_has_its_own_python() -> None:
    read = parse_command("envsolve lock torch --python 3.11 --gpus 0 --variant cu126", "a.txt")
    assert read.asked(Asked(python="3.12"), another_machine=False).python == "3.12"
    other = read.asked(Asked(), another_machine=True)
    assert (other.requirements, other.python, other.gpus, other.variant) == (["torch"], None, "all", "cu126")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("pip install torch", "names no `envsolve lock` command"),
        ("envsolve lock 'torch", "can't be read"),
        ("envsolve lock torch --frobnicate 3", "'--frobnicate', which is not known here"),
        ("envsolve lock torch --python", "'--python'"),
    ],
)
def test_a_line_that_is_no_command_is_refused(line: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        parse_command(line, "a.txt")


def test_a_file_beside_the_lock_is_found_from_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("app").mkdir()
    Path("app/requirements.in").touch()
    Path("app/a.txt").write_text(_text(lock_command([], {"-r": Path("requirements.in")})))
    ((names, found),) = recorded_in(["app/a.txt"], "b.txt")
    assert names == ["app/a.txt"]
    assert found.asked(Asked(), another_machine=False).files == [Path("app/requirements.in")]


def test_locks_of_different_commands_are_made_again_each_by_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(_text("envsolve lock torch"))
    Path("b.txt").write_text(_text("envsolve lock numpy"))
    Path("other.txt").write_text(_text("envsolve lock torch"))
    Path("notes.txt").write_text("somebody's own")
    Path("notes.md").write_text("made by envsolve, says somebody")

    def names(*given: str) -> list[list[str]]:
        return [names for names, _ in recorded_in(list(given), "requirements.lock.txt")]

    assert names("none.txt") == names() == []
    assert names("a.txt", "other.txt") == [["a.txt", "other.txt"]]
    assert names("a.txt", "b.txt") == [["a.txt"], ["b.txt"]]
    assert names(".") == [["a.txt", "other.txt"], ["b.txt"]]
    Path("c.txt").write_text(_text("envsolve lock torch --target x --target y"))
    with pytest.raises(InputError, match="holds locks of several commands"):
        names(".")


def test_a_lock_without_its_command_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("# made by envsolve 0.1.0\nsix==1\n")
    with pytest.raises(InputError, match=r"a\.txt doesn't say what it was made from"):
        recorded_in([], "a.txt")


def test_a_newer_lock_is_left_to_a_newer_envsolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text(_text("envsolve lock torch").replace("0.1.0", "99.0") + "# colour: blue\n")
    with pytest.raises(NewerLockError):
        recorded_in([], "a.txt")


def test_the_command_is_read_from_a_header_above_anything() -> None:
    assert command_in(_text("envsolve lock torch -r x.in") + "### broken\n") == "envsolve lock torch -r x.in"
    assert command_in("# a file of somebody's\n") == ""


def _text(command: str) -> str:
    """A lock's text whose packages were edited by hand: nothing reads it but its header."""
    return (
        f"# made by envsolve 0.1.0; to change it, run this again:\n#     {command}\n# target: t\n# python: 3.12\n"
        "# platform: linux_x86_64\n# variant: cpu\n# index: \n# rules: 0\nby hand\n"
    )
