"""`envsolve verify`: prove an environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import talk
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.errors import InputError, OutsideError

if TYPE_CHECKING:
    from envsolve.verify.bench.measured import Benchmark
    from envsolve.verify.report import Report
    from envsolve.verify.subject import Subject

app = command_app()

_Name = Annotated[str | None, option("--name", help="A named environment.", metavar="NAME")]
_Path = Annotated[Path | None, option("--path", help="The folder of any environment.", metavar="DIR")]
_Json = Annotated[bool, option("--json", help="Print the report as JSON.")]
_Static = Annotated[bool, option("--static", help="Leave out what needs a GPU (when an image is built).")]
_Ci = Annotated[Path | None, option("--ci", help="Also write JUnit XML to this file.", metavar="JUNIT.xml")]
_Timeout = Annotated[float, option("--timeout", help="The limit of each child process.", metavar="SECONDS")]
_Bench = Annotated[bool, option("--bench", help="Also measure how fast it computes, per GPU (minutes).")]
_Compare = Annotated[
    Path | None, option("--compare", help="With --bench: against what --bench --json wrote.", metavar="FILE.json")
]
_Plot = Annotated[Path | None, option("--plot", help="With --bench: also draw it.", metavar="FILE.svg")]


@app.command(epilog="Example: envsolve verify --name pytorch_new")
def verify(
    name: _Name = None,
    path: _Path = None,
    as_json: _Json = False,
    static: _Static = False,
    ci: _Ci = None,
    timeout: _Timeout = 300.0,
    bench: _Bench = False,
    compare: _Compare = None,
    plot: _Plot = None,
) -> int:
    """Prove an environment (without --name or --path: the active one) by computing on every GPU."""
    from envsolve.verify.subject import find

    if timeout <= 0:
        raise InputError(f"--timeout is not a time: {timeout:g}", hint="envsolve verify --timeout 900")
    if (static or not bench) and (bench or compare or plot):
        raise InputError("--compare and --plot go with --bench, and --static doesn't", hint="envsolve verify --bench")
    other = _other(compare)
    subject = find(name=name, path=path)
    report = _prove(subject, timeout=timeout, static=static)
    if ci is not None:
        from envsolve.verify.junit import report_junit

        _write(ci, report_junit(report))
    measured = _measure(subject, report, timeout=timeout) if bench else None
    _show(report, measured, other, as_json=as_json)
    if plot is not None and measured is not None:
        from envsolve.verify.bench.svg import bench_svg

        _write(plot, bench_svg(measured, other))
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


def _other(file: Path | None) -> Benchmark | None:
    if file is None:
        return None
    from envsolve.verify.bench.as_json import read_bench

    return read_bench(file)


def _measure(subject: Subject, report: Report, *, timeout: float) -> Benchmark | None:
    """The benchmark; None for an environment that isn't verified: its numbers would mean nothing."""
    from envsolve.cli.busy import Busy
    from envsolve.verify.bench.run import LIMIT_S, benchmark

    if not report.verified:
        talk.say("not verified, so nothing is measured")
        return None
    with Busy() as busy:
        limit = max(timeout, LIMIT_S)
        return benchmark(subject.interpreter, subject.expected, report, timeout_s=limit, progress=busy.line)


def _show(report: Report, measured: Benchmark | None, other: Benchmark | None, *, as_json: bool) -> None:
    from envsolve.verify.as_json import report_json
    from envsolve.verify.bench.as_json import bench_json
    from envsolve.verify.bench.text import bench_lines
    from envsolve.verify.text import report_lines

    if as_json:
        print(json.dumps({**report_json(report), **({"bench": bench_json(measured)} if measured else {})}))
        return
    print("\n".join(report_lines(report)))
    if measured:
        print("\n".join(["", *bench_lines(measured, other)]))


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OutsideError(f"can't write {file}: {error.strerror}", hint="choose a folder that is there") from error
