"""The form of a table of symptoms."""

from __future__ import annotations

import re

Table = tuple[tuple[str, re.Pattern[str]], ...]
_BLANKS = re.compile(r"(\[[^\]]*\]|\\.)| +([?*]?)")


def table(*rows: tuple[str, str]) -> Table:
    """Names and patterns. A blank stands for any white space, since terminals wrap long messages (with ? or * behind it
    for none as well); case never matters."""
    return tuple((name, re.compile(_BLANKS.sub(_spread, pattern), re.IGNORECASE)) for name, pattern in rows)


def _spread(match: re.Match[str]) -> str:
    return match[1] or (r"\s*" if match[2] else r"\s+")
