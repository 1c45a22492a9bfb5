"""The options that say where packages come from, shared by every command that asks an index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from envsolve.cli.declared import Declared, option
from envsolve.cli.given_settings import settings_from as settings_from

_PANEL = "Where packages come from"


def _option(flag: str, text: str, **rest: object) -> Declared:
    variable = f"ENVSOLVE_{flag.removeprefix('--').upper().replace('-', '_')}"
    return option(flag, help=f"{text} [{variable}]", show_default=False, rich_help_panel=_PANEL, **rest)


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

Channels = Annotated[
    list[str] | None,
    option("--conda-channel", metavar="CHANNEL", help="Where conda takes Python from. May be repeated."),
]
