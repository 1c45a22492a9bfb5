"""`envsolve lock`: write a pinned, hashed lockfile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envsolve.cli import asked, options, talk
from envsolve.cli.command_line import lock_command

if TYPE_CHECKING:
    from envsolve.lock.lock_plan import Locked
    from envsolve.machine.machine import Machine
    from envsolve.resolve.plan import NeedsInput, NoPlan, Plan
    from envsolve.resolve.request import Request
    from envsolve.settings import Settings

app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})

DEFAULT = Path("requirements.lock.txt")
_Output = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help=f"The lock, its format by its name; may be repeated. Default: {DEFAULT}."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print what was locked as JSON.")]


@app.command(epilog='Example: envsolve lock -r requirements.in --target "RTX 4090,driver=550.54.14" -o pylock.toml')
def lock(
    requirements: asked.Requirements = None,
    files: asked.Files = None,
    target: asked.Target = None,
    python: asked.Python = None,
    gpus: asked.Gpus = "all",
    variant: asked.Variant = None,
    output: _Output = None,
    as_json: _Json = False,
    source: options.Source = None,
    mirror: options.Mirror = None,
    index: options.Index = None,
    extra_index: options.ExtraIndex = None,
    find_links: options.FindLinks = None,
    offline: options.Offline = False,
    refresh: options.Refresh = False,
    cache_dir: options.CacheDir = None,
) -> int:
    """Choose the torch build that runs here, solve the whole set, and write every package pinned and hashed."""
    settings = options.settings_from(
        source=source, mirror=mirror, index=index, extra_index=extra_index, find_links=find_links,
        offline=offline, refresh=refresh, cache_dir=cache_dir,
    )  # fmt: skip
    outputs = output or [DEFAULT]
    check_names(outputs)
    request = asked.request(
        requirements or [], files or [], target=target, gpus=gpus, variant=variant,
        source=settings.source, mirror=settings.mirror,
    )  # fmt: skip
    command = lock_command(
        requirements or [],
        {
            "-r": files, "--target": target, "--python": python, "--gpus": gpus if gpus != "all" else None,
            "--variant": variant, "--source": source, "--mirror": mirror, "--index": index,
            "--extra-index": extra_index, "--find-links": find_links,
        },
    )  # fmt: skip
    return lock_and_write(asked.machine(target, python), request, settings, outputs, command=command, as_json=as_json)


def write_locks(plan: Plan, outputs: list[Path], settings: Settings | None = None) -> int:
    """Write the locks of a plan (`envsolve plan -o`): solved anew against the index. The exit code."""
    settings = settings or options.settings_from()
    check_names(outputs)
    request = plan.request
    command = lock_command(
        [str(r) for r in request.requirements],
        {"--target": request.target, "--python": plan.python, "--variant": request.variant},
    )
    return lock_and_write(plan.machine, request, settings, outputs, command=command, as_json=False)


def check_names(outputs: list[Path]) -> None:
    """Raises InputError for a file whose name goes with no format, before anything is asked of an index."""
    from envsolve.lock import formats

    for path in outputs:
        formats.writer(path.name)


def lock_and_write(
    machine: Machine, request: Request, settings: Settings, outputs: list[Path], *, command: str, as_json: bool
) -> int:
    """Lock and write every output, or none. The exit code: 1 where the answer is no."""
    from envsolve.cli.written import write_all
    from envsolve.lock import formats
    from envsolve.lock.lock_plan import Locked

    found = make(machine, request, settings, command=command)
    if not isinstance(found, Locked):
        _show_no(found, as_json=as_json)
        return 1
    write_all({path: formats.writer(path.name)(found.lock) for path in outputs})
    _show(found, outputs, as_json=as_json)
    return 0


def make(machine: Machine, request: Request, settings: Settings, *, command: str) -> Locked | NoPlan | NeedsInput:
    """The lock for a machine, solved against the indexes of the settings, with a moving line meanwhile."""
    from envsolve.cli.busy import Busy
    from envsolve.index.package_index import open_index
    from envsolve.lock.lock_plan import lock_plan
    from envsolve.rulebook.load import load

    with Busy() as busy, open_index(settings, python=machine.python or "", platform=machine.platform) as index:
        busy.line("asking the indexes")
        found = lock_plan(machine, request, load(), index, command=command)
    for warning in index.warnings:
        talk.detail(warning)
    return found


def _show_no(answer: NoPlan | NeedsInput, *, as_json: bool) -> None:
    from envsolve.resolve.answer_json import as_json as to_json
    from envsolve.resolve.answer_text import as_text

    print(json.dumps(to_json(answer), ensure_ascii=False) if as_json else as_text(answer, explain=False))


def _show(found: Locked, outputs: list[Path], *, as_json: bool) -> None:
    for difference in found.differences:
        talk.say(f"note: {difference}")
    if found.lock.header.local:
        names = ", ".join(found.lock.header.local)
        talk.say(f"note: from this machine's disk, so that the lock may not work elsewhere: {names}")
    if as_json:
        from envsolve.resolve.answer_json import as_json as to_json

        packages = [{"name": p.name, "version": str(p.version)} for p in found.lock.packages]
        locked = {"files": [path.as_posix() for path in outputs], "packages": packages}
        print(json.dumps({**to_json(found.plan), "lock": locked}, ensure_ascii=False))
        return
    for path in outputs:
        talk.say(f"wrote {path}: {len(found.lock.packages)} packages for {found.lock.header.target}")
