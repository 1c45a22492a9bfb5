"""`envsolve lock`: write a pinned, hashed lockfile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envsolve.cli import asked, options
from envsolve.cli.command_app import command_app
from envsolve.cli.command_line import lock_command
from envsolve.cli.locking import carry_out, order_for

if TYPE_CHECKING:
    from envsolve.resolve.plan import Plan
    from envsolve.settings import Settings

app = command_app()

DEFAULT = Path("requirements.lock.txt")
_Output = Annotated[
    list[Path] | None,
    typer.Option("-o", "--output", help=f"The lock, its format by its name; may be repeated. Default: {DEFAULT}."),
]
_Check = Annotated[
    bool, typer.Option("--check", help="Write nothing; exit 1 with a diff if a lock no longer answers its inputs.")
]
_Upgrade = Annotated[bool, typer.Option("--upgrade", help="Take the newest versions, whatever the lock holds now.")]
_UpgradePackage = Annotated[
    list[str] | None, typer.Option("--upgrade-package", metavar="NAME", help="Upgrade this one. May be repeated.")
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
    check: _Check = False,
    upgrade: _Upgrade = False,
    upgrade_package: _UpgradePackage = None,
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
    order = order_for(output or [DEFAULT], check=check, upgrade=upgrade, names=upgrade_package or [])
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
    return carry_out(order, asked.machine(target, python), request, settings, command=command, as_json=as_json)


def write_locks(plan: Plan, outputs: list[Path], settings: Settings | None = None) -> int:
    """Write the locks of a plan (`envsolve plan -o`): solved anew against the index. The exit code."""
    request = plan.request
    command = lock_command(
        [str(r) for r in request.requirements],
        {
            "--target": request.target,
            "--python": plan.python,
            "--gpus": None if request.gpus == "all" else _gpus(request.gpus),
            "--variant": request.variant,
        },
    )
    order = order_for(outputs, check=False, upgrade=False, names=[])
    settings = settings or options.settings_from()
    return carry_out(order, plan.machine, request, settings, command=command, as_json=False)


def _gpus(gpus: str | tuple[int, ...]) -> str:
    return gpus if isinstance(gpus, str) else ",".join(map(str, gpus))
