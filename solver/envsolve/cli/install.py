"""`envsolve install`: create an isolated environment, fill it from a lock, prove it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import asked, options
from envsolve.cli.chosen import Chosen, Manager, planned, read_lock
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.installing import Job, Tool, When, carry_out, slot_of
from envsolve.cli.planned import Asked
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.resolve.plan import NeedsInput, NoPlan

app = command_app()

_Name = Annotated[str | None, option("--name", help="The name of the environment.")]
_Path = Annotated[Path | None, option("--path", help="A project's own environment, at this folder.")]
_LockFile = Annotated[Path | None, option("--lock", help="Install from this lock, without planning.")]
_Installer = Annotated[Tool, option("--installer", help="What fills it; auto: uv where there is one, else pip.")]
_Replace = Annotated[bool, option("--replace", help="Replace an environment, once the new one is verified.")]
_Verify = Annotated[When | None, option("--verify", help="now, or later (default with --target).")]
_Json = Annotated[bool, option("--json", help="Print the environment as JSON.")]
_Bundle = Annotated[
    Path | None, option("--bundle", metavar="DIR", help="Install what `envsolve bundle` wrote; no network.")
]
_Manager = Annotated[Manager, option("--manager", help="What makes the environment and brings its Python.")]
_Project = Annotated[
    Path | None,
    option("--with-project", metavar="DIR", help="Also install the project in this folder, editable."),
]


@app.command(epilog="Example: envsolve install torch torchvision --name pytorch_new")
def install(
    wanted: asked.Wanted = asked.NOTHING,
    name: _Name = None,
    path: _Path = None,
    lock_file: _LockFile = None,
    machine: asked.ForMachine = asked.HERE,
    sdists: asked.Sdists = False,
    bundle: _Bundle = None,
    with_project: _Project = None,
    manager: _Manager = Manager.VENV,
    conda_channel: options.Channels = None,
    installer: _Installer = Tool.AUTO,
    replace: _Replace = False,
    verify: _Verify = None,
    as_json: _Json = False,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Create an isolated environment, fill it from a lock, prove it; all of it or nothing."""
    from envsolve.environment.install import check_free

    if conda_channel and manager is not Manager.CONDA:
        raise InputError("--conda-channel goes with --manager conda", hint="add --manager conda, or leave it out")
    asking = Asked.said(wanted, machine, sdists=sdists)
    slot = slot_of(name, path)
    check_free(slot, replace=replace)
    job = Job(
        slot=slot,
        settings=sources.settings(),
        installer=installer,
        manager=manager,
        channels=tuple(conda_channel or ()),
        replace=replace,
        verify=verify or (When.LATER if asking.target else When.NOW),
        project=_project(with_project),
        asked=() if lock_file or bundle else asking.words(),
        as_json=as_json,
    )
    if bundle is not None:
        return _from_bundle(job, bundle, asking, lock_file)
    return carry_out(job, _found(asking, job, lock_file))


def _found(wanted: Asked, job: Job, lock_file: Path | None) -> Chosen | NoPlan | NeedsInput:
    if lock_file is not None:
        return read_lock(lock_file, wanted)
    return planned(wanted, job.settings, manager=job.manager)


def _project(folder: Path | None) -> Path | None:
    if folder is not None and not folder.is_dir():
        raise InputError(f"there is no folder {folder}", hint="--with-project . takes the project of this folder")
    return folder.resolve() if folder is not None else None


def _from_bundle(job: Job, folder: Path, wanted: Asked, lock_file: Path | None) -> int:
    """Everything comes from the bundle: no index is asked, whatever is configured."""
    from envsolve.environment.bundle import LOCK, read_bundle
    from envsolve.record import replace as changed

    if lock_file is not None:
        raise InputError("give either --bundle or --lock", hint=f"envsolve install --bundle {folder} --name NAME")
    here = read_bundle(folder)
    nowhere = changed(job.settings, offline=True, no_index=True, extra_indexes=(), find_links=(), mirror="")
    return carry_out(changed(job, settings=nowhere, here=here), read_lock(folder / LOCK, wanted))
