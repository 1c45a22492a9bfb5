"""Conda child: solve and install conda packages with py-rattler, in a process of its own.

py-rattler 0.28 crashes when the interpreter is taken down, so this ends by os._exit.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Literal


async def make(asked: dict[str, Any]) -> int:
    """Make the environment that the keys of `asked` describe; the number of packages in it."""
    import rattler
    from rattler.repo_data import SourceConfig

    cache = Path(asked["cache_dir"])
    cache.mkdir(parents=True, exist_ok=True)
    action: Literal["force-cache-only", "cache-or-fetch"] = "force-cache-only" if asked["offline"] else "cache-or-fetch"
    records = await rattler.solve(
        [rattler.Channel(channel) for channel in asked["channels"]],
        list(asked["specs"]),
        gateway=rattler.Gateway(cache_dir=cache, default_config=SourceConfig(cache_action=action)),
        platforms=[asked["subdir"], "noarch"],
        virtual_packages=[
            rattler.GenericVirtualPackage(
                rattler.PackageName(name), rattler.Version(version), rattler.BuildString(build or "0")
            )
            for name, version, build in asked["virtual"]
        ],
    )
    for record in records:
        sys.stdout.write(f"{record.name.normalized} {record.version} {record.build}\n")
    sys.stdout.flush()
    await rattler.install(records, target_prefix=asked["prefix"], cache_dir=cache / "pkgs", show_progress=False)
    return len(records)


def main() -> None:
    code = 0
    try:
        asyncio.run(make(json.loads(sys.argv[1])))
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:  # py-rattler's errors have no common base
        sys.stdout.write("".join(traceback.format_exception_only(error)))
        code = 1
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
