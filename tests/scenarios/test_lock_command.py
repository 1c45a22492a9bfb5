"""`envsolve lock` as people use it, against a fake index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from envsolve.cli.app import run
from fakes.index_server import IndexServer
from fakes.pytorch_index import serve_as_pytorch_index
from fakes.stub_wheels import StubSdist, StubWheel, stub_family

LINUX_312 = "cp312-cp312-manylinux_2_28_x86_64"
TARGET = "RTX 5070 Ti,driver=570.86.10,python=3.12,glibc=2.35,os=linux,arch=x86_64"
DEFAULT = Path("requirements.lock.txt")

Output = pytest.CaptureFixture[str]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexServer]:
    """2.11.0 and 2.10.0 on cu128, complete; behind the mirror there is nothing more."""
    monkeypatch.chdir(tmp_path)
    with IndexServer() as server:
        for torch, vision, audio in (("2.11.0", "0.26.0", "2.11.0"), ("2.10.0", "0.25.0", "2.10.0")):
            family = stub_family("cu128", tag=LINUX_312, torch=torch, torchvision=vision, torchaudio=audio)
            for wheel in family:
                server.add_wheel("cu128", wheel)
        serve_as_pytorch_index(monkeypatch, server.whl)
        yield server


def lock(index: IndexServer, *words: str, target: str = TARGET) -> int:
    return run(["lock", *words, "--target", target, "--mirror", index.whl, "--index", index.simple])


def lines(path: Path = DEFAULT) -> list[str]:
    """The lines that name a package."""
    return [line for line in path.read_text().splitlines() if line[:1] not in ("#", " ")]


def test_the_trio_is_locked_by_default(index: IndexServer, capsys: Output) -> None:
    assert lock(index) == 0
    assert [line.split(" @ ")[0] for line in lines()] == ["torch", "torchaudio", "torchvision"]
    assert "torch-2.11.0%2Bcu128-" in lines()[0]
    assert capsys.readouterr().err == (
        "wrote requirements.lock.txt: 3 packages for linux x86_64, glibc >= 2.28, python 3.12, cu128\n"
    )


def test_a_requirements_file_with_constraints(index: IndexServer) -> None:
    Path("requirements.in").write_text("torch\nmarkupsafe  # any\n-c caps.txt\n")
    Path("caps.txt").write_text("torch<2.11\nmarkupsafe<3\nabsent==1\n")
    for version in ("2.1.5", "3.0.3"):
        index.add_package(StubWheel(name="markupsafe", version=version, tag="py3-none-any"))
    assert lock(index, "-r", "requirements.in") == 0
    assert lines()[0] == "markupsafe==2.1.5 \\"
    assert "torch-2.10.0%2Bcu128-" in lines()[1]
    assert "#     envsolve lock -r requirements.in --target" in DEFAULT.read_text()


def test_a_mistake_in_a_requirements_file_names_its_line(index: IndexServer, capsys: Output) -> None:
    Path("requirements.in").write_text("torch\n\nsix = 1\n")
    assert lock(index, "-r", "requirements.in") == 2
    assert capsys.readouterr().err.startswith("error: requirements.in:3: 'six = 1' is not a requirement")
    assert not DEFAULT.exists()


def test_several_outputs_in_their_formats(index: IndexServer) -> None:
    assert lock(index, "torch", "-o", "a.txt", "-o", "pylock.gpu.toml", "-o", "environment.yml") == 0
    assert sorted(path.name for path in Path().glob("*")) == ["a.txt", "environment.yml", "pylock.gpu.toml"]


def test_a_name_that_goes_with_no_format_is_wrong_usage_before_anything_is_asked(
    index: IndexServer, capsys: Output
) -> None:
    assert lock(index, "-o", "a.txt", "-o", "lock.json") == 2
    assert "no lock format goes with the name 'lock.json'" in capsys.readouterr().err
    assert not Path("a.txt").exists() and index.requests == []


def test_a_planned_file_that_is_absent_gives_way_and_is_told(index: IndexServer, capsys: Output) -> None:
    for wheel in stub_family("cu126", tag=LINUX_312, torch="2.12.1"):
        index.add_wheel("cu126", wheel)
    target = "RTX 4090,driver=560.35.03,python=3.12,glibc=2.35,os=linux,arch=x86_64"
    assert lock(index, "torch", target=target) == 0
    said = capsys.readouterr().err
    assert "is not on the index for this target" in said
    assert "in place of the planned" in said


def test_nothing_is_written_when_the_answer_is_no(index: IndexServer, capsys: Output) -> None:
    target = "GTX 1080 Ti,driver=525.60.13,python=3.12,os=linux,arch=x86_64"
    assert lock(index) == 0
    before = DEFAULT.read_text()
    assert lock(index, "torch==2.11.0+cu128", target=target) == 1
    assert DEFAULT.read_text() == before
    assert "6.1" in capsys.readouterr().out


def test_a_conflict_is_told_and_nothing_is_written(index: IndexServer, capsys: Output) -> None:
    index.add_package(StubWheel(name="old", version="1", requires=("markupsafe<3",)))
    for version in ("2.1.5", "3.0.3"):
        index.add_package(StubWheel(name="markupsafe", version=version))
    assert lock(index, "torch", "old", "markupsafe>=3") == 1
    assert capsys.readouterr().err == (
        "error: these requirements can't go together:\n"
        "  you ask for old\n"
        "  you ask for markupsafe>=3\n"
        "  old 1 needs markupsafe<3\n"
        "  markupsafe for this target: 3.0.3, 2.1.5\n"
        "hint: write markupsafe in place of markupsafe>=3\n"
    )
    assert not DEFAULT.exists()


def test_what_has_source_archives_only_is_named(index: IndexServer, capsys: Output) -> None:
    index.add_package(StubSdist(name="built-here", version="2.8.3"))
    assert lock(index, "torch", "built-here") == 1
    assert "built-here has no wheel for this target (1 source archive)" in capsys.readouterr().err


def test_the_page_of_a_library_with_cuda_code_is_named(index: IndexServer, capsys: Output) -> None:
    index.add_package(StubSdist(name="torch-scatter", version="2.1"))
    assert lock(index, "torch", "torch-scatter") == 1
    said = capsys.readouterr().err
    assert "torch-scatter has no wheel for this target" in said
    assert "hint: --find-links https://data.pyg.org/whl/torch-2.11.0+cu128.html\n" in said


def test_a_torch_that_no_library_with_cuda_code_goes_with_is_a_no(index: IndexServer, capsys: Output) -> None:
    assert lock(index, "torch", "flash-attn") == 1
    said = capsys.readouterr().out
    assert "these can't go together: RTX 5070 Ti (12.0), flash-attn, what the index has" in said
    assert "flash-attn has no wheel for it: flash-attn 2.8.3.post1 goes with torch<2.9" in said


def test_a_wheel_that_is_on_no_index_is_read_where_the_rules_say(
    index: IndexServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """flash-attn's wheels are assets of its releases; here the fake index stands in for that host."""
    wheel = StubWheel(name="flash-attn", version="2.8.3+cu12torch2.11", tag=LINUX_312, requires=("markupsafe",))
    address = index.add_link(wheel)
    index.add_package(StubWheel(name="markupsafe", version="3.0.3"))
    monkeypatch.setattr("envsolve.ways.extensions.fits", lambda *_: True)
    monkeypatch.setattr("envsolve.ways.extensions.asset_address", lambda *_: address)
    assert lock(index, "torch", "flash-attn") == 0
    text = DEFAULT.read_text()
    assert f"flash-attn @ {address}#sha256={wheel.sha256}\n" in unquote(text) and "markupsafe==" in text
    better = StubWheel(name="flash-attn", version="2.9", tag=LINUX_312)
    index.add_package(better)  # what an index has goes before
    assert lock(index, "torch", "flash-attn", "--refresh", "--upgrade") == 0
    assert "flash-attn==2.9 " in DEFAULT.read_text()


