"""Judged: whether the pins of another tool run on a machine, and the nearest set that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envsolve.judge.fit import Note
from envsolve.lock.foreign_pin import Foreign, ForeignPin
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.resolve.plan import Answer, Plan
from envsolve.resolve.planner import plan as plan_for
from envsolve.resolve.request import TRIO, Request
from envsolve.resolve.target_env import TargetEnv, target_env
from envsolve.rulebook.rulebook import Rulebook

_FAR = 1000  # no major has so many minors


@record
class Judged:
    """The pins that the target takes, as requirements; what the planner says of exactly these; and, where they don't
    run, the nearest plan that does (None: nothing does, or the answer is a question)."""

    foreign: Foreign
    pins: tuple[Requirement, ...]
    answer: Answer
    nearest: Plan | None

    @property
    def runs(self) -> bool:
        return isinstance(self.answer, Plan)


def judge_foreign(foreign: Foreign, machine: Machine, request: Request, rulebook: Rulebook) -> Judged:
    """Judge a file's pins on a machine; `request` holds the GPUs and the rest that the user chose.

    Raises InputError for requirements that make no sense.
    """
    taken = tuple(_taken(foreign.pins, machine))
    pins = tuple(Requirement(f"{pin.name}{pin.versions}") for pin in taken)
    asked = replace(request, requirements=pins, variant=_variant(foreign, taken, request))
    if asked.variant is None and not any("+" in str(pin.specifier) for pin in pins):
        asked = replace(asked, source="pypi")  # neither a label nor an index: what the default index has
    answer = plan_for(machine, asked, rulebook)
    if isinstance(answer, Plan):
        noted = replace(answer, notes=(*_notes(foreign), *answer.notes))
        return Judged(foreign=foreign, pins=pins, answer=noted, nearest=None)
    return Judged(foreign=foreign, pins=pins, answer=answer, nearest=_nearest(pins, machine, request, rulebook))


def _taken(pins: Iterable[ForeignPin], machine: Machine) -> Iterator[ForeignPin]:
    """The pin of each package that the machine takes: by its markers, then by the wheels that are listed."""
    env = target_env(machine, machine.python) if machine.python else None
    by_name: dict[str, list[ForeignPin]] = {}
    for pin in pins:
        if env is None or not pin.markers or any(_holds(marker, env) for marker in pin.markers):
            by_name.setdefault(canonicalize_name(pin.name), []).append(pin)
    for some in by_name.values():
        fitting = [pin for pin in some if env is None or _fits(pin, env)]
        yield (fitting or some)[0]


def _holds(marker: str, env: TargetEnv) -> bool:
    try:
        return env.holds(Marker(marker))
    except InvalidMarker:
        return True


def _fits(pin: ForeignPin, env: TargetEnv) -> bool:
    return not pin.wheels or any(_wheel_fits(wheel, env) for wheel in pin.wheels)


def _wheel_fits(wheel: str, env: TargetEnv) -> bool:
    try:
        return env.best_rank(parse_wheel_filename(wheel)[3]) is not None
    except InvalidWheelFilename:
        return False


def _variant(foreign: Foreign, taken: Iterable[ForeignPin], request: Request) -> str | None:
    """The variant that the user asks for, else the one that torch's address or the file names."""
    own = next((pin.variant for pin in taken if pin.name == "torch"), "")
    return request.variant or own or foreign.variant or None


def _notes(foreign: Foreign) -> Iterator[Note]:
    if foreign.conda:
        text = "torch comes from a conda channel; judged as the wheel of the same version and CUDA, which may differ"
        yield Note(code="conda-build", text=text)


def _nearest(pins: tuple[Requirement, ...], machine: Machine, request: Request, rulebook: Rulebook) -> Plan | None:
    """The plan with the torch that is nearest to the pinned one; the companions that are pinned come along."""
    names = [Requirement(pin.name) for pin in pins if pin.name in TRIO]
    numpy = [pin for pin in pins if pin.name == "numpy"]
    for kept in (numpy, []) if numpy else ([],):
        wide = replace(request, requirements=(*names, *kept), variant=None)
        best = plan_for(machine, wide, rulebook)
        if isinstance(best, Plan):
            return _at(_nearest_build(best, _pinned_torch(pins)), best, wide, machine, rulebook)
    return None


def _pinned_torch(pins: Iterable[Requirement]) -> Version | None:
    specs = [pin.specifier for pin in pins if pin.name == "torch"]
    versions = [s.version.removesuffix(".*") for spec in specs for s in spec if s.operator in ("==", "===", "~=")]
    return Version(Version(versions[0]).public) if versions else None


def _nearest_build(best: Plan, pinned: Version | None) -> tuple[Version, str]:
    """Torch and variant of the row that is nearest to the pinned torch; of equally near ones the planner's first."""
    own = (best.build.torch, best.variant)
    if pinned is None:
        return own
    rows = [own, *((row.build.torch, row.build.variant) for row in best.alternatives if row.certain)]
    return min(rows, key=lambda row: _distance(row[0], pinned))


def _distance(torch: Version, pinned: Version) -> tuple[int, bool, int]:
    """How far one torch is from another: in minor releases, a newer one before an older one; of another minor release
    the last micro is the nearest."""
    minors = (torch.major - pinned.major) * _FAR + torch.minor - pinned.minor
    return abs(minors), minors < 0, -torch.micro if minors else abs(torch.micro - pinned.micro)


def _at(build: tuple[Version, str], best: Plan, wide: Request, machine: Machine, rulebook: Rulebook) -> Plan:
    torch, variant = build
    if (torch, variant) == (best.build.torch, best.variant):
        return best
    pinned = [Requirement(f"torch=={torch}") if r.name == "torch" else r for r in wide.requirements]
    found = plan_for(machine, replace(wide, requirements=tuple(pinned), variant=variant), rulebook)
    return found if isinstance(found, Plan) else best
