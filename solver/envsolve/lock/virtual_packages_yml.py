"""virtual-packages.yml: what the target's machine has by itself, for conda-lock's --virtual-package-spec."""

from __future__ import annotations

import yaml

from envsolve.lock.conda import SUBDIRS
from envsolve.lock.header import header_lines
from envsolve.lock.lock import Lock


def write(*locks: Lock) -> str:
    """The text of the file, a section for each platform. Of two targets of one platform the first counts."""
    subdirs: dict[str, object] = {}
    for lock in locks:
        packages = {virtual.name: str(virtual) for virtual in lock.virtual}
        subdirs.setdefault(SUBDIRS[lock.platform], {"packages": packages})
    comment = "".join(f"# {line}\n" for line in header_lines(*locks))
    return comment + yaml.safe_dump({"subdirs": subdirs}, sort_keys=False)
