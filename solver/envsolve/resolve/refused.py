"""What a "no" lists: each build that the request allows, with its decisive reason."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.specifiers import Specifier
from packaging.version import InvalidVersion, Version

from envsolve.judge.fit import Refusal
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.loosen import without_labels
from envsolve.resolve.plan import ANY, Refused
from envsolve.resolve.request import Request
from envsolve.resolve.survey import Survey, newest_first, survey
from envsolve.resolve.wanted import Wanted, read_wanted
from envsolve.rulebook.rulebook import Rulebook

MOST_UNPUBLISHED = 12  # versions named one by one that have no wheel for the platform


def refused_rows(machine: Machine, request: Request, found: Survey, rulebook: Rulebook) -> tuple[Refused, ...]:
    """The refused rows, newest torch first; where the request allows none, what it names and nobody published."""
    if found.refused:
        return newest_first(found.refused)
    wanted = read_wanted(request)
    free = read_wanted(without_labels(request))
    versions = [v for v in rulebook.torch_versions if free.accepts("torch", v, "")]
    if not versions:
        unknown = _never_published(wanted, rulebook)
        return (*unknown, *_pinned_away(machine, request, rulebook))
    variants = sorted(wanted.labels | ({request.variant} if request.variant else set()))
    named = [(v, variant) for v in reversed(versions) for variant in variants or [ANY]][:MOST_UNPUBLISHED]
    if len(variants) > 1:
        return tuple(_contradiction(torch, variant, variants) for torch, variant in named)
    return tuple(_unpublished(torch, variant, machine, rulebook) for torch, variant in named)


def _never_published(wanted: Wanted, rulebook: Rulebook) -> tuple[Refused, ...]:
    """What is asked for and is none of the releases: a pin, or bounds with no release between them."""
    asked = [_version(wanted.exact_torch), *map(_bound, wanted.specs["torch"])]
    named = next((version for version in asked if version is not None), None)
    if named is None or (wanted.exact_torch and named in rulebook.torch_versions):
        return ()
    told = f"torch {named}" if wanted.exact_torch else f"torch{wanted.specs['torch']}"
    text = f"there is no {told} in the rules; {_nearest(named, rulebook.torch_versions)}"
    refusal = Refusal(code="no-wheel", text=text, blames=("pin",))
    return (Refused(torch=named, variant=ANY, refusals=(refusal,)),)


def _nearest(named: Version, releases: Sequence[Version]) -> str:
    older, newer = [v for v in releases if v < named], [v for v in releases if v >= named]
    if not newer:
        return f"the newest is {older[-1]}"
    return f"the nearest are {older[-1]} and {newer[0]}" if older else f"the oldest is {newer[0]}"


def _bound(specifier: Specifier) -> Version | None:
    return None if specifier.operator == "!=" else _version(specifier.version.removesuffix(".*"))


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _contradiction(torch: Version, variant: str, variants: list[str]) -> Refused:
    text = f"{' and '.join(variants)} are asked for at once; all CUDA packages of one plan carry the same variant"
    refusal = Refusal(code="pinned-away", text=text, blames=("pin",))
    return Refused(torch=torch, variant=variant, refusals=(refusal,))


def _unpublished(torch: Version, variant: str, machine: Machine, rulebook: Rulebook) -> Refused:
    here = sorted({b.variant for b in rulebook.builds_on(machine.platform) if b.torch == torch})
    place = machine.platform.replace("_", " ", 1)
    has = f"; there: {' '.join(here)}" if here else ""
    told = [row.reason for row in rulebook.not_published if row.variant == variant and row.torch.contains(torch)]
    why = f" ({told[0]})" if told else ""
    refusal = Refusal(code="no-wheel", text=f"no such wheel for {place}{why}{has}", blames=("pin", "platform"))
    return Refused(torch=torch, variant=variant, refusals=(refusal,))


def _pinned_away(machine: Machine, request: Request, rulebook: Rulebook) -> tuple[Refused, ...]:
    """No published torch matches the specifier: name the newest that are there."""
    found = survey(machine, request, rulebook, pins=False)
    rows = newest_first((*found.running, *found.refused))
    return tuple(replace(row, refusals=_pins(row.refusals) or row.refusals) for row in rows)


def _pins(refusals: tuple[Refusal, ...]) -> tuple[Refusal, ...]:
    """The pins' own word: whether such a build would run does not matter."""
    return tuple(refusal for refusal in refusals if refusal.code == "pinned-away")
