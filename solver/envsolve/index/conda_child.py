"""py-rattler at work, in a process of its own: its threads can crash an interpreter that ends while they run.

Reads a question as JSON from stdin: channels, specs, subdir, virtual, cache_dir, offline. Writes {"packages": […]} or
{"error": "…"}.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any, Literal


def main() -> None:
    """Answer the question, and end without the interpreter's own ending."""
    question = json.load(sys.stdin)
    try:
        answer: dict[str, Any] = {"packages": [_plain(record) for record in asyncio.run(_solve(**question))]}
    except Exception as error:  # py-rattler's errors have no common base
        answer = {"error": " ".join(str(error).split())}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    os._exit(0)


async def _solve(
    channels: list[str],
    specs: list[str],
    subdir: str,
    virtual: list[tuple[str, str, str]],
    cache_dir: str,
    offline: bool,
) -> list[Any]:
    import rattler
    from rattler.repo_data import SourceConfig

    action: Literal["force-cache-only", "cache-or-fetch"] = "force-cache-only" if offline else "cache-or-fetch"
    gateway = rattler.Gateway(cache_dir=Path(cache_dir), default_config=SourceConfig(cache_action=action))
    packages = [
        rattler.GenericVirtualPackage(rattler.PackageName(name), rattler.Version(version), _build(build or "0"))
        for name, version, build in virtual
    ]
    found: list[Any] = await rattler.solve(
        [rattler.Channel(channel) for channel in channels],
        specs,
        gateway=gateway,
        platforms=[subdir, "noarch"],  # type: ignore[list-item,unused-ignore]
        virtual_packages=packages,
    )
    return found


def _build(text: str) -> Any:
    """A build string: a type of its own in newer py-rattler, plain text in older."""
    import rattler

    made = getattr(rattler, "BuildString", None)
    return made(text) if made else text


def _plain(record: Any) -> dict[str, Any]:
    return {
        "name": record.name.normalized,
        "version": str(record.version),
        "build": str(record.build),
        "url": str(record.url),
        "md5": record.md5.hex() if record.md5 else "",
        "sha256": record.sha256.hex() if record.sha256 else "",
        "depends": sorted(record.depends),
    }


if __name__ == "__main__":
    main()
