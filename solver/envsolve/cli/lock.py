"""`envsolve lock`: write a pinned, hashed lockfile."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import asked, options
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.lock_order import DEFAULT, LockOrder, jobs_of, outputs_of
from envsolve.cli.planned import Asked
from envsolve.cli.recorded import Given, many, recorded_in
from envsolve.cli.told_as_json import told_as_json
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.cli.lock_order import Job
    from envsolve.settings import Settings

app = command_app()


class Tool(StrEnum):
    """The values of --snippet."""

    UV = "uv"
    PIXI = "pixi"
    POETRY = "poetry"


_Targets = Annotated[
    list[str] | None,
    option(
        "--target",
        help='Another machine: a profile, pasted nvidia-smi output, or "RTX 4090,driver=550". May be repeated.',
    ),
]
_Output = Annotated[
    list[str] | None,
    option(
        "-o", "--output", metavar="FILE|DIR/",
        help=f"The lock, its format by its name, or a folder with a file for each target. Default: {DEFAULT}.",
    ),
]  # fmt: skip
_Check = Annotated[
    bool,
    option(
        "--check",
        help="Write nothing; exit 1 with a diff if a lock no longer answers its inputs: those given, or its header's.",
    ),
]
_Upgrade = Annotated[bool, option("--upgrade", help="Take the newest versions, whatever the lock holds now.")]
_UpgradePackage = Annotated[
    list[str] | None, option("--upgrade-package", metavar="NAME", help="Upgrade this one. May be repeated.")
]
_Snippet = Annotated[
    Tool | None, option("--snippet", help="Write no file; print what another tool's configuration needs.")
]
_CondaChannel = Annotated[
    list[str] | None,
    option(
        "--conda-channel", metavar="CHANNEL",
        help="Where conda-lock.yml takes Python and pip from; may be repeated. Default: conda-forge.",
    ),
]  # fmt: skip
_Json = Annotated[bool, option("--json", help="Print what was locked as JSON.")]


@app.command(epilog='Example: envsolve lock -r requirements.in --target "RTX 4090,driver=550.54.14" -o pylock.toml')
def lock(
    wanted: asked.Wanted = asked.NOTHING,
    target: _Targets = None,
    python: asked.Python = None,
    gpus: asked.Gpus = "all",
    variant: asked.Variant = None,
    sdists: asked.Sdists = False,
    output: _Output = None,
    check: _Check = False,
    upgrade: _Upgrade = False,
    upgrade_package: _UpgradePackage = None,
    snippet: _Snippet = None,
    conda_channel: _CondaChannel = None,
    as_json: _Json = False,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Choose the torch build that runs here, solve the whole set, and write every package pinned and hashed."""
    from envsolve.cli.locking import carry_out

    asking = Asked.said(wanted, asked.ForMachine(python=python, gpus=gpus, variant=variant), sdists=sdists)
    given: Given = {
        **sources.given(),
        "--conda-channel": conda_channel,
        "--snippet": snippet.value if snippet else None,
    }

    def carried_out(names: list[str], asking: Asked, target: list[str] | None, given: Given) -> int:
        settings = sources.saying(given).settings()
        order = order_of(
            names,
            jobs_of(asking, target or [], source=settings.source, mirror=settings.mirror),
            command=asking.command(given, targets=target),
            check=check,
            upgrade_all=upgrade,
            upgrade=upgrade_package or [],
            snippet=snippet.value if snippet else "",
            channels=tuple(many(given["--conda-channel"]) or ()),
        )
        _check_folders(order)
        return carry_out(order, settings, as_json=as_json)

    with told_as_json(as_json):
        renewed = bool(check or upgrade or upgrade_package) and asking.names_nothing
        recorded = recorded_in(output or [], DEFAULT) if renewed else []
        if not recorded:
            return carried_out(output or [], asking, target, given)
        if as_json and len(recorded) > 1:
            raise InputError("--json tells of locks of one command only", hint="-o names one of them")
        # The locks' own headers say what they answer; what the command line says outranks them.
        return max(
            carried_out(
                names,
                made.asked(asking, another_machine=bool(target)),
                target or made.targets(),
                {**made.sources(given), "--snippet": given["--snippet"]},
            )
            for names, made in recorded
        )


def order_of(
    names: list[str],
    jobs: Sequence[Job],
    *,
    command: str,
    check: bool = False,
    upgrade_all: bool = False,
    upgrade: Sequence[str] = (),
    snippet: str = "",
    channels: tuple[str, ...] = (),
) -> LockOrder:
    """Raises InputError for names of no format and for files of others, before anything is asked of an index."""
    from packaging.utils import canonicalize_name

    from envsolve.cli.former_lock import former_texts

    outputs = () if snippet else outputs_of(names, jobs)
    paths = [output.path for output in outputs]
    _check_inputs(paths, jobs)
    return LockOrder(
        jobs=tuple(jobs),
        outputs=outputs,
        former=former_texts(paths),
        command=command,
        check=check,
        upgrade_all=upgrade_all,
        upgrade=frozenset(map(canonicalize_name, upgrade)),
        snippet=snippet,
        channels=channels,
        folders=frozenset(path.parent for path in paths if _in_folder(path, names)),
    )


def _check_inputs(paths: Sequence[Path], jobs: Sequence[Job]) -> None:
    """Raises InputError for a lock that would take the place of what it is made from."""
    inputs = {file.resolve() for job in jobs for file in (*job.asked.files, *job.asked.constraints)}
    for path in paths:
        if path.resolve() in inputs:
            raise InputError(f"{path} is what the lock is made from", hint=f"give another name with -o: -o {DEFAULT}")


def _check_folders(order: LockOrder) -> None:
    """Raises InputError for a lock that would lie in no folder."""
    for path in (output.path for output in order.outputs):
        if path.parent not in order.folders and not path.parent.is_dir():
            raise InputError(
                f"there is no folder {path.parent} to write {path.name} into",
                hint=f"mkdir -p {shlex.quote(str(path.parent))}",
            )


def _in_folder(path: Path, names: Sequence[str]) -> bool:
    return path not in [Path(name) for name in names]


def write_locks(wanted: Asked, job: Job, outputs: Sequence[str], settings: Settings) -> int:
    """Write the locks of a plan (`envsolve plan -o`): solved anew against the index. The exit code."""
    from envsolve.cli.locking import carry_out

    sources: dict[str, object] = {"--source": job.request.source if job.request.source != "pytorch" else None}
    order = order_of(list(outputs), [job], command=wanted.command(sources))
    _check_folders(order)
    return carry_out(order, settings, as_json=False)
