"""The answer in words: what to install, why each GPU runs it, what was refused, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from envsolve.judge.fit import GpuFit
from envsolve.machine.machine import Machine
from envsolve.resolve.fold import fold
from envsolve.resolve.plan import Answer, NeedsInput, NoPlan, Plan, Refused, Remedy

SCREEN = 12  # refusals shown without --explain


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
    yield from _fits(plan.fits)
    if plan.unresolved:
        yield f"not looked at (no index was asked): {', '.join(plan.unresolved)}"
    yield from _section("notes", (n.text for n in plan.notes))
    newer = plan.refused if explain else tuple(r for r in plan.refused if r.torch >= plan.build.torch)
    yield from _refused(newer, explain)
    yield from _section("install", _commands(plan))


def _no_plan(no: NoPlan, explain: bool) -> Iterator[str]:
    yield f"no build runs: {no.guilty}"
    yield from _section("notes", (n.text for n in no.notes))
    yield from _refused(no.refused, explain)
    yield from _section("ways out", (line for r in no.remedies for line in _remedy(r)))


def _question(question: NeedsInput) -> Iterator[str]:
    yield "more must be known:"
    for missing in question.missing:
        yield f"  {missing.field}: {missing.how}"


def _fits(fits: tuple[GpuFit, ...]) -> Iterator[str]:
    width = max((len(f.gpu) for f in fits), default=0)
    for fit in fits:
        yield f"  {fit.gpu:<{width}}  {fit.verdict} {fit.code}".rstrip()


def _refused(refused: tuple[Refused, ...], explain: bool) -> Iterator[str]:
    if explain:
        lines = [f"{r.variant} {r.torch}: {refusal.text}" for r in refused for refusal in r.refusals]
        yield from _section("refused", iter(lines))
        return
    folded = [str(f) for f in fold(refused)]
    shown = folded[:SCREEN]
    if len(folded) > len(shown):
        shown.append(f"and {len(folded) - len(shown)} more (--explain)")
    yield from _section("refused", iter(shown))


def _remedy(remedy: Remedy) -> Iterator[str]:
    yield remedy.text
    for line in remedy.command.splitlines():
        yield f"  {line}"


def _section(title: str, lines: Iterator[str]) -> Iterator[str]:
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
