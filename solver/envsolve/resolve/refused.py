"""What a "no" lists: each build that the request allows, with its decisive reason."""

from __future__ import annotations

from packaging.version import Version

from envsolve.judge.fit import Refusal
from envsolve.machine.machine import Machine
from envsolve.resolve.plan import Refused
from envsolve.resolve.request import Request
from envsolve.resolve.survey import Survey, survey
from envsolve.resolve.wanted import Wanted, read_wanted
from envsolve.rulebook.rulebook import Rulebook


def refused_rows(machine: Machine, request: Request, found: Survey, rulebook: Rulebook) -> tuple[Refused, ...]:
    """The refused rows, newest torch first; where the request allows none, what it names and nobody published."""
    if found.refused:
        rows = sorted(found.refused, key=lambda r: r.rank[1:], reverse=True)
        return tuple(Refused(torch=r.build.torch, variant=r.build.variant, refusals=r.refusals) for r in rows)
    return tuple(_nothing(machine, request, rulebook))


def _nothing(machine: Machine, request: Request, rulebook: Rulebook) -> list[Refused]:
    """No row is left by the request: say what it names that is not there, or that belongs to another accelerator."""
    wanted = read_wanted(request)
    variants = {request.variant} if request.variant else set(wanted.labels)
    versions = [v for v in rulebook.torch_versions if wanted.accepts("torch", v, next(iter(variants), ""))]
    named = [(v, variant) for v in versions for variant in sorted(variants)]
    if not named:
        return _pinned_away(machine, request, rulebook, wanted)
    return [_unpublished(torch, variant, machine, rulebook) for torch, variant in named]


def _unpublished(torch: Version, variant: str, machine: Machine, rulebook: Rulebook) -> Refused:
    here = sorted({b.variant for b in rulebook.builds_on(machine.platform) if b.torch == torch})
    place = machine.platform.replace("_", " ", 1)
    has = f"; there: {' '.join(here)}" if here else ""
    refusal = Refusal(code="no-wheel", text=f"no such wheel for {place}{has}", blames=("pin", "platform"))
    return Refused(torch=torch, variant=variant, refusals=(refusal,))


def _pinned_away(machine: Machine, request: Request, rulebook: Rulebook, wanted: Wanted) -> list[Refused]:
    """No published torch matches the specifier: name the newest that are there."""
    rows = survey(machine, request, rulebook, pins=False)
    newest = sorted((*rows.running, *rows.refused), key=lambda r: r.rank[1:], reverse=True)
    return [Refused(torch=r.build.torch, variant=r.build.variant, refusals=r.refusals) for r in newest]
