"""Installed: an install as its command line says it, whoever read that line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from envsolve.cli.chosen import Chosen, Manager, planned, read_lock
from envsolve.cli.given_settings import settings_from
from envsolve.cli.installing import Job, Tool, When, carry_out, slot_of
from envsolve.cli.planned import Asked
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.resolve.plan import NeedsInput, NoPlan


def installed(
    wanted: Asked,
    *,
    name: str | None = None,
    path: Path | None = None,
    lock_file: Path | None = None,
    bundle: Path | None = None,
    with_project: Path | None = None,
    manager: Manager = Manager.VENV,
    conda_channel: list[str] | None = None,
    installer: Tool = Tool.AUTO,
    replace: bool = False,
    verify: When | None = None,
    as_json: bool = False,
    **sources: Any,
) -> int:
    """Make the environment and show it; the exit code. `sources` are the options of `settings_from`."""
    from envsolve.environment.install import check_free

    if conda_channel and manager is not Manager.CONDA:
        raise InputError("--conda-channel goes with --manager conda", hint="add --manager conda, or leave it out")
    slot = slot_of(name, path)
    check_free(slot, replace=replace)
    settings = settings_from(**sources)
    job = Job(
        slot=slot,
        settings=settings,
        installer=installer,
        manager=manager,
        channels=tuple(conda_channel or ()),
        replace=replace,
        verify=verify or (When.LATER if wanted.target else When.NOW),
        project=_project(with_project),
        asked=() if lock_file or bundle else wanted.words(),
        as_json=as_json,
    )
    if bundle is not None:
        return _from_bundle(job, bundle, wanted, lock_file)
    return carry_out(job, _found(wanted, job, lock_file))


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
    from envsolve.record import replace

    if lock_file is not None:
        raise InputError("give either --bundle or --lock", hint=f"envsolve install --bundle {folder} --name NAME")
    here = read_bundle(folder)
    nowhere = replace(job.settings, offline=True, no_index=True, extra_indexes=(), find_links=(), mirror="")
    return carry_out(replace(job, settings=nowhere, here=here), read_lock(folder / LOCK, wanted))
