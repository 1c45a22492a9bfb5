"""Order: what to install, and how."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from envsolve.environment.fill import Installer
from envsolve.errors import RefusedError
from envsolve.lock.lock import Lock, is_sdist
from envsolve.record import field, record
from envsolve.redact import strip_credentials
from envsolve.settings import Settings

if TYPE_CHECKING:
    from envsolve.environment.conda import Conda
    from envsolve.resolve.plan import Plan  # a lock alone needs none of what it imports
    from envsolve.resolve.request import Request


@record
class Order:
    """What to install, from where, and what to do about an environment that is there already.

    `lock_text` is `lock` as a requirements file, kept with the environment as it is; `plan` a JSON summary that is kept
    too; `next_best` the command that tries the next best plan ("" if there is none). `here` holds files of the lock
    that are on this machine, by their SHA-256. `conda` makes the Python instead of one that is here already. `project`
    is the folder of the user's own project, which is installed editable. `asked` are the words of the command line that
    say what was wanted, for an upgrade.
    """

    lock: Lock
    lock_text: str
    installer: Installer
    settings: Settings
    replace: bool = False
    verify: Literal["now", "later"] = "now"
    plan: Mapping[str, Any] | None = None
    next_best: str = ""
    here: Mapping[str, Path] = field(default_factory=dict)
    conda: Conda | None = None
    project: Path | None = None
    asked: tuple[str, ...] = ()


def torch_version(lock: Lock) -> str:
    """The torch of a lock as its wheel has it (2.11.0+cu128), "" if it holds none."""
    torch = next((package for package in lock.packages if package.name == "torch"), None)
    if torch is None:
        return ""
    if not torch.direct:
        return str(torch.version)
    from packaging.utils import parse_wheel_filename

    return str(parse_wheel_filename(torch.files[0].filename)[1])


def has_sources(lock: Lock) -> bool:
    """Whether a lock may hold source archives: a text that was read back names no files of pinned versions."""
    files = (file.filename for package in lock.packages for file in package.files)
    return "--sdists" in shlex.split(lock.header.command) or any(map(is_sdist, files))


def check_platform(wanted: str, here: str) -> None:
    """Raises RefusedError when a plan or lock is for another system or processor than `here` (linux_x86_64)."""
    if wanted != here:
        raise RefusedError(
            f"this is for {wanted}, and this machine is {here}",
            hint="run install on the machine that it is for; envsolve lock --target T makes a lock to take there",
        )


def next_best(plan: Plan, place: list[str], settings: Settings) -> str:
    """The command that tries the next best row of a plan in the same place ("" when there is none)."""
    if not plan.alternatives:
        return ""
    row = plan.alternatives[0]
    others = [str(requirement) for requirement in plan.request.requirements if requirement.name != "torch"]
    words = [f"torch=={row.build.torch}", *others, "--variant", row.build.variant, "--python", plan.python]
    return shlex.join(["envsolve", "install", *words, *_repeated(plan.request), *_places(settings), *place])


def _places(settings: Settings) -> Iterator[str]:
    """The options that name indexes again, where the command line gave them; without credentials."""
    given = {"--index": (settings.index,), "--extra-index": settings.extra_indexes, "--find-links": settings.find_links}
    for flag, addresses in given.items():
        if settings.origins.get(flag.removeprefix("--"), "").startswith("--"):
            for address in addresses:
                yield from (flag, strip_credentials(address))


def _repeated(request: Request) -> Iterator[str]:
    """The options that choose the machine and the source again."""
    gpus = request.gpus if isinstance(request.gpus, str) else ",".join(map(str, request.gpus))
    given = {
        "--target": request.target,
        "--gpus": "" if gpus == "all" else gpus,
        "--source": "" if request.source == "pytorch" else request.source,
        "--mirror": request.mirror,
    }
    for flag, value in given.items():
        if value:
            yield from (flag, value)
