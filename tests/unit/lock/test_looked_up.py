"""The other requirements of a plan, looked up: they get versions, have their say, or stay unresolved with a reason."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.lock.looked_up import look_up
from envsolve.resolve.plan import Answer, NoPlan, Plan
from envsolve.resolve.planner import plan as plan_for
from envsolve.resolve.request import Request
from envsolve.rulebook.load import load
from fakes.memory_index import MemoryIndex
from fakes.plans import a_machine
from fakes.stub_wheels import StubSdist, StubWheel


@pytest.fixture
def index() -> MemoryIndex:
    """What people take beside torch; the torch family is nowhere."""
    made = MemoryIndex()
    made.add_default(StubWheel(name="six", version="1.17"), StubWheel(name="six", version="2.0rc1"))
    made.add_default(StubWheel(name="timm", version="1.0", requires=("torchvision>=0.20", "torch>=2")))
    made.add_default(StubWheel(name="old", version="1.0", requires=("torch<2.9",)))
    made.add_default(StubSdist(name="flash-attn", version="2.8"))
    return made


def asked(*requirements: str) -> Request:
    return Request(requirements=tuple(map(Requirement, requirements)))


def answer(index: MemoryIndex, *requirements: str) -> Answer:
    plan = plan_for(a_machine(), asked(*requirements), load())
    assert isinstance(plan, Plan)
    return look_up(plan, index, load())


def planned(index: MemoryIndex, *requirements: str) -> Plan:
    found = answer(index, *requirements)
    assert isinstance(found, Plan)
    return found


def test_they_get_versions(index: MemoryIndex) -> None:
    found = planned(index, "torch", "Six")
    assert (found.resolved, found.unresolved) == ((("six", "1.17"),), ())
    assert [package.name for package in found.packages] == ["torch"]
    assert not [name for name, _ in index.asked if name == "torch"]


def test_what_they_need_of_the_family_is_planned(index: MemoryIndex) -> None:
    found = planned(index, "torch", "timm")
    assert [package.name for package in found.packages] == ["torch", "torchvision"]
    assert found.resolved == (("timm", "1.0"),)


def test_an_older_torch_for_their_sake_is_said(index: MemoryIndex) -> None:
    found = planned(index, "torch", "old")
    assert found.build.torch.release < (2, 9)
    (note,) = [note.text for note in found.notes if note.code == "other-requirements"]
    assert note.endswith("a package needs torch<2.9")


def test_a_companion_that_the_newest_release_pins_leaves_the_older_ones(index: MemoryIndex) -> None:
    index.add_default(StubWheel(name="serve", version="2.0", requires=("torch==2.11.0", "torchaudio==2.11.0")))
    index.add_default(StubWheel(name="serve", version="1.0", requires=("torch==2.9.1", "torchaudio==2.9.1")))
    found = planned(index, "torch==2.9.1", "serve")
    assert found.resolved == (("serve", "1.0"),)
    assert [f"{package.name} {package.version}" for package in found.packages] == ["torch 2.9.1", "torchaudio 2.9.1"]


def test_where_all_releases_pin_another_torch_the_pin_is_told(index: MemoryIndex) -> None:
    index.add_default(StubWheel(name="serve", version="2.0", requires=("torch==2.11.0", "torchaudio==2.11.0")))
    found = answer(index, "torch==2.9.1", "serve")
    assert isinstance(found, NoPlan)
    assert "serve 2.0 needs torch==2.11.0" in found.guilty and "torchaudio" not in found.guilty


def test_a_search_that_is_given_up_leaves_the_plan(index: MemoryIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envsolve.resolve.closure._MAX_ROUNDS", 1)
    for version in ("1.0", "2.0"):
        index.add_default(StubWheel(name="left", version=version, requires=("right<2",)))
        index.add_default(StubWheel(name="right", version=version, requires=("left<2",)))
    found = planned(index, "torch", "left>=2", "right")
    assert found.unresolved == ("left", "right")
    assert "too many combinations" in found.notes[-1].text


def test_what_no_index_has_as_a_wheel_stays_unresolved(index: MemoryIndex) -> None:
    found = planned(index, "torch", "absent", "six>5", "timm")
    assert found.unresolved == ("absent", "six")
    assert [note.text for note in found.notes if note.code == "not-on-the-index"] == [
        "absent: no index that was asked has it",
        "six: no version that is there for this target satisfies >5",
    ]
    assert found.resolved == (("timm", "1.0"),)


def test_a_library_with_cuda_code_has_its_say_though_no_index_has_a_wheel(index: MemoryIndex) -> None:
    index.add_default(StubSdist(name="torch-scatter", version="2.1"))
    found = planned(index, "torch", "flash_attn", "six")
    assert found.build.torch == Version("2.8.0") and found.unresolved == ()
    assert found.resolved == (("six", "1.17"), ("flash_attn", "2.8.3.post1"))
    assert [canonicalize_name(w.name) for w in found.wheels] == ["flash-attn"] and "cp312" in str(found.wheels[0].url)
    assert index.metadata_asked == [] or "flash" not in " ".join(index.metadata_asked)
    page = planned(index, "torch", "torch-scatter==2.1", "torch_cluster")
    assert page.unresolved == ("torch-scatter", "torch_cluster") and page.resolved == ()
    assert "torch-scatter: no wheel for this target (1 source archive)" in [note.text for note in page.notes]
    (address,) = page.pages
    assert any(f"--find-links {address}" in note.text for note in page.notes if note.code == "extension")


def test_a_contradiction_is_a_no(index: MemoryIndex) -> None:
    found = answer(index, "torch==2.10.0", "old")
    assert isinstance(found, NoPlan)
    assert found.guilty.startswith("these requirements can't go together:")
    assert [(r.code, r.text) for r in found.remedies] == [("relax-pin", "write torch in place of torch==2.10.0")]


def test_an_index_that_can_not_be_reached_leaves_the_plan(index: MemoryIndex) -> None:
    index.unreachable = True
    found = planned(index, "torch", "six")
    assert (found.resolved, found.unresolved) == ((), ("six",))
    assert "can't be reached" in next(note.text for note in found.notes if note.code == "not-looked-up")