def test_an_index_that_is_down_is_an_outside_error(index: IndexServer, capsys: Output) -> None:
    index.fault("/simple/*", status=503)
    assert lock(index, "torch", "markupsafe") == 3
    assert "503" in capsys.readouterr().err
    assert not DEFAULT.exists()


def test_a_hash_that_the_index_does_not_give_is_taken_from_the_file(index: IndexServer) -> None:
    (wheel,) = stub_family("cu126", tag=LINUX_312, torch="2.11.0")
    index.add_wheel("cu126", wheel, form="D")
    assert lock(index, "torch==2.11.0", "--variant", "cu126", target=TARGET.replace("5070 Ti", "4090")) == 0
    assert f"#sha256={wheel.sha256}" in lines()[0]
    assert f"    # hashed by envsolve, the index gives no hash: {wheel.sha256}" in DEFAULT.read_text()


def test_credentials_never_reach_the_lock(index: IndexServer, capsys: Output) -> None:
    index.add_package(StubWheel(name="markupsafe", version="3.0.3"))
    index.require_login("/*", "user", "secret")
    simple, whl = (url.replace("://", "://user:secret@") for url in (index.simple, index.whl))
    words = ["lock", "torch", "markupsafe", "--target", TARGET, "--mirror", whl, "--index", simple]
    assert run([*words, "-o", "a.txt", "-o", "pylock.toml", "-o", "environment.yml"]) == 0
    shown = capsys.readouterr()
    for text in (shown.out, shown.err, *(path.read_text() for path in Path().glob("*.*") if path.is_file())):
        assert "secret" not in text and "user" not in text


