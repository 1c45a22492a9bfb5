"""CPU, Apple, AMD, Intel: the right index for each, said with the same words as for NVIDIA."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement

from envsolve.machine.target import read_target
from envsolve.resolve.plan import Plan
from envsolve.resolve.planner import plan
from envsolve.resolve.request import Request
from envsolve.rulebook.load import load


def planned(spec: str, **request: object) -> Plan:
    asked = Request(requirements=(Requirement("torch"),), **request)  # type: ignore[arg-type]
    answer = plan(read_target(f"{spec},python=3.12"), asked, load())
    assert isinstance(answer, Plan), answer
    return answer


@pytest.mark.parametrize(
    ("spec", "folder", "words"),
    [
        ("Radeon RX 7900 XTX,os=linux,arch=x86_64", "/rocm", "/dev/kfd"),
        ("Arc A770,os=linux,arch=x86_64", "/xpu", "Level Zero"),
        ("Arc B580,os=windows,arch=x86_64", "/xpu", 'torch.device("xpu")'),
        ("Apple M2,os=macos,arch=arm64", "/cpu", 'torch.device("mps")'),
        ("RTX 4090,driver=580.65.06,os=linux,arch=x86_64", "/cu1", ""),
        ("cpu,os=linux,arch=x86_64", "/cpu", ""),
        ("cpu,os=windows,arch=x86_64", "/cpu", ""),
    ],
)
def test_the_index_of_each_and_what_goes_with_it(spec: str, folder: str, words: str) -> None:
    chosen = planned(spec)
    told = [note.text for note in chosen.notes if note.code == "accelerator"]
    assert folder in chosen.index_url and len(told) == (1 if words else 0)
    assert all(words in text for text in told)


def test_an_old_instinct_gets_the_last_rocm_that_serves_it() -> None:
    assert planned("Instinct MI50,os=linux,arch=x86_64").variant == "rocm6.3"
