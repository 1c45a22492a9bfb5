"""The answer in words: what to install, why each GPU runs it, what was refused, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

from envsolve.machine.machine import Machine
from envsolve.resolve.answer_json import fits_of
from envsolve.resolve.fold import fold
from envsolve.resolve.plan import ANY, Answer, GpuChoice, NeedsInput, NoPlan, Plan, Refused, Remedy
from envsolve.resolve.row import Row

SCREEN = 8  # refusals, and builds that run as well, shown without --explain

_VERDICTS = {
    "native": "native: has its own code ({code})",
    "compatible": "compatible: runs {code} code",
    "jit": "JIT: the driver compiles {code} at first use",
    "unknown": "unknown: nobody has read whether the build has code for it",
    "unsupported": "not used by this build",
}


def as_text(answer: Answer, *, explain: bool = False) -> str:
    """The whole text, without a final newline. `explain` shows every refusal instead of the newest, folded ones."""
    if isinstance(answer, Plan):
        return "\n".join(_plan(answer, explain))
    if isinstance(answer, NoPlan):
        return "\n".join(_no_plan(answer, explain))
    return "\n".join(_question(answer))


def _plan(plan: Plan, explain: bool) -> Iterator[str]:
    yield " ".join(f"{p.name} {p.label(plan.variant)}" for p in plan.packages)
    yield f"for Python {plan.python} on {_place(plan.machine)}, from {plan.index_url or 'the default Python index'}"
    yield from _fits(plan)
    if plan.unresolved:
        yield f"not looked at (no index was asked): {', '.join(plan.unresolved)}"
    yield from _section("notes", (n.text for n in plan.notes))
    newer = plan.refused if explain else tuple(r for r in plan.refused if r.torch >= plan.build.torch)
    yield from _refused("not chosen", newer, explain)
    if explain:
        yield from _section("would run as well, best first", _running(plan.alternatives))
    yield from _section("ways on", (line for r in plan.remedies for line in _remedy(r)))
    yield from _section("install", _commands(plan))


def _no_plan(no: NoPlan, explain: bool) -> Iterator[str]:
    yield f"no build runs: {no.guilty}"
    yield from _section("notes", (n.text for n in no.notes))
    named = tuple(r for r in no.refused if r.variant == ANY)  # nobody published it: the others are beside the point
    yield from _refused("refused", no.refused if explain else named or no.refused, explain)
    yield from _section("what one build serves of these cards", _table(no.choices))
    yield from _section("ways out, cheapest first", (line for r in _each_once(no.remedies) for line in _remedy(r)))


def _question(question: NeedsInput) -> Iterator[str]:
    yield "more must be known:"
    for missing in question.missing:
        yield f"  {missing.field}: {missing.how}"


def _fits(plan: Plan) -> Iterator[str]:
    """A line for each kind of card: several alike are told once."""
    lines = [(fit.gpu, _VERDICTS[fit.verdict].format(code=fit.code)) for fit in fits_of(plan)]
    counted = {line: lines.count(line) for line in lines}
    names = {line: line[0] if count == 1 else f"{count}x {line[0]}" for line, count in counted.items()}
    width = max(map(len, names.values()), default=0)
    for line, name in names.items():
        yield f"  {name:<{width}}  {line[1]}"


def _refused(title: str, refused: Sequence[Refused], explain: bool) -> Iterator[str]:
    if explain:
        lines = (
            f"{'torch' if r.variant == ANY else r.variant} {r.torch}: {w.text}" for r in refused for w in r.refusals
        )
        yield from _section(title, lines)
        return
    folded = [str(f) for f in fold(refused)]
    more = [f"and {len(folded) - SCREEN} more reasons (--explain)"] if len(folded) > SCREEN else []
    yield from _section(title, [*folded[:SCREEN], *more])


def _running(rows: Iterable[Row]) -> Iterator[str]:
    by_torch: dict[str, list[str]] = {}
    for row in rows:
        by_torch.setdefault(str(row.build.torch), []).append(row.build.variant)
    yield from (f"{torch} {' '.join(variants)}" for torch, variants in by_torch.items())


def _table(choices: Sequence[GpuChoice]) -> Iterator[str]:
    """Which cards each of the best builds serves, and which it loses."""
    builds = [f"torch {c.torch} {c.variant}" for c in choices]
    served = [f"GPU {','.join(map(str, c.gpus))}: {_counted(c.covered)}" for c in choices]
    widths = max(map(len, builds), default=0), max(map(len, served), default=0)
    for choice, build, cards in zip(choices, builds, served, strict=True):
        yield f"{build:<{widths[0]}}  {cards:<{widths[1]}}  loses {_counted(choice.lost)}"


def _counted(names: Sequence[str]) -> str:
    counts = {name: names.count(name) for name in names}
    return ", ".join(name if count == 1 else f"{count}x {name}" for name, count in counts.items())


def _each_once(remedies: Iterable[Remedy]) -> list[Remedy]:
    """Two remedies with one command are one for the reader."""
    once: dict[str, Remedy] = {}
    for remedy in remedies:
        once.setdefault(remedy.command or remedy.text, remedy)
    return list(once.values())


def _remedy(remedy: Remedy) -> Iterator[str]:
    yield remedy.text
    for line in remedy.command.splitlines():
        yield f"  {line}"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    rows = list(lines)
    if rows:
        yield f"{title}:"
        yield from (f"  {row}" for row in rows)


def _commands(plan: Plan) -> Iterator[str]:
    names = [f"{p.name}=={p.label(plan.variant)}" for p in plan.packages]
    index = ["--index-url", plan.index_url] if plan.index_url else []
    yield shlex.join(["pip", "install", *names, *index])
    yield shlex.join(["uv", "pip", "install", *names, *index])
    asked = [str(r) for r in plan.request.requirements]
    target = ["--target", plan.request.target, "--verify", "later"] if plan.request.target else []
    yield shlex.join(["envsolve", "install", "--name", "NAME", *asked, *target])


def _place(machine: Machine) -> str:
    return machine.platform.replace("_", " ", 1)
