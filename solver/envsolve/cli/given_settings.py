"""The settings in force under the options that say where packages come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envsolve.settings import Settings


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
