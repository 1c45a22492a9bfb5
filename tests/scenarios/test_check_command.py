"""`envsolve check`: green after init; red with its reason when the lock, the card or the requirements change; early
warnings of what ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from envsolve.cli.app import run
from fakes.lock_world import LINUX, LINUX_312, WINDOWS, LockWorld, lock_world
from fakes.stub_wheels import stub_family

Output = pytest.CaptureFixture[str]
LOCK = Path("requirements.lock.txt")
CONFIG = Path(".envsolve.toml")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.16")
        Path("requirements.in").write_text("torch\nsix\n")
        yield ready


@pytest.fixture
def project(world: LockWorld, capsys: Output) -> LockWorld:
    assert init(world) == 0
    capsys.readouterr()
    world.server.requests.clear()
    return world


def init(world: LockWorld, *words: str, target: str = LINUX) -> int:
    return run(["init", *words, "--target", target, "--mirror", world.server.whl, "--index", world.server.simple])


def check(*words: str, today: str = "2026-12-01") -> int:
    return run(["check", "--today", today, *words])


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def test_it_is_green_after_init_and_asks_no_index(project: LockWorld, capsys: Output) -> None:
    assert check() == 0
    said = capsys.readouterr()
    assert said.out == (f"{LINUX}\n  fits: requirements.lock.txt: torch 2.11.0+cu128; RTX 5070 Ti: native sm_120\n")
    assert said.err == (
        f"warning: {LINUX}\n"
        "  cu128: torch 2.11.0 is the last that is published with it, 2.15.0 is not (certainty: high) "
        "[variant-last-wheel]\n"
        "    torch 2.15.0 comes as cu130, cu132\n"
        "  driver 570.86.10: branch R570 ended 2026-02 (certainty: high) [driver-ended]\n"
        "    R620 (LTS) is kept until 2029-09; envsolve driver says how\n"
    )
    assert project.server.requests == []


def test_strict_makes_warnings_count(project: LockWorld) -> None:
    assert check("--strict") == 1
    edit(CONFIG, "driver=570.86.10", "driver=620.70.06")
    assert check("--strict") == 1  # cu128 is no longer published


def test_nothing_ends_nothing_is_warned_of(world: LockWorld, capsys: Output) -> None:
    for wheel in stub_family("cu130", tag=LINUX_312, torch="2.15.0"):
        world.server.add_wheel("cu130", wheel)
    assert init(world, target=LINUX.replace("570.86.10", "580.65.06")) == 0
    capsys.readouterr()
    assert check("--strict") == 0
    assert capsys.readouterr().err == ""


def test_a_card_that_the_lock_does_not_run_on(project: LockWorld, capsys: Output) -> None:
    edit(CONFIG, "RTX 5070 Ti,driver=570.86.10", "GTX 1080 Ti,driver=580.65.06")
    assert check() == 1
    target = LINUX.replace("RTX 5070 Ti,driver=570.86.10", "GTX 1080 Ti,driver=580.65.06")
    assert capsys.readouterr().out == (
        f"{target}\n  does not fit:\n"
        "    requirements.lock.txt: torch 2.11.0 (cu128) does not run: no kernels for 6.1 (has 7.5 8.0 8.6 9.0 10.0 "
        "12.0) [does-not-run]\n"
        f"      envsolve plan --target '{target}' says what does; envsolve lock --upgrade takes it\n"
    )


def test_a_driver_that_is_too_old(project: LockWorld, capsys: Output) -> None:
    edit(CONFIG, "driver=570.86.10", "driver=470.82.01")
    assert check() == 1
    assert "starts with driver branch R570" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("six\n", "six>=1.17\n", "requirements.in asks for six>=1.17, and the lock has 1.16 [requirement-unmet]"),
        (
            "six\n",
            "six\nnumpy\n",
            "requirements.in asks for numpy, and the lock does not hold it [requirement-missing]",
        ),
        ("six\n", "", "holds six because it was asked for, and requirements.in no longer does [no-longer-asked]"),
        ("torch\n", "torch<2.11\n", "asks for torch<2.11, and the lock has 2.11.0+cu128 [requirement-unmet]"),
        ("torch\n", "torch==2.11.0+cu126\n", "asks for torch==2.11.0+cu126, and the lock has 2.11.0+cu128"),
        ("six\n", "six @ https://host.example/six-1.16-py3-none-any.whl\n", None),
        ("six\n", "six ; sys_platform == 'win32'\n", "no longer does"),
    ],
)
def test_requirements_that_have_changed(
    project: LockWorld, capsys: Output, before: str, after: str, told: str | None
) -> None:
    edit(Path("requirements.in"), before, after)
    assert check() == (0 if told is None else 1)
    assert told is None or told in capsys.readouterr().out


def test_a_constraint(project: LockWorld, capsys: Output) -> None:
    Path("caps.txt").write_text("six<1.16\nabsent==1\n")
    edit(CONFIG, 'requirements = ["requirements.in"]', 'requirements = ["requirements.in"]\nconstraints = ["caps.txt"]')
    assert check() == 1
    assert "a constraint says six<1.16, and the lock has 1.16" in capsys.readouterr().out


def test_a_lock_edited_by_hand(project: LockWorld, capsys: Output) -> None:
    text = LOCK.read_text()
    hashed = next(line for line in text.splitlines() if "--hash=sha256:" in line)
    LOCK.write_text(text.replace(hashed + "\n", ""))
    assert check() == 1
    assert "six==1.16 has no hash [lock-unreadable]" in capsys.readouterr().out
    LOCK.write_text(text + "by hand\n")
    assert check() == 1
    assert (
        "requirements.lock.txt: line 15: not a line of a lock: 'by hand' [lock-unreadable]" in capsys.readouterr().out
    )
    LOCK.unlink()
    assert check() == 1
    assert "requirements.lock.txt: is not there [lock-missing]" in capsys.readouterr().out


def test_a_target_that_the_lock_does_not_hold(project: LockWorld, capsys: Output) -> None:
    CONFIG.write_text(CONFIG.read_text() + f'\n[[targets]]\nmachine = "{WINDOWS}"\n')
    assert check() == 1
    out = capsys.readouterr().out
    assert f"{LINUX}\n  fits: " in out
    assert "holds no lock for windows_amd64 with Python 3.12: it holds linux_x86_64 with Python 3.12" in out


def test_an_older_glibc(project: LockWorld, capsys: Output) -> None:
    edit(CONFIG, "glibc=2.35", "glibc=2.17")
    assert check() == 1
    assert "[glibc-too-old]" in capsys.readouterr().out


def test_variants_that_are_allowed(project: LockWorld, capsys: Output) -> None:
    edit(CONFIG, "[[targets]]", 'variants = ["cu126", "cpu"]\n\n[[targets]]')
    assert check() == 1
    assert "holds cu128, and cu126 or cpu is allowed [variant-not-allowed]" in capsys.readouterr().out


def test_a_cpu_build_for_a_card_must_be_meant(world: LockWorld, capsys: Output) -> None:
    for wheel in stub_family("cpu", tag=LINUX_312, torch="2.11.0"):
        world.server.add_wheel("cpu", wheel)
    assert init(world, "--variant", "cpu") == 0
    assert check() == 0
    edit(CONFIG, 'variants = ["cpu"]\n', "")
    assert check() == 1
    assert "holds the CPU build, and the target has a GPU [cpu-build]" in capsys.readouterr().out


def test_two_formats_that_say_different_things(world: LockWorld, capsys: Output) -> None:
    assert init(world, "-o", "a.txt", "-o", "pylock.toml", "-o", "environment.yml") == 0
    assert check() == 0
    edit(Path("pylock.toml"), "1.16", "1.17")
    assert check() == 1
    assert "pylock.toml: six 1.17, and a.txt has 1.16 [locks-differ]" in capsys.readouterr().out


def test_solving_anew_finds_what_only_an_index_tells(project: LockWorld, capsys: Output) -> None:
    assert check("--solve", "--refresh") == 0
    project.serve("six", "1.17")
    assert check("--solve", "--refresh") == 0  # a newer release makes no lock stale
    edit(LOCK, "six==1.16", "six==1.15")
    assert check() == 0
    assert check("--solve", "--refresh") == 1
    said = capsys.readouterr().out
    assert "no longer answers its inputs" in said and "[stale]" in said and "-six==1.15" in said


def test_a_conflict_when_solved_anew_is_a_reason(project: LockWorld, capsys: Output) -> None:
    project.serve("tool", "1.0", requires=("six<1",))
    edit(LOCK, "six==1.16 \\", "tool==1.0 \\\n    --hash=sha256:" + "0" * 64 + "\nsix==1.16 \\")
    edit(Path("requirements.in"), "six\n", "six\ntool\n")
    assert check() == 0
    assert check("--solve", "--refresh") == 1
    assert "[stale]" in capsys.readouterr().out


def test_annotations_for_github(project: LockWorld, capsys: Output) -> None:
    edit(Path("requirements.in"), "six\n", "six>=1.17\n")
    assert check("--format", "github") == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("::")]
    assert lines == [
        "::error file=requirements.lock.txt,title=envsolve requirement-unmet::"
        f"{LINUX}: requirements.in asks for six>=1.17, and the lock has 1.16; envsolve lock --upgrade-package six",
        "::warning file=requirements.lock.txt,title=envsolve variant-last-wheel::"
        f"{LINUX}: cu128: torch 2.11.0 is the last that is published with it, 2.15.0 is not; "
        "torch 2.15.0 comes as cu130, cu132",
        "::warning file=requirements.lock.txt,title=envsolve driver-ended::"
        f"{LINUX}: driver 570.86.10: branch R570 ended 2026-02; R620 (LTS) is kept until 2029-09; "
        "envsolve driver says how",
    ]


def test_as_json(project: LockWorld, capsys: Output) -> None:
    assert check("--json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["fits"], answer["today"]) == (1, True, "2026-12-01")
    (target,) = answer["targets"]
    assert target["problems"] == [] and target["fits"]
    assert [warning["code"] for warning in target["warnings"]] == ["variant-last-wheel", "driver-ended"]
    assert all(warning["source"] and warning["certainty"] == "high" for warning in target["warnings"])
    edit(CONFIG, "schema = 1", "schema = 2")
    assert check("--json") == 2
    assert "newer envsolve" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize(
    ("before", "after", "told", "hint"),
    [
        ("requirements =", "requirments =", "unknown key requirments", "did you mean requirements?"),
        ("machine =", "mashine =", "unknown key targets[0].mashine", "did you mean machine?"),
        ("schema = 1", "", "schema is not there", "schema = 1"),
        ('["requirements.in"]', '["absent.in"]', "can't read absent.in", None),
        ("RTX 5070 Ti,driver=", "RTX 5070 Ti,drivr=", "unknown key 'drivr'", None),
        ('["requirements.lock.txt"]', '["lock.json"]', "no lock format goes with the name", None),
        ("[[targets]]", "[[targets", "Expected", None),
    ],
)
def test_a_bad_declaration(
    project: LockWorld, capsys: Output, before: str, after: str, told: str, hint: str | None
) -> None:
    edit(CONFIG, before, after)
    assert check() == 2
    said = capsys.readouterr().err
    assert told in said and (hint is None or f"hint: {hint}" in said)


def test_without_a_declaration(world: LockWorld, capsys: Output) -> None:
    assert check() == 2
    assert "hint: envsolve init makes one" in capsys.readouterr().err
    assert check("--project", "nowhere") == 2


LAST = {
    "GTX 1080 Ti,driver=580.65.06": "GTX 1080 Ti (6.1): torch 2.14.1 (cu126) is the last with kernels for it",
    "Tesla V100,driver=580.65.06": "Tesla V100 (7.0): torch 2.14.1 (cu126) is the last with kernels for it",
}


@pytest.mark.parametrize("card", LAST)
def test_a_card_whose_last_wheel_is_published(world: LockWorld, capsys: Output, card: str) -> None:
    for wheel in stub_family("cu126", tag=LINUX_312, torch="2.12.1"):
        world.server.add_wheel("cu126", wheel)
    assert init(world, target=LINUX.replace("RTX 5070 Ti,driver=570.86.10", card)) == 0
    assert check() == 0
    said = capsys.readouterr().err
    assert LAST[card] in said and "2.15.0 has none (certainty: medium) [card-last-wheel]" in said
    assert "envsolve source-build" in said and "[driver-" not in said


def test_what_ends_is_warned_of_ahead(world: LockWorld, capsys: Output) -> None:
    for wheel in stub_family("cu126", tag=LINUX_312, torch="2.12.1"):
        world.server.add_wheel("cu126", wheel)
    assert init(world, target=LINUX.replace("RTX 5070 Ti,driver=570.86.10", "GTX 1080 Ti,driver=580.65.06")) == 0
    capsys.readouterr()
    assert check("--ahead", "1", today="2028-03-31") == 0
    assert "[driver-" not in capsys.readouterr().err
    assert check(today="2028-03-31") == 0
    said = capsys.readouterr().err
    assert "branch R580 ends 2028-06, in 3 months (certainty: high) [driver-ending]" in said
    assert "R580 is the last branch that drives the card: plan for another one" in said
    assert "[python-" not in said
    assert check(today="2028-10-31") == 0
    said = capsys.readouterr().err
    assert "branch R580 ended 2028-06" in said
    assert "Python 3.12 ends this month, 2028-10 (certainty: high) [python-ending]" in said
    assert (
        check(
            today="2029-01-01",
        )
        == 0
    )
    said = capsys.readouterr().err
    assert "Python 3.12 ended 2028-10" in said and "Python 3.15 is kept until 2031-10" in said


def test_no_format_is_said_to_be_edited_as_it_was_made(world: LockWorld, capsys: Output) -> None:
    world.serve("tool", "1.0", requires=("six",))
    edit(Path("requirements.in"), "six", "tool")
    formats = ("r.lock.txt", "pylock.toml", "environment.yml")
    assert init(world, *(word for name in formats for word in ("-o", name))) == 0
    assert check() == 0, capsys.readouterr().out


@pytest.mark.parametrize("via", ["", "    # via flask\n"])
def test_a_package_that_nobody_asks_for(project: LockWorld, capsys: Output, via: str) -> None:
    LOCK.write_text(f"{LOCK.read_text()}evil==1.0 \\\n    --hash=sha256:{'a' * 64}\n{via}")
    assert check() == 1
    out = capsys.readouterr().out
    assert "holds evil" in out and "[nobody-asks]" in out


def test_a_folder_and_bytes_in_the_place_of_a_lock(project: LockWorld, capsys: Output) -> None:
    LOCK.write_bytes(b"\xff\xfe\x00")
    assert check() == 1
    assert "is not UTF-8 text [lock-unreadable]" in capsys.readouterr().out
    LOCK.unlink()
    LOCK.mkdir()
    assert check() == 1
    assert "can't be read: Is a directory [lock-unreadable]" in capsys.readouterr().out


def test_a_declaration_of_a_newer_envsolve_is_told_as_such(project: LockWorld, capsys: Output) -> None:
    edit(CONFIG, "schema = 1", "schema = 2\nfuture = true")
    assert check() == 2
    assert "schema 2 is of a newer envsolve" in capsys.readouterr().err


def test_annotations_name_the_files_as_the_repository_has_them(
    project: LockWorld, capsys: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("requirements.in").write_text("torch\nsix<1\n")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    assert check("--format", "github") == 1
    assert f"::error file={tmp_path.name}/requirements.lock.txt," in capsys.readouterr().out
