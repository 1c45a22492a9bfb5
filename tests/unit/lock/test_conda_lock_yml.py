"""conda-lock.yml and virtual-packages.yml: what is written reads back, and says what the machine has."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml
from hypothesis import given

from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.lock import conda_lock_yml, environment_yml, virtual_packages_yml
from envsolve.lock.conda import CondaPackage, CondaPart, Virtual, python_specs
from envsolve.lock.lock import Lock
from envsolve.lock.virtual import virtual_packages
from envsolve.rulebook.load import load
from fakes.locks import SOME, locks
from fakes.plans import a_machine

PART = CondaPart(
    channels=("conda-forge",),
    packages=(
        CondaPackage(
            name="python",
            version="3.12.4",
            build="h194c7f8_0_cpython",
            url="https://conda.example/conda-forge/linux-64/python-3.12.4-h194c7f8_0_cpython.conda",
            md5="0" * 32,
            sha256="0" * 64,
            depends=("__glibc >=2.17,<3.0.a0", "bzip2 >=1.0.8,<2.0a0", "tzdata"),
        ),
    ),
)


def conda(lock: Lock, platform: str = "linux_x86_64") -> Lock:
    return replace(lock, platform=platform, conda=PART, virtual=(Virtual(name="__cuda", version="12.8"),))


@SOME
@given(locks(), locks())
def test_it_reads_back_with_its_conda_part(one: Lock, other: Lock) -> None:
    given_locks = (
        conda(one),
        conda(replace(other, header=replace(other.header, command=one.header.command)), "windows_amd64"),
    )
    text = conda_lock_yml.write(*given_locks)
    back = conda_lock_yml.read_all(text, what="conda-lock.yml")
    assert [(lock.platform, lock.python, lock.variant, lock.conda) for lock in back] == [
        (lock.platform, lock.python, lock.variant, PART) for lock in given_locks
    ]
    for lock, original in zip(back, given_locks, strict=True):
        assert [(p.name, p.version, p.direct) for p in lock.packages] == [
            (p.name, p.version, p.direct) for p in original.packages
        ]


@SOME
@given(locks())
def test_it_is_version_1_with_every_key_that_conda_lock_asks_for(lock: Lock) -> None:
    document = yaml.safe_load(conda_lock_yml.write(conda(lock)))
    assert (document["version"], document["metadata"]["platforms"]) == (1, ["linux-64"])
    assert document["metadata"]["channels"] == [{"url": "conda-forge", "used_env_vars": []}]
    python = document["package"][0]
    assert python["dependencies"] == {"__glibc": ">=2.17,<3.0.a0", "bzip2": ">=1.0.8,<2.0a0", "tzdata": ""}
    for entry in document["package"]:
        assert {"name", "version", "manager", "platform", "dependencies", "url", "hash", "category", "optional"} <= set(
            entry
        )
        assert all(isinstance(entry[key], str) for key in ("name", "version", "url"))


@SOME
@given(locks())
def test_what_it_can_not_hold(lock: Lock) -> None:
    with pytest.raises(InputError, match="two targets of linux-64"):
        conda_lock_yml.write(conda(lock), conda(lock))
    with pytest.raises(InputError, match="conda part of the lock was not solved"):
        conda_lock_yml.write(lock)
    file = replace(lock.packages[0].files[0], url="")
    nameless = replace(lock, packages=(replace(lock.packages[0], files=(file,)),))
    with pytest.raises(InputError, match=f"the snapshot has none for {lock.packages[0].name}"):
        conda_lock_yml.write(conda(nameless))


def test_the_virtual_packages_of_machines() -> None:
    def shown(**fields: object) -> dict[str, str]:
        machine = a_machine(**fields)  # type: ignore[arg-type]
        return {v.name: str(v) for v in virtual_packages(machine, load(), glibc=Dotted.parse("2.28"))}

    assert shown() == {
        "__unix": "0", "__linux": "5.10", "__glibc": "2.35", "__archspec": "1 x86_64", "__cuda": "12.8",
    }  # fmt: skip
    assert shown(glibc=None)["__glibc"] == "2.28"  # what the wheels need at least
    assert shown(cuda_max=None)["__cuda"] == "12.8"  # the driver's branch says it
    assert "__cuda" not in shown(gpus=(), vendor="none", driver=None, cuda_max=None)
    assert shown(os="windows", glibc=None) == {"__win": "0", "__archspec": "1 x86_64", "__cuda": "12.8"}
    assert shown(os="macos", arch="arm64", glibc=None, gpus=(), driver=None, cuda_max=None) == {
        "__unix": "0", "__osx": "11.0", "__archspec": "1 arm64",
    }  # fmt: skip


@SOME
@given(locks())
def test_virtual_packages_by_platform(lock: Lock) -> None:
    document = yaml.safe_load(virtual_packages_yml.write(conda(lock), conda(lock, "windows_amd64")))
    assert document == {
        "subdirs": {"linux-64": {"packages": {"__cuda": "12.8"}}, "win-64": {"packages": {"__cuda": "12.8"}}}
    }


@SOME
@given(locks())
def test_an_environment_reads_back_by_names_and_versions(lock: Lock) -> None:
    (back,) = environment_yml.read_all(environment_yml.write(replace(lock, channels=("a", "b"))))
    assert (back.channels, back.header) == (("a", "b"), lock.header)
    assert [(p.name, p.version, p.direct) for p in back.packages] == [
        (p.name, p.version, p.direct) for p in lock.packages
    ]


def test_what_conda_is_asked_for() -> None:
    assert python_specs("3.12") == ("python 3.12.*", "pip")
    assert python_specs("3.13t") == ("python 3.13.*", "python-freethreading", "pip")
