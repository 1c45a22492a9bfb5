"""The options that say where packages come from, shared by every command that asks an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from envsolve.settings import Settings

_PANEL = "Where packages come from"


def _option(flag: str, text: str, **rest: object) -> object:
    variable = f"ENVSOLVE_{flag.removeprefix('--').upper().replace('-', '_')}"
    return typer.Option(flag, help=f"{text} [{variable}]", show_default=False, rich_help_panel=_PANEL, **rest)  # type: ignore[call-overload]


Source = Annotated[
    str | None, _option("--source", "pytorch (default), or pypi: the plain wheels of the Python index.", metavar="NAME")
]
Mirror = Annotated[
    str | None, _option("--mirror", "The base of a mirror of the PyTorch index, asked before it.", metavar="URL")
]
Index = Annotated[str | None, _option("--index", "The Python index for everything else.", metavar="URL")]
ExtraIndex = Annotated[
    list[str] | None,
    _option("--extra-index", "A further Python index; never for torch and its family. May be repeated.", metavar="URL"),
]
FindLinks = Annotated[
    list[str] | None, _option("--find-links", "A folder or page of wheels. May be repeated.", metavar="PATH|URL")
]
Offline = Annotated[bool, _option("--offline", "Use only what is cached or on this machine.")]
Refresh = Annotated[bool, _option("--refresh", "Ask every index again, whatever is cached.")]
CacheDir = Annotated[Path | None, _option("--cache-dir", "Where pages and metadata are kept.", metavar="DIR")]


def settings_from(
    *,
    source: str | None = None,
    mirror: str | None = None,
    index: str | None = None,
    extra_index: list[str] | None = None,
    find_links: list[str] | None = None,
    offline: bool = False,
    refresh: bool = False,
    cache_dir: Path | None = None,
) -> Settings:
    """The Settings in force under these options; -v shows where each came from. Raises InputError."""
    from envsolve.cli import talk
    from envsolve.settings import load_settings

    settings = load_settings(
        {
            "source": source,
            "mirror": mirror,
            "index": index,
            "extra-index": extra_index,
            "find-links": find_links,
            "offline": offline,
            "refresh": refresh,
            "cache-dir": None if cache_dir is None else str(cache_dir),
        }
    )
    for line in settings.described():
        talk.detail(line)
    return settings
