"""A lock held against a machine: what keeps it from running there, with made-up locks of real builds."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.keeping.checked import Aim, Checked, LockFile, check_target
from envsolve.lock.lock import Lock, LockedFile, LockedPackage, LockHeader
from envsolve.lock.wishes import Wishes
from envsolve.machine.target import read_target
from envsolve.rulebook.load import load

RULES = load()
RTX = "RTX 4090,driver=580.65.06,python=3.12,glibc=2.35,os=linux,arch=x86_64"
WISHES = Wishes(requirements=(Requirement("torch"),))


def package(
    name: str, version: str, *files: str, sha: str = "0" * 64, via: tuple[str, ...] = ("torch",)
) -> LockedPackage:
    locked = tuple(LockedFile(filename=file, url=f"https://host.example/{file}", sha256=sha) for file in files)
    return LockedPackage(name=name, version=Version(version), files=locked, direct=name == "torch", via=via)


def torch_lock(torch: str = "2.11.0", variant: str = "cu128", *more: LockedPackage, **changes: str) -> Lock:
    wheel = f"torch-{torch}+{variant}-cp312-cp312-manylinux_2_28_x86_64.whl"
    header = LockHeader(command="envsolve lock torch", target="linux x86_64", gpus=(), rules="0", envsolve="0.1.0")
    lock = Lock(
        header=header,
        python="3.12",
        platform="linux_x86_64",
        variant=variant,
        index_url=f"https://host.example/{variant}",
        packages=(package("torch", f"{torch}+{variant}", wheel, via=("(asked)",)), *more),
    )
    return replace(lock, **changes)  # type: ignore[arg-type]


def checked(*locks: Lock, target: str = RTX, wishes: Wishes = WISHES, allowed: tuple[str, ...] = ()) -> Checked:
    aim = Aim(name=target, machine=read_target(target), wishes=wishes, inputs="r.in", allowed=allowed)
    files = [LockFile(path=f"{number}.txt", locks=(lock,), hashed=True) for number, lock in enumerate(locks)]
    return check_target(aim, files, RULES, today=date(2026, 12, 1), ahead=6)


def codes(found: Checked) -> list[str]:
    return [problem.code for problem in found.problems]


def test_a_lock_that_fits() -> None:
    found = checked(torch_lock())
    assert found.fits and found.runs == ("0.txt: torch 2.11.0+cu128; RTX 4090: compatible sm_86",)


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (RTX.replace("RTX 4090", "GTX 1080 Ti"), "does-not-run"),
        (RTX.replace("RTX 4090", "RTX 9990"), "more-must-be-known"),
        (RTX.replace("580.65.06", "470.82.01"), "does-not-run"),
        (RTX.replace("3.12", "3.13"), "lock-missing"),
        (RTX.replace("x86_64", "aarch64"), "lock-missing"),
        (RTX.replace("glibc=2.35", "libc=musl"), "does-not-run"),
    ],
)
def test_machines_that_it_does_not_fit(target: str, code: str) -> None:
    assert code in codes(checked(torch_lock(), target=target))


def test_a_python_that_the_target_leaves_open_is_the_locks() -> None:
    assert checked(torch_lock(), target=RTX.replace(",python=3.12", "")).fits


def test_wheels_that_can_not_be_installed_there() -> None:
    wrong = package("six", "1", "six-1-cp311-cp311-manylinux_2_28_x86_64.whl")
    source = package("tool", "1", "tool-1.tar.gz")
    found = checked(torch_lock("2.11.0", "cu128", wrong, source))
    assert codes(found) == ["wheel-unfit"]
    assert "six 1 has no wheel for the target (six-1-cp311" in found.problems[0].text


def test_hashes() -> None:
    bare = package("six", "1", "six-1-py3-none-any.whl", sha="")
    assert codes(checked(torch_lock("2.11.0", "cu128", bare))) == ["hash-missing"]
    assert codes(checked(torch_lock("2.11.0", "cu128", package("six", "1")))) == ["hash-missing"]


def test_companions_that_do_not_belong_to_torch() -> None:
    wheel = "torchvision-0.20.0+cu128-cp312-cp312-manylinux_2_28_x86_64.whl"
    found = checked(torch_lock("2.11.0", "cu128", package("torchvision", "0.20.0+cu128", wheel)))
    assert "does-not-run" in codes(found)


def test_a_lock_without_torch_is_judged_by_the_rest() -> None:
    lock = torch_lock()
    other = replace(lock, packages=(package("six", "1", "six-1-py3-none-any.whl"),))
    assert checked(other, wishes=Wishes(requirements=(Requirement("six"),))).fits


def test_numpy_by_torchs_rule_was_not_asked_for() -> None:
    numpy = package("numpy", "1.26.4", "numpy-1.26.4-cp312-cp312-manylinux_2_17_x86_64.whl", via=("(asked)",))
    assert "no-longer-asked" not in codes(checked(torch_lock("2.2.2", "cu121", numpy)))
    assert "no-longer-asked" in codes(checked(torch_lock("2.11.0", "cu128", numpy)))


def test_an_address_that_is_asked_for() -> None:
    wheel = "six-1-py3-none-any.whl"
    lock = torch_lock("2.11.0", "cu128", package("six", "1", wheel, via=("(asked)",)))
    for address, fits in ((f"https://host.example/{wheel}#sha256=1", True), (f"https://other.example/{wheel}", False)):
        wishes = Wishes(requirements=(Requirement("torch"), Requirement(f"six @ {address}")))
        assert checked(lock, wishes=wishes).fits is fits


def test_a_warning_is_told_once_whatever_the_number_of_files() -> None:
    found = checked(torch_lock(), torch_lock())
    assert [warning.code for warning in found.warnings] == ["variant-last-wheel"]
    assert found.warnings[0].file == "0.txt"
    assert codes(checked(torch_lock(), torch_lock("2.10.0"))) == ["locks-differ"]


def test_only_the_chosen_cards_count() -> None:
    target = RTX.replace("RTX 4090", "RTX 4090 + GTX 1080 Ti")
    aim = Aim(name=target, machine=read_target(target), wishes=WISHES, inputs="r.in", gpus=(0,))
    found = check_target(aim, [LockFile(path="a.txt", locks=(torch_lock(),))], RULES, today=date(2026, 12, 1), ahead=6)
    assert found.fits and "card-last-wheel" not in [warning.code for warning in found.warnings]
