"""The options that say where packages come from, shared by every command that asks an index."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli.declared import Declared, option
from envsolve.record import record, replace

if TYPE_CHECKING:
    from envsolve.cli.recorded import Given
    from envsolve.settings import Settings

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


@record
class Sources:
    """Where packages come from, as the options of a command say it."""

    source: Source = None
    mirror: Mirror = None
    index: Index = None
    extra_index: ExtraIndex = None
    find_links: FindLinks = None
    offline: Offline = False
    refresh: Refresh = False
    cache_dir: CacheDir = None

    def settings(self) -> Settings:
        """The Settings in force under these options; -v shows where each came from. Raises InputError."""
        from envsolve.cli import talk
        from envsolve.settings import load_settings

        settings = load_settings(
            {
                **{flag.removeprefix("--"): value for flag, value in self.given().items()},
                "offline": self.offline,
                "refresh": self.refresh,
                "cache-dir": None if self.cache_dir is None else str(self.cache_dir),
            }
        )
        for line in settings.described():
            talk.detail(line)
        return settings

    def given(self) -> dict[str, str | list[str] | None]:
        """What a lock's header repeats, by flag: which places there are, not how they are asked."""
        return {
            "--source": self.source,
            "--mirror": self.mirror,
            "--index": self.index,
            "--extra-index": self.extra_index,
            "--find-links": self.find_links,
        }

    def saying(self, given: Given) -> Sources:
        """With other places: those that a header says."""
        from envsolve.cli.recorded import many, one

        return replace(
            self,
            source=one(given["--source"]),
            mirror=one(given["--mirror"]),
            index=one(given["--index"]),
            extra_index=many(given["--extra-index"]),
            find_links=many(given["--find-links"]),
        )


UNSAID = Sources()
