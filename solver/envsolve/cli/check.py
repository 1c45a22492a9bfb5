"""`envsolve check`: whether a project's committed locks still fit what it declares, and what ends soon."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import options
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.recorded import Given, recorded_in
from envsolve.cli.told_as_json import told_as_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from envsolve.keeping.checked import Checked
    from envsolve.settings import Settings

app = command_app()


class Form(StrEnum):
    """The values of --format."""

    TEXT = "text"
    GITHUB = "github"


_Project = Annotated[
    Path | None, option("--project", metavar="DIR", help="The project. Default: this folder, or one above it.")
]
_Strict = Annotated[bool, option("--strict", help="Exit with 1 where something has ended or ends soon, too.")]
_Ahead = Annotated[int, option("--ahead", metavar="MONTHS", help="How early to warn of an end.", min=0)]
_Solve = Annotated[
    bool, option("--solve", help="Solve the requirements anew as well, asking the indexes, as lock --check does.")
]
_Format = Annotated[Form, option("--format", help="github: annotations for GitHub Actions.")]
_Json = Annotated[bool, option("--json", help="Print the outcome as JSON.")]
_Today = Annotated[str | None, option("--today", metavar="DAY", hidden=True)]


@app.command(epilog="Example: envsolve check --strict")
def check(
    project: _Project = None,
    strict: _Strict = False,
    ahead: _Ahead = 6,
    solve: _Solve = False,
    form: _Format = Form.TEXT,
    as_json: _Json = False,
    today: _Today = None,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Hold the committed locks to the targets, inputs and variants of .envsolve.toml, and warn of what ends soon.

    Asks no network without --solve. Exit 1 where a lock does not fit.
    """
    from envsolve.cli.checking import solved_anew, targets_checked
    from envsolve.cli.declaration import anchored, anchored_place, find_project, read_declaration, within

    with told_as_json(as_json):
        day = _day(today)
        folder = find_project(project)
        declared = read_declaration(folder)
        given: Given = {
            **sources.given(),
            "--find-links": [anchored_place(place) for place in sources.find_links or ()],
        }

        def settings_for(names: Sequence[str]) -> Settings:
            """What the command line says of indexes, else what the header of these locks says."""
            made = [recorded for _, recorded in recorded_in(names[:1], names[0])]
            said = made[0].sources(given) if made else given
            return anchored(sources.saying(said).settings())

        with within(folder):
            outcome = targets_checked(declared, today=day, ahead=ahead)
            if solve:
                outcome = solved_anew(declared, outcome, settings_for)
    _show(outcome, form, as_json=as_json, today=day, folder=_in_repository(folder))
    warned = any(checked.warnings for checked in outcome)
    return 0 if all(checked.fits for checked in outcome) and not (strict and warned) else 1


def _in_repository(folder: Path) -> str:
    """The project's folder as GitHub names its files: from the top of what it checked out, else from here."""
    import os

    top = os.environ.get("GITHUB_WORKSPACE") or os.curdir
    found = Path(os.path.relpath(folder.absolute(), Path(top).absolute())).as_posix()
    return "" if found == "." else f"{found}/"


def _show(outcome: Sequence[Checked], form: Form, *, as_json: bool, today: date, folder: str) -> None:
    from envsolve.cli import talk
    from envsolve.keeping import told
    from envsolve.keeping.declared import FILE

    if as_json:
        print(json.dumps(told.as_json(outcome, today=today.isoformat()), ensure_ascii=False))
        return
    print(told.as_text(outcome))
    if form is Form.GITHUB:
        for line in told.as_github(outcome, declared_in=FILE, folder=folder):
            print(line)
        return
    for line in told.warning_lines(outcome):
        talk.say(line)


def _day(text: str | None) -> date:
    from datetime import date

    from envsolve.errors import InputError

    if text is None:
        return date.today()
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--today {text}: not a day", hint="--today 2026-12-01") from error
