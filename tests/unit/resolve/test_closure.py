"""The closure of a plan: what is taken, from where, and why not something else."""

from __future__ import annotations

from envsolve.resolve.closure import ASKED, ClosedPackage, Closure, close
from fakes.memory_index import MemoryIndex
from fakes.plans import LINUX_312, a_plan
from fakes.stub_wheels import StubWheel, stub_family, stub_torch


def an_index(*, requires: tuple[str, ...] = (), variant: str = "cu128") -> MemoryIndex:
    """The PyTorch index with the trio of 2.11.0 and a few packages of the default index."""
    index = MemoryIndex()
    family = stub_family(
        variant, tag=LINUX_312, torch="2.11.0", torchvision="0.26.0", torchaudio="2.11.0", requires=requires
    )
    index.add(variant, *family)
    return index


def package(closure: Closure, name: str) -> ClosedPackage:
    return next(package for package in closure.packages if package.name == name)


def pins(closure: Closure) -> dict[str, str]:
    return {package.name: str(package.version) for package in closure.packages}


def test_the_family_comes_from_the_variant_with_its_label() -> None:
    index = an_index()
    index.add_default(stub_torch("2.99.0", tag=LINUX_312))
    closure = close(a_plan(), index)
    assert pins(closure) == {"torch": "2.11.0+cu128", "torchaudio": "2.11.0+cu128", "torchvision": "0.26.0+cu128"}
    assert all(package.direct for package in closure.packages)
    assert {variant for _, variant in index.asked} == {"cu128"}


def test_edges_tell_who_asks() -> None:
    index = an_index(requires=("filelock", "sympy>=1.13"))
    index.add_default(StubWheel(name="filelock", version="3.20"), StubWheel(name="sympy", version="1.14"))
    closure = close(a_plan(), index)
    assert package(closure, "torch").via == (ASKED, "torchaudio", "torchvision")
    assert package(closure, "torch").requires == ("filelock", "sympy")
    assert package(closure, "sympy").via == ("torch",)
    assert not package(closure, "sympy").direct
