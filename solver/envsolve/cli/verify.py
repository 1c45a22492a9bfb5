"""`envsolve verify`: prove an environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envsolve.cli import talk
from envsolve.errors import InputError, OutsideError

if TYPE_CHECKING:
    from envsolve.verify.report import Report
    from envsolve.verify.subject import Subject

app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

_Name = Annotated[str | None, typer.Option("--name", help="A named environment.", metavar="NAME")]
_Path = Annotated[Path | None, typer.Option("--path", help="The folder of any environment.", metavar="DIR")]
_Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
_Static = Annotated[bool, typer.Option("--static", help="Leave out what needs a GPU (when an image is built).")]
_Ci = Annotated[Path | None, typer.Option("--ci", help="Also write JUnit XML to this file.", metavar="JUNIT.xml")]
_Timeout = Annotated[float, typer.Option("--timeout", help="The limit of each child process.", metavar="SECONDS")]


@app.command(epilog="Example: envsolve verify --name pytorch_new")
def verify(
    name: _Name = None,
    path: _Path = None,
    as_json: _Json = False,
    static: _Static = False,
    ci: _Ci = None,
    timeout: _Timeout = 300,
) -> int:
    """Prove an environment (without --name or --path: the active one) by computing on every GPU."""
    from envsolve.verify.subject import find

    if timeout <= 0:
        raise InputError(f"--timeout is not a time: {timeout:g}", hint="envsolve verify --timeout 900")
    subject = find(name=name, path=path)
    report = _prove(subject, timeout=timeout, static=static)
    _show(report, as_json=as_json)
    if ci is not None:
        _write_junit(report, ci)
    return 0 if report.verified or (static and report.passed) else 1


def _prove(subject: Subject, *, timeout: float, static: bool) -> Report:
    from envsolve.cli.busy import Busy
    from envsolve.verify.run import verify as prove

    with Busy() as busy:
        report = prove(
            subject.interpreter,
            subject.expected,
            timeout_s=timeout,
            static=static,
            progress=busy.line,
            environment=subject.shown,
        )
    try:
        subject.remember(report)
    except OSError as error:
        talk.say(f"the result can't be kept with the environment: {error}")
    return report


def _show(report: Report, *, as_json: bool) -> None:
    if as_json:
        from envsolve.verify.as_json import report_json

        print(json.dumps(report_json(report)))
        return
    from envsolve.verify.text import report_lines

    print("\n".join(report_lines(report)))


def _write_junit(report: Report, file: Path) -> None:
    from envsolve.verify.junit import report_junit

    try:
        file.write_text(report_junit(report), encoding="utf-8")
    except OSError as error:
        raise OutsideError(f"can't write {file}: {error.strerror}", hint="--ci takes the file to write") from error
