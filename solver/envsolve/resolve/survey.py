"""Survey: every build that a request allows on a machine, judged, with the running ones in the order of choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import driver_of
from envsolve.judge.fit import Refusal
from envsolve.judge.judge import Case, judge
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.resolve.companions import Excluded, pair
from envsolve.resolve.extension_rows import Extensions, extensions_of
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
    judging, plain = _judged(machine, request, rulebook, pins, repr((machine, request)))
    rows = tuple(_rows_without(excluded, judging, plain)) if excluded else tuple(row for _, row in plain)
    running = sorted((r for r in rows if r.runs), key=lambda r: r.rank, reverse=True)
    return Survey(running=tuple(running), refused=tuple(r for r in rows if not r.runs))


def newest_first(rows: tuple[Row, ...]) -> tuple[Refused, ...]:
    """Rows as refusals, the newest torch first, and the best variant of each: the question is why not a newer one."""
    ordered = sorted(rows, key=lambda row: row.rank[1:], reverse=True)
    return tuple(Refused(torch=r.build.torch, variant=r.build.variant, refusals=r.refusals) for r in ordered)


def asked(build: Build, request: Request, wanted: Wanted) -> bool:
    """Whether the user named this build's variant, by --variant or by a label."""
    return build.variant == request.variant or build.variant in wanted.labels


@record
class _Judging:
    """What stays the same while the builds of one request are judged."""

    machine: Machine
    request: Request
    wanted: Wanted
    extensions: Extensions
    case: Case
    named: Case  # for the variants that the user named
    own: tuple[str, ...]
    pins: bool

    def row(self, build: Build, excluded: Excluded) -> Row | None:
        """One build, judged; None where it is not looked at."""
        wanted, case = self.wanted, self.case
        pinned = _pinned_away(build, self.request, wanted, excluded)
        is_named = asked(build, self.request, wanted)
        if (pinned and self.pins) or not (is_named or build.accelerator in self.own):
            return None
        fit = judge(build, self.named if is_named else case)
        if not fit.runs and self.pins:  # the decisive reason is known: companions would only add to it
            return Row(fit=fit, packages=(), refusals=fit.refusals)
        packages, refusals = _companions(build, wanted, case.rulebook, case.python, excluded)
        refusals += self.extensions.refusals(build, self.machine)
        return Row(fit=fit, packages=packages, refusals=(*fit.refusals, *refusals, *([pinned] if pinned else [])))


@lru_cache(maxsize=4)
def _judged(
    machine: Machine, request: Request, rulebook: Rulebook, pins: bool, words: str
) -> tuple[_Judging, tuple[tuple[Build, Row], ...]]:
    """Every row while nothing is excluded. Kept: a lock plans again for each file that an index lacks.

    `words` tells 550 from 550.0, which are equal and are repeated as they were written.
    """
    wanted = read_wanted(request)
    builds = _builds(machine, request, wanted, rulebook)
    case = _case(machine, wanted, rulebook)
    judging = _Judging(
        machine=machine,
        request=request,
        wanted=wanted,
        extensions=extensions_of(request, wanted.others),
        case=case,
        named=replace(case, asked=True),
        own=_own(machine, builds, case),
        pins=pins,
    )
    rows = ((build, judging.row(build, frozenset())) for build in builds)
    return judging, tuple((build, row) for build, row in rows if row is not None)


def _rows_without(excluded: Excluded, judging: _Judging, plain: Iterable[tuple[Build, Row]]) -> Iterator[Row]:
    """The rows without what is excluded: judged anew where a build or a companion on its variant is."""
    torches = {(version, variant) for package, version, variant in excluded if package == "torch"}
    companions = {variant for package, _, variant in excluded if package != "torch"}
    variants = companions.union(variant for _, variant in torches)
    for build, row in plain:
        variant = build.variant
        if variant not in variants or (variant not in companions and (str(build.torch), variant) not in torches):
            yield row
        elif (changed := judging.row(build, excluded)) is not None:
            yield changed


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
    if ("torch", str(build.torch), build.variant) in excluded:
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
