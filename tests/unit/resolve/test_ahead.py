"""Ahead: the guesses that an index's threads follow."""

from __future__ import annotations

from dataclasses import replace

from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.index.release import ReleaseFile, WheelMetadata, tags_of
from envsolve.machine.machine import Machine
from envsolve.resolve.ahead import Ahead
from envsolve.resolve.target_env import TargetEnv, target_env


def an_env() -> TargetEnv:
    return target_env(Machine(os="linux", arch="x86_64"), "3.11.7")


def wheel(version: str, tag: str = "py3-none-any") -> ReleaseFile:
    filename = f"lib-{version}-{tag}.whl"
    return ReleaseFile(
        name="lib", version=Version(version), filename=filename, url=f"https://files.example/{filename}",
        source="https://simple.example", tags=tags_of(tag),
    )  # fmt: skip


def metadata(*requires: str) -> WheelMetadata:
    return WheelMetadata(
        name="lib", version=Version("1"), requires=tuple(map(Requirement, requires)), extras=frozenset({"more"})
    )


def test_the_newest_final_wheel_that_fits_is_guessed() -> None:
    taken = wheel("2.0", "cp311-cp311-manylinux_2_17_x86_64")
    files = [
        wheel("1.0"), wheel("2.0"), taken, wheel("2.1", "cp311-cp311-win_amd64"), wheel("3.0rc1"),
        replace(wheel("4.0"), yanked="broken"),
    ]  # fmt: skip
    assert Ahead(an_env(), ()).file("lib", files) is taken
    assert Ahead(an_env(), ()).file("lib", list(reversed(files))) is taken


def test_what_is_asked_so_far_bounds_the_guess() -> None:
    files = [wheel("1.0"), wheel("2.0"), wheel("3.0")]
    ahead = Ahead(an_env(), (), constraints=[Requirement("lib<3")])
    assert ahead.file("lib", files) is files[1]
    ahead.expect("lib", "<2")
    assert ahead.file("lib", files) is files[0]
    ahead.expect("lib", ">5")
    assert ahead.file("lib", files) is None


def test_a_preferred_version_is_guessed_where_it_may_be_taken() -> None:
    files = [wheel("1.0"), wheel("2.0"), wheel("3.0")]
    prefer = {"lib": Version("2.0")}
    assert Ahead(an_env(), (), prefer=prefer).file("lib", files) is files[1]
    assert Ahead(an_env(), (), [Requirement("lib>2")], prefer).file("lib", files) is files[2]


def test_a_wheel_leads_to_what_holds_on_the_target() -> None:
    needs = metadata(
        "torch>=2",
        "Always<3",
        "windows; sys_platform == 'win32'",
        "more; extra == 'more'",
        "at @ https://x.example/a.whl",
    )
    ahead = Ahead(an_env(), ("torch",))
    assert ahead.names(needs) == ["always"]
    ahead.expect("lib", "", ["more"])
    assert ahead.names(needs) == ["always", "more"]
    assert ahead.file("always", [wheel("2.0"), wheel("3.0")]) == wheel("2.0")
