"""`envsolve rules`: the facts behind an answer."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated

from envsolve.cli.command_app import command_app
from envsolve.cli.declared import argument, option
from envsolve.cli.rules_update import update

if TYPE_CHECKING:
    from envsolve.rulebook.facts import Fact
    from envsolve.rulebook.rulebook import Rulebook

SCHEMA = 1

app = command_app(
    "Show the facts behind an answer, with their sources.", epilog="Example: envsolve rules show 'RTX 4090'"
)


app.command(epilog="Example: envsolve rules update --mirror https://mirror.example/whl --dry-run")(update)


@app.command(epilog="Example: envsolve rules show 2.9.1+cu128")
def show(
    what: Annotated[
        str | None,
        argument(
            metavar="[GPU|TORCH|VARIANT|DRIVER]",
            help="A GPU name, a capability (8.9), a torch (2.9.1, 2.9.1+cu128), a variant or a driver (580.65.06).",
        ),
    ] = None,
    low: Annotated[bool, option("--low", help="Only rows of low certainty.")] = False,
    as_json: Annotated[bool, option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the rows of the rules that speak of something; without an argument, what the rules hold."""
    from envsolve.rulebook.facts import facts
    from envsolve.rulebook.load import load, load_document

    rulebook = load()
    title, found = _found(what, rulebook, tuple(facts(rulebook, load_document("details"))))
    if low:
        found = tuple(fact for fact in found if fact.certainty == "low")
    if as_json:
        print(json.dumps({"schema": SCHEMA, "about": title, "rules": rulebook.digest, "facts": [*map(_json, found)]}))
    elif what is None and not low:
        print("\n".join(_overview(rulebook, found)))
    else:
        print(title)
        print("\n".join(line for fact in found for line in ("", *_lines(fact))))


def _found(what: str | None, rulebook: Rulebook, everything: tuple[Fact, ...]) -> tuple[str, tuple[Fact, ...]]:
    from envsolve.errors import InputError
    from envsolve.rulebook.asked_facts import asked, select

    if what is None:
        return "all rules", everything
    answer = asked(what, rulebook)
    found = select(everything, answer[1]) if answer else ()
    if answer is None or not found:
        near = ", ".join(rulebook.gpu_names.nearest(what))
        hint = f"the nearest names: {near}" if near else "envsolve rules show: what the rules hold"
        raise InputError(f"the rules say nothing of {what!r}", hint=hint)
    return answer[0], found


def _lines(fact: Fact) -> list[str]:
    fields = "  ".join(f"{name}: {text or '-'}" for name, text in fact.fields)
    lines = [fact.place, f"  {fields}"] if fields else [fact.place]
    if fact.note:
        lines.append(f"  note: {fact.note}")
    return [*lines, f"  certainty {fact.certainty}: {fact.source}"]


def _json(fact: Fact) -> dict[str, object]:
    return {
        "place": fact.place,
        "table": fact.table,
        "keys": list(fact.keys),
        "fields": dict(fact.fields),
        "certainty": fact.certainty,
        "source": fact.source,
        "note": fact.note,
    }


def _overview(rulebook: Rulebook, everything: tuple[Fact, ...]) -> list[str]:
    rows = Counter(fact.file for fact in everything)
    unsure = Counter(fact.file for fact in everything if fact.certainty == "low")
    width = max(map(len, rows))
    first, last = rulebook.torch_versions[0], rulebook.torch_versions[-1]
    lines = [f"torch {first} to {last}, rules {rulebook.digest[:12]}", ""]
    for file, count in rows.items():
        tail = f"  {unsure[file]:>3} of low certainty" if unsure[file] else ""
        lines.append(f"{file:<{width}}  {count:>5} rows{tail}")
    return lines