def test_absolute_paths_and_where_it_ran_are_not_in_the_header(index: IndexServer, tmp_path: Path) -> None:
    (tmp_path / "requirements.in").write_text("torch\n")
    words = ["-r", str(tmp_path / "requirements.in"), "--cache-dir", str(tmp_path / "cache"), "--refresh"]
    assert lock(index, *words, "-o", str(tmp_path / "out.txt")) == 0
    text = (tmp_path / "out.txt").read_text()
    assert str(tmp_path) not in text
    assert "#     envsolve lock -r requirements.in --target" in text
    assert not [word for word in ("--cache-dir", "--refresh", " -o ") if word in text]


def test_json_holds_the_plan_and_what_was_locked(index: IndexServer, capsys: Output) -> None:
    assert lock(index, "torch", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["status"], found["variant"]) == (1, "solved", "cu128")
    assert found["lock"] == {
        "files": ["requirements.lock.txt"],
        "packages": [{"name": "torch", "version": "2.11.0+cu128"}],
    }


def test_a_package_that_needs_an_older_torch(index: IndexServer, capsys: Output) -> None:
    index.add_package(StubWheel(name="xformers", version="1", requires=("torch==2.10.0",)))
    assert lock(index, "torch", "torchvision", "xformers") == 0
    assert "torch-2.10.0%2Bcu128-" in lines()[0] and "torchvision-0.25.0%2Bcu128-" in lines()[1]
    assert "torch 2.10.0+cu128 in place of the planned 2.11.0+cu128: a package needs torch==2.10.0" in (
        capsys.readouterr().err
    )


def test_a_companion_that_a_package_brings_in_is_planned_and_not_taken_from_the_default_index(
    index: IndexServer,
) -> None:
    index.add_package(StubWheel(name="timm", version="1", requires=("torchvision>=0.20",)))
    index.add_package(StubWheel(name="torchvision", version="0.99.0"))
    assert lock(index, "torch", "timm") == 0
    assert [line.split("==")[0].split(" @ ")[0] for line in lines()] == ["timm", "torch", "torchvision"]
    assert "torchvision-0.26.0%2Bcu128-" in lines()[2]
    assert "    # via timm" in DEFAULT.read_text()


