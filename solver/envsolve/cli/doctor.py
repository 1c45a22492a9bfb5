"""`envsolve doctor`: what is wrong with an environment, and the shortest safe way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envsolve.errors import EnvsolveError, InputError

if TYPE_CHECKING:
    from envsolve.doctor.evidence import Evidence
    from envsolve.doctor.finding import Finding

app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

_Report = Annotated[
    str | None, typer.Option("--report", metavar="FILE", help="Read a pasted text in place of looking here; - is standard input.")
]
_Json = Annotated[bool, typer.Option("--json", help="Print the finding as JSON.")]


@app.command(epilog="Example: envsolve doctor --report traceback.txt")
def doctor(report: _Report = None, as_json: _Json = False) -> int:
    """Say what is wrong, the one cause, and the shortest safe way out. Needs no network and imports no torch."""
    finding = _of_report(report) if report is not None else _of_report("-")
    _show(finding, as_json=as_json)
    return 0 if finding.status == "healthy" else 1


def _of_report(report: str) -> Finding:
    from envsolve.doctor.diagnose import diagnose
    from envsolve.doctor.facts import load_facts
    from envsolve.doctor.report import read_report
    from envsolve.rulebook.load import load

    rulebook, facts = load(), load_facts()
    return diagnose(read_report(_text(report), rulebook, facts), rulebook, facts)


def _text(report: str) -> str:
    """The text of a file, whatever encoding a shell wrote it in. Raises InputError."""
    import sys

    from envsolve.machine.target import decode

    if report == "-":
        return sys.stdin.read()
    try:
        return decode(Path(report).read_bytes())
    except OSError as error:
        raise InputError(f"can't read {report}: {error.strerror or error}", hint="envsolve doctor --report FILE") from None


def _show(finding: Finding, *, as_json: bool) -> None:
    if as_json:
        from envsolve.doctor.as_json import as_json as to_json

        print(json.dumps(to_json(finding), ensure_ascii=False))
    else:
        from envsolve.doctor.as_text import as_text

        print(as_text(finding))
