"""Driver: which branch is enough, which is the last for these cards, and how a system gets there. Nothing is run."""

from __future__ import annotations

from typing import Literal

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import Driver, driver_of, floor, mismatch
from envsolve.judge.fit import Fit
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build
from envsolve.rulebook.ways_tables import Ways, load_ways
from envsolve.ways import cards
from envsolve.ways.driver_commands import Steps, steps_for
from envsolve.ways.driver_compat import Compat, compat_for, gains
from envsolve.ways.driver_goal import best_fit, with_branch
from envsolve.ways.kernel_modules import module_clash
from envsolve.ways.source_build import newest_recipe

Action = Literal["keep", "update", "downgrade", "install", "impossible", "unknown"]


@record
class DriverAdvice:
    """What to do about the driver.

    `first` and `last`: the branches that drive all cards (None = no limit known). `build`: what the change is for.
    `enough`: the lowest driver that runs it; `branch`: the one to install, for "update", "downgrade" and "install".
    `compat`: the way without a new driver, where it is allowed.
    """

    action: Action
    reason: str
    cards: str
    current: Driver
    first: int | None = None
    last: int | None = None
    build: Build | None = None
    enough: Dotted | None = None
    branch: int | None = None
    compat: Compat | None = None
    steps: tuple[Steps, ...] = ()
    notes: tuple[str, ...] = ()


def advice(
    machine: Machine, rulebook: Rulebook, ways: Ways | None = None, *, build: Build | None = None
) -> DriverAdvice | None:
    """The advice for a machine; `build` is what must run (default: the best that these cards can run under any driver).

    None where no NVIDIA GPU is to be used: other vendors' drivers are not envsolve's to judge.
    """
    if vendor_of(machine) != "nvidia" or machine.os == "macos":
        return None
    ways = ways or load_ways()
    machine = cards.identified(machine, rulebook)
    found = cards.capabilities(machine)
    plain = DriverAdvice(action="unknown", reason="", cards=cards.names(machine), current=driver_of(machine, rulebook))
    if machine.tegra or (found and set(found) & rulebook.tegra_capabilities):
        return replace(plain, reason="the driver of a Jetson is part of JetPack: it comes with L4T, not by itself")
    if found is None:
        return replace(plain, reason="a GPU whose compute capability is not known: name it, or add cc= to --target")
    first, last = cards.drivable(found, rulebook)
    limited = replace(plain, first=first, last=last)
    if first is not None and last is not None and first > last:
        text = f"no driver drives all of these: one needs R{first} or newer, another ends with R{last}"
        return replace(limited, action="impossible", reason=text)
    if clash := module_clash(machine, found, ways):
        return replace(limited, action="impossible", reason=clash)
    return _judged(limited, machine, found, build, rulebook, ways)


def _judged(
    limited: DriverAdvice,
    machine: Machine,
    found: tuple[Capability, ...],
    build: Build | None,
    rulebook: Rulebook,
    ways: Ways,
) -> DriverAdvice:
    top = limited.last if limited.last is not None else max(rulebook.branches)
    accepts = (lambda b: b == build) if build is not None else (lambda b: True)
    goal = best_fit(machine, top, rulebook, accepts)
    if goal is None:
        return _without_build(limited, machine, found, build, rulebook, ways)
    enough = lowest_driver(goal, limited.first, limited.current, rulebook)
    action, reason = _action(limited, enough)
    advised = replace(limited, action=action, reason=reason, build=goal.build, enough=enough)
    if action == "keep":
        return advised
    branch = branch_to_install(enough, limited.first, limited.last, rulebook)
    if branch is None:
        return replace(advised, action="impossible", reason=f"{reason}; the rules know no branch that is new enough")
    compat = compat_for(machine, limited.current, limited.first, top, rulebook, ways) if action == "update" else None
    if compat is not None and not gains(compat, machine, rulebook):
        compat = None
    return replace(
        advised,
        branch=branch,
        compat=compat,
        steps=steps_for(machine, branch, found, ways),
        notes=tuple(_notes(advised, branch, rulebook)),
    )


