"""`envsolve upgrade`: a new verified environment under an old name, the old one kept until then."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import options
from envsolve.cli.chosen import Manager, planned, read_lock
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import argument, option
from envsolve.cli.installing import Job, Tool, When, carry_out, slot_of
from envsolve.cli.planned import Asked
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.environment.marker import Marker
    from envsolve.environment.store import Slot

app = command_app()

_Requirements = Annotated[
    list[str] | None, argument(metavar="[REQ]...", help="New or changed ones; the others stay as they were.")
]
_Name = Annotated[str | None, option("--name", help="The name of the environment.")]
_Path = Annotated[Path | None, option("--path", help="A project's own environment, at this folder.")]
_LockFile = Annotated[Path | None, option("--lock", help="Install from this lock, without planning.")]
_Installer = Annotated[Tool, option("--installer", help="What fills it; auto: uv where there is one, else pip.")]
_Verify = Annotated[When, option("--verify", help="now, or later.")]
_Json = Annotated[bool, option("--json", help="Print the environment as JSON.")]


@app.command(epilog="Example: envsolve upgrade --name pytorch_new 'torch>=2.11'")
def upgrade(
    requirements: _Requirements = None,
    name: _Name = None,
    path: _Path = None,
    lock_file: _LockFile = None,
    installer: _Installer = Tool.AUTO,
    conda_channel: options.Channels = None,
    verify: _Verify = When.NOW,
    as_json: _Json = False,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Plan what an environment was made for again and make it anew; the old one stays until the new one is verified.

    What made its Python makes the new one's: one of this machine, or conda from the same channels. Nothing is done
    where the plan is what the environment has already.
    """
    slot = slot_of(name, path, _example(requirements or []))
    marker = _marker(slot)
    settings = sources.settings()
    if conda_channel and not marker.conda:
        raise InputError("--conda-channel goes with an environment that conda made", hint="leave it out")
    wanted = _wanted(slot, marker, requirements or [], lock_file)
    job = Job(
        slot=slot,
        settings=settings,
        installer=installer,
        manager=Manager.CONDA if marker.conda else Manager.VENV,
        channels=tuple(conda_channel or marker.channels),
        replace=True,
        verify=verify,
        project=Path(marker.project) if marker.project else None,
        asked=() if lock_file else wanted.words(),
        unless_same=True,
        as_json=as_json,
    )
    found = read_lock(lock_file, wanted) if lock_file is not None else planned(wanted, settings, manager=job.manager)
    return carry_out(job, found)


def _example(words: Sequence[str]) -> str:
    """The command that was meant: what looks like a requirement may be the environment's name."""
    named = next((word for word in words if re.fullmatch(r"[\w.-]+", word)), "pytorch_new")
    return f"envsolve upgrade --name {named}"


def _marker(slot: Slot) -> Marker:
    from envsolve.environment.marker import read_marker

    slot.check_ours()
    build = slot.current()
    marker = read_marker(build) if build else None
    if marker is None:
        raise InputError(f"there is no environment {slot.shown_name!r}", hint="envsolve envs list")
    return marker


def _wanted(slot: Slot, marker: Marker, requirements: list[str], lock_file: Path | None) -> Asked:
    if lock_file is not None:
        return Asked(requirements=requirements)
    before = Asked.from_words(marker.asked)
    if not before.anything and not requirements and not marker.plan:
        raise InputError(
            f"the environment {slot.shown_name!r} was made from a lock, which says nothing of what was wanted",
            hint=f"envsolve upgrade --name {slot.name} --lock FILE, or name the requirements",
        )
    return before.with_requirements(requirements)
