"""Survey: every build that a request allows on a machine, judged, with the running ones in the order of choice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import driver_of
from envsolve.judge.fit import Refusal
from envsolve.judge.judge import Case, judge
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.resolve.companions import Excluded, pair
from envsolve.resolve.extension_rows import extensions_of
from envsolve.resolve.numpy_rule import numpy_refusal
from envsolve.resolve.plan import Refused
from envsolve.resolve.pypi_builds import pypi_builds
from envsolve.resolve.request import Request
from envsolve.resolve.row import PlannedPackage, Row
from envsolve.resolve.wanted import Wanted, read_wanted
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build

_OWN = {"nvidia": ("cuda",), "amd": ("rocm",), "intel": ("xpu",), "none": ("cpu",)}


@record
class Survey:
    """`running` best first; `refused` what the request allows and the machine, or a companion, does not."""

    running: tuple[Row, ...]
    refused: tuple[Row, ...]


def survey(
    machine: Machine, request: Request, rulebook: Rulebook, *, excluded: Excluded = frozenset(), pins: bool = True
) -> Survey:
    """Judge all builds for the machine's platform. `machine` has only the chosen GPUs, each with its capability.

    With `pins` False builds that the request pins away are judged as well and refused as "pinned-away".
    """
    if not pins:
        return _survey(machine, request, rulebook, excluded, pins)
    absent = frozenset(row for row in excluded if row[0] == "torch")
    found = _remembered(machine, request, rulebook, excluded - absent, pins)
    if not absent:
        return found
    running, refused = (
        tuple(r for r in rows if not _is_absent(r.build, absent)) for rows in (found.running, found.refused)
    )
    return Survey(running=running, refused=refused)


def _survey(machine: Machine, request: Request, rulebook: Rulebook, excluded: Excluded, pins: bool) -> Survey:
    wanted = read_wanted(request)
    rows = list(_rows(machine, request, wanted, rulebook, excluded, pins))
    running = sorted((r for r in rows if r.runs), key=lambda r: r.rank, reverse=True)
    return Survey(running=tuple(running), refused=tuple(r for r in rows if not r.runs))


# Where an index lacks the planned torch, the next one is asked for, and so on: the same survey without those builds.
_remembered = lru_cache(maxsize=2)(_survey)


def _is_absent(build: Build, absent: Excluded) -> bool:
    return ("torch", str(build.torch), build.variant) in absent


def newest_first(rows: tuple[Row, ...]) -> tuple[Refused, ...]:
    """Rows as refusals, the newest torch first, and the best variant of each: the question is why not a newer one."""
    ordered = sorted(rows, key=lambda row: row.rank[1:], reverse=True)
    return tuple(Refused(torch=r.build.torch, variant=r.build.variant, refusals=r.refusals) for r in ordered)


def asked(build: Build, request: Request, wanted: Wanted) -> bool:
    """Whether the user named this build's variant, by --variant or by a label."""
    return build.variant == request.variant or build.variant in wanted.labels


def _rows(
    machine: Machine, request: Request, wanted: Wanted, rulebook: Rulebook, excluded: Excluded, pins: bool
) -> Iterator[Row]:
    builds = _builds(machine, request, wanted, rulebook)
    extensions = extensions_of(request, wanted.others)
    case = _case(machine, wanted, rulebook)
    named = replace(case, asked=True)
    own = _own(machine, builds, case)
    for build in builds:
        pinned = _pinned_away(build, request, wanted, excluded)
        is_named = asked(build, request, wanted)
        if (pinned and pins) or not (is_named or build.accelerator in own):
            continue
        fit = judge(build, named if is_named else case)
        if not fit.runs and pins:  # the decisive reason is known: companions would only add to it
            yield Row(fit=fit, packages=(), refusals=fit.refusals)
            continue
        packages, refusals = _companions(build, wanted, rulebook, case.python, excluded)
        refusals += extensions.refusals(build, machine)
        yield Row(fit=fit, packages=packages, refusals=(*fit.refusals, *refusals, *([pinned] if pinned else [])))


def _case(machine: Machine, wanted: Wanted, rulebook: Rulebook) -> Case:
    cpu_will_do = False
    if machine.vendor == "intel":
        from envsolve.judge.xpu import never_served

        cpu_will_do = never_served(machine, rulebook)
    return Case(
        machine=machine,
        driver=driver_of(machine, rulebook),
        rulebook=rulebook,
        python=machine.python or "",
        exact=wanted.exact,
        cpu_will_do=cpu_will_do,
    )


def _own(machine: Machine, builds: tuple[Build, ...], case: Case) -> tuple[str, ...]:
    """The accelerators whose builds are looked at unasked. Where the platform has none for the GPU, the CPU builds are
    looked at as well, so that the refusal says so."""
    if machine.os == "macos":
        return ("mps", "cpu")
    own: tuple[str, ...] = _OWN.get(vendor_of(machine) or "", ())
    if case.cpu_will_do or not any(build.accelerator in own for build in builds):
        return (*own, "cpu")
    return own


def _builds(machine: Machine, request: Request, wanted: Wanted, rulebook: Rulebook) -> tuple[Build, ...]:
    if request.source == "pypi":
        return pypi_builds(machine.platform, rulebook)
    named = {*wanted.labels, request.variant} - {None}
    if vendor_of(machine) == "nvidia" and all(str(variant).startswith("cu") for variant in named):
        return rulebook.cuda_builds_on(machine.platform) or rulebook.builds_on(machine.platform)
    return rulebook.builds_on(machine.platform)


def _pinned_away(build: Build, request: Request, wanted: Wanted, excluded: Excluded) -> Refusal | None:
    if request.variant is not None and build.variant != request.variant:
        return Refusal(code="pinned-away", text=f"--variant {request.variant} asks for another", blames=("pin",))
    if wanted.labels and not wanted.accepts_variant(build.variant):
        asked_for = " and ".join(sorted(wanted.labels))
        return Refusal(code="pinned-away", text=f"the pins ask for {asked_for}", blames=("pin",))
    if not wanted.accepts("torch", build.torch, build.variant):
        text = f"torch{wanted.specs['torch']} asks for another"
        return Refusal(code="pinned-away", text=text, blames=("pin",))
    if _is_absent(build, excluded):
        return Refusal(code="no-wheel", text="not on the index", blames=("index",))
    return None


def _companions(
    build: Build, wanted: Wanted, rulebook: Rulebook, python: str, excluded: Excluded
) -> tuple[tuple[PlannedPackage, ...], list[Refusal]]:
    packages = [
        PlannedPackage(name="torch", version=build.torch, local_tag=build.local_tag, certain=build.certainty != "low")
    ]
    refusals = []
    for name in wanted.companions:
        pairing = pair(name, build, wanted, rulebook, python, excluded)
        if pairing.package is not None:
            packages.append(pairing.package)
        if pairing.refusal is not None:
            refusals.append(pairing.refusal)
    if refusal := numpy_refusal(build, wanted, rulebook):
        refusals.append(refusal)
    return tuple(packages), refusals