def _without_build(
    limited: DriverAdvice,
    machine: Machine,
    found: tuple[Capability, ...],
    build: Build | None,
    rulebook: Rulebook,
    ways: Ways,
) -> DriverAdvice:
    """No published build runs under any driver. One that drives the cards is wanted, to compile for them."""
    text = "no driver makes a published build run here: the driver is not what stands in the way"
    none = replace(limited, action="impossible", reason=text, build=build)
    branch = branch_to_install(Dotted.parse(str(limited.first or 0)), limited.first, limited.last, rulebook)
    if build is not None or branch is None:
        return none
    compiled = newest_recipe(with_branch(machine, branch, rulebook), rulebook, ways)
    if compiled is None:
        return none
    note = f"torch {compiled.torch} can be compiled for these cards (envsolve source-build)"
    clashes = [clash for c in found if (clash := mismatch(limited.current, c, rulebook))]
    if not clashes:
        return replace(none, notes=(note,))
    return replace(
        none,
        action="downgrade" if any(code == "driver-too-new" for code, _ in clashes) else "update",
        reason=clashes[0][1],
        branch=branch,
        steps=steps_for(machine, branch, found, ways),
        notes=("no published build runs on these cards under any driver", note, *_notes(none, branch, rulebook)),
    )


def lowest_driver(goal: Fit, first: int | None, current: Driver, rulebook: Rulebook) -> Dotted:
    """The lowest driver for a build: by minor-version compatibility, or the toolkit's own where code is compiled at
    start (JIT), and never below the first branch that knows the cards."""
    numbers = []
    cuda = goal.build.cuda
    if cuda is not None:
        jit = any(gpu.verdict == "jit" for gpu in goal.gpus)
        own = rulebook.toolkit_driver(cuda)
        full = (own.windows if current.windows else own.linux) if own is not None else None
        lowest = full if jit and full is not None else floor(cuda, rulebook, windows=current.windows)
        numbers += [n for n in (lowest,) if n is not None]
    if first is not None:
        numbers.append(Dotted.parse(str(first)))
    return max(numbers, key=lambda number: number.parts, default=Dotted.parse("0"))


def _action(limited: DriverAdvice, enough: Dotted) -> tuple[Action, str]:
    current, last = limited.current, limited.last
    if not current.known:
        return "install", "no driver is known here"
    branch = current.branch
    if last is not None and branch is not None and branch > last:
        return "downgrade", f"{current} no longer drives the card: R{last} is the last branch that does"
    if _older(current, enough):
        return "update", f"{current} is older than {enough}"
    return "keep", f"{current} is enough"


def _older(current: Driver, enough: Dotted) -> bool:
    """By the version where it is known, else by the branch that the driver's CUDA tells."""
    if current.version is not None:
        return current.version < enough
    return current.branch is None or current.branch < enough.major


def branch_to_install(enough: Dotted, first: int | None, last: int | None, rulebook: Rulebook) -> int | None:
    """The newest long-term or production branch that will do; where there is none, the newest that drives the cards."""
    least = max(enough.major, first or 0)
    fitting = [b for b in rulebook.branches.values() if b.branch >= least and (last is None or b.branch <= last)]
    for kind in ("LTS", "production"):
        if kept := [b.branch for b in fitting if b.kind == kind]:
            return max(kept)
    return max((b.branch for b in fitting), default=None)


def _notes(advised: DriverAdvice, branch: int, rulebook: Rulebook) -> list[str]:
    notes = []
    if advised.last is not None:
        notes.append(f"never past R{advised.last}: newer branches have dropped the card")
    elif advised.enough is not None and branch > advised.enough.major:
        notes.append(f"any branch from R{advised.enough.major} on will do; R{branch} is the newest long-term one")
    end = rulebook.branches[branch].end_of_life
    if end:
        notes.append(f"R{branch} is maintained until {end}")
    elif advised.last == branch and advised.last < max(rulebook.branches):
        notes.append(f"R{branch} is the end of the line for the card: plan for its replacement")
    if advised.current.windows:
        notes.append("Windows drivers count their own minor numbers: compare the branch")
    return notes
