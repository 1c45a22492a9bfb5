"""Loosen: the same request with a pin, a label or a variant taken away, and the command line that says so."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envsolve.record import replace
from envsolve.resolve.request import TRIO, Request


def without_labels(request: Request) -> Request:
    """No --variant, and no +label in any specifier of the torch family: torch==2.9.0+cu130 becomes torch==2.9.0."""
    return replace(_family(request, _unlabelled), variant=None)


def without_pins(request: Request) -> Request:
    """The torch family by name alone; --variant stays."""
    return _family(request, _by_name)


def looser(request: Request) -> Iterator[Request]:
    """The request with ever fewer pins, the least change first: the companions', torch's, both, labels and variant."""
    yield _family(request, lambda r: r if _is_torch(r) else _by_name(r))
    yield _family(request, lambda r: _by_name(r) if _is_torch(r) else r)
    yield without_pins(request)
    yield without_pins(without_labels(request))


def torch_at(request: Request, version: str) -> Request:
    """Torch at one version, the rest as it is."""
    pin = SpecifierSet(f"=={version}")
    pinned = _family(request, lambda r: _with_specifier(r, pin) if _is_torch(r) else r)
    if any(_is_torch(r) for r in pinned.requirements):
        return pinned
    return replace(pinned, requirements=(Requirement(f"torch=={version}"), *pinned.requirements))


def command(request: Request, *options: str, program: str = "plan") -> str:
    """The `envsolve plan` command of a request, or that of another program that takes the same."""
    words = ["envsolve", program, *(str(r) for r in request.requirements)]
    if request.target:
        words += ["--target", request.target]
    if request.variant:
        words += ["--variant", request.variant]
    if request.source != "pytorch":
        words += ["--source", request.source]
    if "--gpus" not in options:
        words += _gpus(request)
    return shlex.join([*words, *options])


def _gpus(request: Request) -> list[str]:
    if request.gpus == "all":
        return []
    return ["--gpus", request.gpus if isinstance(request.gpus, str) else ",".join(map(str, request.gpus))]


def _family(request: Request, change: Callable[[Requirement], Requirement]) -> Request:
    changed = (change(r) if canonicalize_name(r.name) in TRIO else r for r in request.requirements)
    # "torch>=2 torch<2.5" by name alone is torch twice.
    once = {str(r): r for r in changed}
    return replace(request, requirements=tuple(once.values()))


def _by_name(requirement: Requirement) -> Requirement:
    return _with_specifier(requirement, SpecifierSet())


def _unlabelled(requirement: Requirement) -> Requirement:
    if requirement.url is not None:
        return _by_name(requirement)
    return _with_specifier(requirement, SpecifierSet(",".join(str(s).split("+")[0] for s in requirement.specifier)))


def _with_specifier(requirement: Requirement, specifier: SpecifierSet) -> Requirement:
    """The requirement with another specifier; its extras and marker stay."""
    changed = Requirement(str(requirement))
    changed.specifier, changed.url = specifier, None
    return changed


def _is_torch(requirement: Requirement) -> bool:
    return canonicalize_name(requirement.name) == "torch"
