"""`envsolve init`: a project gets its inputs, its locks, its declaration, a README section and a CI check."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from envsolve.cli import asked, options
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.told_as_json import told_as_json

app = command_app()


class Ci(StrEnum):
    """The values of --ci."""

    AUTO = "auto"
    GITHUB = "github"
    NONE = "none"


_Project = Annotated[Path | None, option("--project", metavar="DIR", help="The project's folder. Default: this one.")]
_Targets = Annotated[
    list[str] | None,
    option("--target", help='A machine that it must run on: a profile, or "RTX 4090,driver=550". May be repeated.'),
]
_Gpus = Annotated[str, option("--gpus", help="Of the cards: all, best, or indexes like 0,1.")]
_Variants = Annotated[
    list[str] | None,
    option("--variant", help="A variant that the locks may hold: cu126, cpu, …. May be repeated. Default: any."),
]
_Outputs = Annotated[
    list[str] | None,
    option("-o", "--output", metavar="FILE|DIR/", help="The locks, their format by their name. May be repeated."),
]
_Ci = Annotated[Ci, option("--ci", help="auto: for GitHub where there is a .github folder.")]
_Readme = Annotated[
    bool | None,
    option(
        "--readme/--no-readme", help="A section in README.md. Default: where there is one.", show_default=False
    ),
]  # fmt: skip
_DryRun = Annotated[bool, option("--dry-run", help="Write nothing; show what would change as a diff.")]
_Force = Annotated[bool, option("--force", help="Change files of envsolve's that are there and say otherwise.")]
_Json = Annotated[bool, option("--json", help="Print the files as JSON.")]


@app.command(epilog='Example: envsolve init --target "RTX 4090,driver=550.54.14,python=3.12" --dry-run')
def init(
    wanted: asked.Wanted = asked.NOTHING,
    project: _Project = None,
    target: _Targets = None,
    python: asked.Python = None,
    gpus: _Gpus = "all",
    variant: _Variants = None,
    sdists: asked.Sdists = False,
    output: _Outputs = None,
    ci: _Ci = Ci.AUTO,
    readme: _Readme = None,
    dry_run: _DryRun = False,
    force: _Force = False,
    as_json: _Json = False,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Add to a project what keeps its environment healthy: requirements.in (or pyproject.toml's dependencies), a lock
    for every target, .envsolve.toml, a README section and a CI check.

    All of it is written at the end, or nothing. What is there is added to or left alone; run again, it changes nothing.
    """
    from envsolve.cli.init_wish import InitWish
    from envsolve.cli.initializing import initialize

    wish = InitWish(
        requirements=tuple(wanted.requirements or ()),
        files=tuple(wanted.files or ()),
        constraints=tuple(wanted.constraints or ()),
        extras=tuple(wanted.extra or ()),
        groups=tuple(wanted.group or ()),
        targets=tuple(target or ()),
        python=python,
        gpus=gpus,
        variants=tuple(variant or ()),
        sdists=sdists,
        outputs=tuple(output or ()),
        ci=ci.value,
        readme=readme,
        force=force,
        sources=sources.given(),
    )
    with told_as_json(as_json):
        return initialize(wish, project or Path(), sources.settings(), dry_run=dry_run, as_json=as_json)
