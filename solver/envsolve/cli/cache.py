"""`envsolve cache`: what is kept of indexes and wheels, where, and how large it is; take it away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import options, talk
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option

if TYPE_CHECKING:
    from envsolve.index.cache_folder import CacheFolder, Removed

app = command_app(
    "Show what is kept of indexes and wheels, or take it away: it only saves time.",
    epilog="Example: envsolve cache info",
)

SCHEMA = 1
_Json = Annotated[bool, option("--json", help="Print it as JSON.")]


@app.command(epilog="Example: envsolve cache info --json")
def info(as_json: _Json = False, cache_dir: options.CacheDir = None) -> None:
    """Where the cache is and how large it is, by kind."""
    folder = _folder(cache_dir)
    kinds = folder.kinds()
    files, size = sum(kind.files for kind in kinds), sum(kind.size for kind in kinds)
    if as_json:
        rows = [{"kind": kind.name, "files": kind.files, "bytes": kind.size} for kind in kinds]
        print(json.dumps({"schema": SCHEMA, "path": str(folder.path), "files": files, "bytes": size, "kinds": rows}))
        return
    print(folder.path)
    for kind in kinds:
        print(f"  {kind.name:<12}{kind.files:>7} files{_shown(kind.size):>12}  {kind.what}")
    print(f"  {'in all':<12}{files:>7} files{_shown(size):>12}")


@app.command(epilog="Example: envsolve cache clear")
def clear(as_json: _Json = False, cache_dir: options.CacheDir = None) -> None:
    """Take away what envsolve has put into the cache, wheels included, and nothing else."""
    folder = _folder(cache_dir)
    _tell(folder, folder.clear(), as_json=as_json)


@app.command(epilog="Example: envsolve cache prune --days 7")
def prune(
    days: Annotated[int, option("--days", min=1, help="How long something may lie unused.")] = 30,
    as_json: _Json = False,
    cache_dir: options.CacheDir = None,
) -> None:
    """Take away pages, metadata and wheels that nothing has used for some days; a download of the last day stays."""
    import time

    folder = _folder(cache_dir)
    _tell(folder, folder.prune(days, now=time.time()), as_json=as_json)


def _folder(cache_dir: Path | None) -> CacheFolder:
    from envsolve.index.cache_folder import CacheFolder

    return CacheFolder(options.Sources(cache_dir=cache_dir).settings().cache_dir)


def _tell(folder: CacheFolder, removed: Removed, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"schema": SCHEMA, "path": str(folder.path), "files": removed.files, "bytes": removed.size}))
        return
    talk.say(f"removed {removed.files} files, {_shown(removed.size)}, from {folder.path}")


def _shown(size: float) -> str:
    """Bytes in the unit that suits."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
