"""`envsolve doctor`: what is wrong with an environment, and the shortest safe way out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import options, talk
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.told_as_json import told_as_json
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.doctor.finding import Finding
    from envsolve.doctor.look_place import Place
    from envsolve.doctor.situation import Situation

app = command_app()

_Report = Annotated[
    str | None,
    option("--report", metavar="FILE", help="Read a pasted text instead of looking here; - is standard input."),
]
_Name = Annotated[str | None, option("--name", metavar="NAME", help="A named environment.")]
_Path = Annotated[Path | None, option("--path", metavar="DIR", help="The folder of any environment.")]
_Python = Annotated[Path | None, option("--python", metavar="EXE", help="The interpreter of any environment.")]
_Timeout = Annotated[float, option("--timeout", metavar="SECONDS", help="The limit for importing torch there.")]
_Json = Annotated[bool, option("--json", help="Print the finding as JSON.")]
_Fix = Annotated[bool, option("--fix", help="Make a new verified environment beside the ill one.")]
_Into = Annotated[str | None, option("--into", metavar="NAME", help="--fix: its name (default: OLD-fixed).")]
_InPlace = Annotated[bool, option("--in-place", help="--fix: change the ill environment itself.")]
_Yes = Annotated[bool, option("--yes", help="--in-place: don't ask before a foreign environment is changed.")]
_Project = Annotated[
    Path | None, option("--with-project", metavar="DIR", help="--fix: also install this project, editable.")
]


@app.command(epilog="Example: envsolve doctor --report traceback.txt, or: envsolve doctor --path .venv --fix")
def doctor(
    report: _Report = None,
    name: _Name = None,
    path: _Path = None,
    python: _Python = None,
    timeout: _Timeout = 60.0,
    as_json: _Json = False,
    fix: _Fix = False,
    into: _Into = None,
    in_place: _InPlace = False,
    yes: _Yes = False,
    with_project: _Project = None,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Name the one cause and the shortest safe way out (default: the active environment, else the project's .venv).

    Needs no network, but for --fix. Exit 0: healthy, or fixed; 1: ill, or more must be known.
    """
    if timeout <= 0:
        raise InputError(f"--timeout is not a time: {timeout:g}", hint="envsolve doctor --timeout 60")
    if not fix:
        _check_unfixed(into, in_place, yes, with_project, sources != options.UNSAID)
    with told_as_json(as_json):
        if report is not None:
            _check_report(name, path, python, fix=fix)
            return _shown(_of_report(report), as_json=as_json)
        place = _place(name, path, python)
        situation, finding = _of_environment(place, timeout)
    if not fix:
        if finding.status == "ill" and not finding.is_elsewhere:
            talk.say(
                "hint: with --fix a new verified environment is made beside it, from what was asked for of this one"
            )
        return _shown(finding, as_json=as_json)
    from envsolve.cli.doctor_fix import Wish
    from envsolve.cli.doctor_fixing import fixing

    if in_place and into:
        raise InputError("--into names a new environment, --in-place takes the old one's place", hint="give one")
    wish = Wish(into=into or "", in_place=in_place, yes=yes, project=_folder(with_project), as_json=as_json)
    return fixing(place, situation, finding, wish, sources.settings(), again=lambda: _of_environment(place, timeout)[1])


def _check_report(*given: object, fix: bool) -> None:
    if any(given):
        raise InputError("--report reads a text: no environment goes with it", hint="envsolve doctor --report FILE")
    if fix:
        raise InputError("--fix needs the environment itself: a text can't be fixed", hint="leave --report out")


def _check_unfixed(*given: object) -> None:
    if any(given):
        raise InputError("what an environment is made from, and where, goes with --fix", hint="envsolve doctor --fix")


def _folder(project: Path | None) -> Path | None:
    if project is not None and not project.is_dir():
        raise InputError(f"there is no folder {project}", hint="--with-project . takes the project of this folder")
    return project.resolve() if project is not None else None


def _place(name: str | None, path: Path | None, python: Path | None) -> Place:
    import os

    from envsolve.doctor.look_place import find_place

    return find_place(name=name, path=path, python=python, environ=os.environ, here=Path.cwd())


def _shown(finding: Finding, *, as_json: bool) -> int:
    """Print a finding; the exit code."""
    if as_json:
        from envsolve.doctor.as_json import as_json as to_json

        print(json.dumps(to_json(finding), ensure_ascii=False))
    else:
        from envsolve.doctor.as_text import as_text

        print(as_text(finding))
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


def _of_environment(place: Place, timeout: float) -> tuple[Situation, Finding]:
    from envsolve.cli.doctor_commands import for_place
    from envsolve.doctor.diagnose import diagnose
    from envsolve.doctor.facts import load_facts
    from envsolve.doctor.look import look
    from envsolve.doctor.situation import Situation
    from envsolve.machine.detect import detect
    from envsolve.machine.probe import Probe
    from envsolve.machine.probe_kernel import is_container
    from envsolve.rulebook.load import load

    rulebook, facts, probe = load(), load_facts(), Probe()
    evidence = look(place, detect(probe), rulebook, seconds=timeout, container=is_container(probe))
    found = for_place(diagnose(evidence, rulebook, facts), place, has_pip="pip" in evidence.installed)
    return Situation(evidence=evidence, rulebook=rulebook, facts=facts), found
