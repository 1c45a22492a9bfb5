"""regex: a regular expression that is compiled when it is first needed.

Of the patterns in the modules that it loads a command needs few, and to compile one takes as long as to load a module.
"""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer", "pattern", "groups")


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._text, self._flags)
        for method in _METHODS:  # found in the object itself from now on
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def regex(text: str, flags: int | re.RegexFlag = 0) -> re.Pattern[str]:
    """As re.compile, but later; not for `re.sub(regex, …)` and the like, which want a compiled one."""
    return cast("re.Pattern[str]", _Pattern(text, int(flags)))
