"""`envsolve doctor`: what is wrong with an environment, and the shortest safe way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envsolve.cli.command_app import command_app
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.doctor.finding import Finding

app = command_app()

_Report = Annotated[
    str | None,
    typer.Option("--report", metavar="FILE", help="Read a pasted text instead of looking here; - is standard input."),
]
_Name = Annotated[str | None, typer.Option("--name", metavar="NAME", help="A named environment.")]
_Path = Annotated[Path | None, typer.Option("--path", metavar="DIR", help="The folder of any environment.")]
_Python = Annotated[Path | None, typer.Option("--python", metavar="EXE", help="The interpreter of any environment.")]
_Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="The limit for importing torch there.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the finding as JSON.")]


@app.command(epilog="Example: envsolve doctor --report traceback.txt")
def doctor(
    report: _Report = None,
    name: _Name = None,
    path: _Path = None,
    python: _Python = None,
    timeout: _Timeout = 60,
    as_json: _Json = False,
) -> int:
    """Name the one cause and the shortest safe way out (default: the active environment, else the project's .venv).

    Needs no network. Exit 0: healthy; 1: ill, or more must be known.
    """
    if timeout <= 0:
        raise InputError(f"--timeout is not a time: {timeout:g}", hint="envsolve doctor --timeout 60")
    if report is not None:
        if name or path or python:
            raise InputError("--report reads a text: no environment goes with it", hint="envsolve doctor --report FILE")
        finding = _of_report(report)
    else:
        finding = _of_environment(name, path, python, timeout)
    _show(finding, as_json=as_json)
    return 0 if finding.status == "healthy" else 1


def _of_report(report: str) -> Finding:
    from envsolve.doctor.diagnose import diagnose
    from envsolve.doctor.facts import load_facts
    from envsolve.doctor.report import read_report
    from envsolve.rulebook.load import load

    text = _text(report)
    rulebook, facts = load(), load_facts()
    return diagnose(read_report(text, rulebook, facts), rulebook, facts)


def _text(report: str) -> str:
    """The text of a file, whatever encoding a shell wrote it in. Raises InputError."""
    import sys

    from envsolve.machine.target import decode

    hint = "envsolve doctor --report FILE"
    if report == "-":
        text = decode(sys.stdin.buffer.read())
    else:
        try:
            text = decode(Path(report).read_bytes())
        except OSError as error:
            raise InputError(f"can't read {report}: {error.strerror or error}", hint=hint) from None
    if not text.strip():
        raise InputError(f"{report} is empty", hint=hint)
    return text


def _of_environment(name: str | None, path: Path | None, python: Path | None, timeout: float) -> Finding:
    import os

    from envsolve.doctor.diagnose import diagnose
    from envsolve.doctor.facts import load_facts
    from envsolve.doctor.look import look
    from envsolve.doctor.look_place import find_place
    from envsolve.machine.detect import detect
    from envsolve.machine.probe import Probe
    from envsolve.machine.probe_kernel import is_container
    from envsolve.rulebook.load import load

    place = find_place(name=name, path=path, python=python, environ=os.environ, here=Path.cwd())
    rulebook, facts, probe = load(), load_facts(), Probe()
    evidence = look(place, detect(probe), rulebook, seconds=timeout, container=is_container(probe))
    return diagnose(evidence, rulebook, facts)


def _show(finding: Finding, *, as_json: bool) -> None:
    if as_json:
        from envsolve.doctor.as_json import as_json as to_json

        print(json.dumps(to_json(finding), ensure_ascii=False))
    else:
        from envsolve.doctor.as_text import as_text

        print(as_text(finding))