def test_plan_writes_a_lock_too(index: IndexServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENVSOLVE_MIRROR", index.whl)
    monkeypatch.setenv("ENVSOLVE_INDEX", index.simple)
    assert run(["plan", "torch", "--target", TARGET, "-o", "planned.txt"]) == 0
    assert "torch-2.11.0%2Bcu128-" in lines(Path("planned.txt"))[0]


def test_a_file_that_envsolve_did_not_make_is_not_overwritten(index: IndexServer, capsys: Output) -> None:
    Path("requirements.txt").write_text("torch\n")
    assert lock(index, "-o", "requirements.txt") == 2
    assert Path("requirements.txt").read_text() == "torch\n"
    assert "requirements.txt is there and was not made by envsolve" in capsys.readouterr().err


@pytest.fixture
def locked_before(index: IndexServer) -> IndexServer:
    """A lock of torch 2.10.0 and markupsafe 2.1.5, made before newer ones came out."""
    index.add_package(StubWheel(name="markupsafe", version="2.1.5"))
    assert lock(index, "torch<2.11", "markupsafe") == 0
    index.add_package(StubWheel(name="markupsafe", version="3.0.3"))
    return index


def names(path: Path = DEFAULT) -> list[str]:
    found = [line.rstrip(" \\") for line in lines(path)]
    return [line.split("/")[-1].split("-cp")[0] if "://" in line else line for line in found]


def test_what_is_locked_stays_as_long_as_the_request_allows_it(locked_before: IndexServer) -> None:
    assert lock(locked_before, "torch", "markupsafe", "--refresh") == 0
    assert names() == ["markupsafe==2.1.5", "torch-2.10.0%2Bcu128"]
    assert lock(locked_before, "torch", "markupsafe>=3", "--refresh") == 0
    assert names() == ["markupsafe==3.0.3", "torch-2.10.0%2Bcu128"]


def test_upgrade_takes_the_newest_of_one_or_of_all(locked_before: IndexServer) -> None:
    assert lock(locked_before, "torch", "markupsafe", "--refresh", "--upgrade-package", "MarkupSafe") == 0
    assert names() == ["markupsafe==3.0.3", "torch-2.10.0%2Bcu128"]
    assert lock(locked_before, "torch", "markupsafe", "--upgrade-package", "torch") == 0
    assert names() == ["markupsafe==3.0.3", "torch-2.11.0%2Bcu128"]


def test_upgrade_of_all(locked_before: IndexServer) -> None:
    assert lock(locked_before, "torch", "markupsafe", "--refresh", "--upgrade") == 0
    assert names() == ["markupsafe==3.0.3", "torch-2.11.0%2Bcu128"]


def test_a_lock_for_another_machine_does_not_hold_back_this_one(locked_before: IndexServer) -> None:
    for wheel in stub_family("cu126", tag=LINUX_312, torch="2.10.0"):
        locked_before.add_wheel("cu126", wheel)
    assert (
        lock(locked_before, "torch==2.10.0", target=TARGET.replace("5070 Ti", "4090").replace("570.86.10", "560.35"))
        == 0
    )
    assert "+cu126" in DEFAULT.read_text().replace("%2B", "+")


def test_check_is_quiet_about_newer_releases(locked_before: IndexServer, capsys: Output) -> None:
    before = DEFAULT.read_bytes()
    assert lock(locked_before, "torch<2.11", "markupsafe", "--refresh", "--check") == 0
    assert capsys.readouterr().out == ""
    assert DEFAULT.read_bytes() == before


def test_check_shows_what_no_longer_answers(locked_before: IndexServer, capsys: Output) -> None:
    before = DEFAULT.read_bytes()
    assert lock(locked_before, "torch<2.11", "markupsafe>=3", "--refresh", "--check") == 1
    shown = capsys.readouterr()
    assert "-markupsafe==2.1.5 \\" in shown.out and "+markupsafe==3.0.3 \\" in shown.out
    assert "requirements.lock.txt no longer answers its inputs" in shown.err
    assert DEFAULT.read_bytes() == before


def test_check_of_a_machine_that_the_lock_does_not_fit(locked_before: IndexServer, capsys: Output) -> None:
    target = "GTX 1080 Ti,driver=580.65.06,python=3.12,glibc=2.35,os=linux,arch=x86_64"
    for wheel in stub_family("cu126", tag=LINUX_312, torch="2.10.0"):
        locked_before.add_wheel("cu126", wheel)
    assert lock(locked_before, "torch<2.11", "markupsafe", "--check", target=target) == 1
    assert "+# variant: cu126" in capsys.readouterr().out


def test_check_of_a_lock_that_is_not_there(index: IndexServer, capsys: Output) -> None:
    assert lock(index, "--check") == 1
    assert "requirements.lock.txt is not there" in capsys.readouterr().err
    assert not DEFAULT.exists()
