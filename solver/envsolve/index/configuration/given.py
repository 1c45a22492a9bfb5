"""Given: a raw value of a setting and where it was written, before it is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from envsolve.record import record


@record
class Given:
    """A raw value. `origin` is what people can look up: "--mirror", "PIP_INDEX_URL", "/etc/pip.conf: [global] cert".

    `base` is the folder that relative paths are relative to (None = the current one). `lenient` values belong to other
    tools: a folder that isn't there is passed over, as those tools do.
    """

    value: object
    origin: str
    base: Path | None = None
    lenient: bool = False


Layer = Mapping[str, Given]
