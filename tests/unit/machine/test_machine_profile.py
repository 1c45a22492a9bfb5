"""Profiles: what is written reads back; every mistake is named by its path."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Finding, Gpu, Libc, Machine, Problem
from envsolve.machine.profile import dumps, parse_profile, to_json

HOST = Machine(os="windows", arch="arm64", python="3.12")
GOOD: dict[str, Any] = {
    "schema": 1,
    "os": "linux",
    "arch": "x86_64",
    "libc": {"name": "glibc", "version": "2.35"},
    "python": "3.11",
    "driver": "580.65.06",
    "cuda_max": "13.0",
    "gpus": [{"name": "NVIDIA H200", "compute_capability": "9.0"}, {"name": None, "compute_capability": None}],
    "wsl": False,
    "tegra": False,
    "vendor": "nvidia",
}


def read(**changes: Any) -> Machine:
    return parse_profile(json.dumps({**GOOD, **changes}), host=HOST, where="m.json")


def test_the_contracts_example() -> None:
    machine = read()
    assert machine.gpus == (Gpu(name="NVIDIA H200", compute_capability=Capability(9, 0)), Gpu())
    assert (str(machine.driver), str(machine.cuda_max), machine.assumed) == ("580.65.06", "13.0", ())
    assert list(to_json(machine))[:11] == list(GOOD)
    assert {key: to_json(machine)[key] for key in GOOD} == GOOD


def test_null_is_unknown_and_only_os_arch_python_come_from_this_machine() -> None:
    machine = parse_profile(json.dumps(dict.fromkeys(GOOD) | {"schema": 1}), host=HOST)
    assert machine == Machine(os="windows", arch="arm64", python="3.12", assumed=("os", "arch", "python"))


def test_missing_keys_are_unknown() -> None:
    assert parse_profile('{"schema": 1, "os": "linux", "arch": "arm64"}').arch == "aarch64"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"os": "beos"}, "m.json: os: 'beos' is not one of linux, windows, macos or null"),
        ({"arch": 64}, "m.json: arch: 64 is not one of"),
        ({"python": "three"}, "m.json: python: 'three' is not a Python version"),
        ({"driver": 580}, "m.json: driver: 580 is not text or null"),
        ({"driver": "R580"}, "m.json: driver: 'R580' is not a dotted version"),
        ({"cuda_max": "12.x"}, "m.json: cuda_max: '12.x' is not a dotted version"),
        ({"libc": "glibc"}, "m.json: libc: 'glibc' is not an object"),
        ({"libc": {"name": "bionic"}}, "m.json: libc.name: 'bionic' is not one of glibc, musl"),
        ({"libc": {"version": "2.3"}}, "m.json: libc.name: missing"),
        ({"gpus": {}}, "m.json: gpus: {} is not a list"),
        ({"gpus": ["RTX 4090"]}, "m.json: gpus[0]: 'RTX 4090' is not an object"),
        ({"gpus": [{}, {"name": 4090}]}, "m.json: gpus[1].name: 4090 is not text"),
        ({"gpus": [{"compute_capability": 8.9}]}, "m.json: gpus[0].compute_capability: 8.9 is not text"),
        ({"gpus": [{"compute_capability": "sm_89"}]}, "m.json: gpus[0].compute_capability: 'sm_89' is not a compute"),
        ({"gpus": [{"memory_bytes": -1}]}, "m.json: gpus[0].memory_bytes: -1 is not a whole number"),
        ({"gpus": [{"cc": "8.9"}]}, "m.json: gpus[0].cc: unknown key"),
        ({"wsl": "no"}, "m.json: wsl: 'no' is not true, false or null"),
        ({"vendor": "matrox"}, "m.json: vendor: 'matrox' is not one of"),
        ({"vendor": "none"}, "m.json: vendor: is none, yet gpus is not empty"),
        ({"drvier": "580"}, "m.json: drvier: unknown key"),
        ({"schema": None}, "m.json: schema: missing"),
        ({"schema": "1"}, "m.json: schema: '1' is not a number"),
        ({"schema": 2, "new": 1}, "m.json: schema: 2 is newer than this envsolve reads (1)"),
        ({"problems": [{"code": 1}]}, "m.json: problems[0].code: 1 is not text"),
    ],
)
def test_every_mistake_is_named_by_its_path(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(**changes)
    assert message in caught.value.message


def test_a_near_key_is_offered_and_own_keys_are_let_be() -> None:
    with pytest.raises(InputError) as caught:
        read(drvier="580")
    assert "driver" in caught.value.hint
    assert read(**{"x-note": ["mine"]}) == read()


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": 1', "{" * 3000])
def test_what_is_no_profile(text: str) -> None:
    with pytest.raises(InputError):
        parse_profile(text, host=HOST)


WORDS = st.text(min_size=1, max_size=20)
DOTTED = st.sampled_from(["580.65.06", "12.8", "2.35"]).map(Dotted.parse)
GPUS = st.builds(
    Gpu,
    name=st.none() | st.sampled_from(["NVIDIA H200", "Tesla T4"]),
    compute_capability=st.none() | st.builds(Capability, st.integers(1, 15), st.integers(0, 9)),
    truncated=st.booleans(),
    index=st.none() | st.integers(0, 99),
    uuid=st.none() | WORDS,
    memory_bytes=st.none() | st.integers(0, 2**50),
    mig=st.booleans(),
    gfx=st.none() | st.just("gfx1100"),
)
MACHINES = st.builds(
    Machine,
    os=st.sampled_from(["linux", "windows", "macos"]),
    arch=st.just("x86_64"),
    python=st.none() | st.just("3.11"),
    libc=st.none() | st.builds(Libc, name=st.sampled_from(["glibc", "musl"]), version=st.none() | DOTTED),
    driver=st.none() | DOTTED,
    cuda_max=st.none() | DOTTED,
    gpus=st.lists(GPUS, max_size=3).map(tuple),
    wsl=st.booleans(),
    tegra=st.booleans(),
    vendor=st.sampled_from([None, "nvidia", "amd"]),
    pythons=st.lists(st.just("3.12"), max_size=2).map(tuple),
    assumed=st.lists(st.sampled_from(["os", "arch", "python"]), unique=True).map(tuple),
    findings=st.lists(st.builds(Finding, field=WORDS, value=WORDS, source=WORDS), max_size=2).map(tuple),
    problems=st.lists(st.builds(Problem, code=WORDS, text=WORDS), max_size=2).map(tuple),
)


@given(MACHINES)
def test_a_profile_reads_back_as_it_was_written(machine: Machine) -> None:
    assert parse_profile(dumps(machine)) == machine
