"""Loosen: the same request with a pin, a label or a variant taken away, and the command line that says so."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from envsolve.resolve.request import TRIO, Request


def without_labels(request: Request) -> Request:
    """No --variant, and no +label in any specifier of the torch family: torch==2.9.0+cu130 becomes torch==2.9.0."""
    return replace(_family(request, _unlabelled), variant=None)


def without_pins(request: Request) -> Request:
    """The torch family by name alone; --variant stays."""
    return _family(request, lambda r: Requirement(r.name))


def torch_at(request: Request, version: str) -> Request:
    """Torch at one version, its companions free."""
    return _family(request, lambda r: Requirement(f"torch=={version}" if _is_torch(r) else r.name))


def command(request: Request, *options: str) -> str:
    """The `envsolve plan` command of a request."""
    words = ["envsolve", "plan", *(str(r) for r in request.requirements)]
    if request.target:
        words += ["--target", request.target]
    if request.variant:
        words += ["--variant", request.variant]
    return shlex.join([*words, *options])


def _family(request: Request, change: Callable[[Requirement], Requirement]) -> Request:
    changed = tuple(change(r) if canonicalize_name(r.name) in TRIO else r for r in request.requirements)
    return replace(request, requirements=changed)


def _unlabelled(requirement: Requirement) -> Requirement:
    if requirement.url is not None:
        return Requirement(requirement.name)
    spec = SpecifierSet(",".join(str(s).split("+")[0] for s in requirement.specifier))
    return Requirement(f"{requirement.name}{spec}")


def _is_torch(requirement: Requirement) -> bool:
    return canonicalize_name(requirement.name) == "torch"
