"""The lock that goes into an image: solved for the machine inside the container, or read from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from envsolve.cli.planned import Asked
from envsolve.errors import InputError
from envsolve.record import record
from envsolve.regex import regex

if TYPE_CHECKING:
    from envsolve.dotted import Dotted
    from envsolve.lock.lock import Lock
    from envsolve.machine.machine import Machine
    from envsolve.resolve.request import Request
    from envsolve.rulebook.ways_rows import PythonImage
    from envsolve.settings import Settings
    from envsolve.verify.expected import Expected
    from envsolve.ways.container import ContainerSpec

_GLIBC = regex(r"glibc >= (\d+\.\d+)")
_FAMILY = ("torch", "torchvision", "torchaudio")


@record
class Held:
    """A lock, the image that it goes into, and where it was read from (None: just solved)."""

    lock: Lock
    base: PythonImage
    file: Path | None = None


def held(asking: Asked, machine: Machine, request: Request, settings: Settings, lock_file: Path | None) -> Held | str:
    """The lock; a text that says why there is none. Raises InputError, OutsideError, RefusedError."""
    found = _read(lock_file, asking) if lock_file is not None else _solved(asking, machine, request, settings)
    if isinstance(found, Held) and found.lock.header.local:
        names = ", ".join(found.lock.header.local)
        raise InputError(f"from this machine's disk, so that no image can hold them: {names}", hint="give an index")
    return found


def _solved(asking: Asked, machine: Machine, request: Request, settings: Settings) -> Held | str:
    from envsolve.cli.busy import Busy
    from envsolve.lock.lock_plan import Locked
    from envsolve.resolve.answer_text import as_text
    from envsolve.rulebook.ways_tables import load_ways
    from envsolve.ways.container_target import base_image, inside

    within = inside(machine, load_ways())
    base = base_image(within.python or "", load_ways())
    with Busy() as busy:
        busy.line("asking the indexes")
        answer = asking.locked(within, request, settings)
    return Held(lock=answer.lock, base=base) if isinstance(answer, Locked) else as_text(answer, explain=False)


def _read(file: Path, asking: Asked) -> Held:
    from envsolve.dotted import Dotted
    from envsolve.lock.formats import read
    from envsolve.rulebook.ways_tables import load_ways
    from envsolve.ways.container_target import base_image

    if asking.requirements or asking.files:
        raise InputError(
            "--lock says what goes in: give no requirements beside it", hint="envsolve container --lock FILE"
        )
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read the lock {file}: {error}", hint="envsolve lock writes one") from error
    lock = read(text, file.name, platform="linux_x86_64", python=asking.python or "")
    if not lock.platform.startswith("linux_"):
        raise InputError(f"{file} is for {lock.platform}: an image is Linux", hint="envsolve container solves for one")
    base = base_image(lock.python, load_ways())
    needed = _GLIBC.search(lock.header.target)
    if needed and Dotted.parse(needed[1]) > base.glibc:
        raise InputError(
            f"{file} needs glibc {needed[1]}, {base.tag} has {base.glibc}", hint="envsolve container solves"
        )
    return Held(lock=lock, base=base, file=file)


def spec(found: Held, asking: Asked, settings: Settings, installer: Literal["pip", "uv"]) -> ContainerSpec:
    """What the image holds and promises."""
    from envsolve import __version__
    from envsolve.lock import requirements_txt
    from envsolve.redact import strip_credentials
    from envsolve.rulebook.load import load
    from envsolve.verify.promise import promise
    from envsolve.ways.container import ContainerSpec

    lock, expected = found.lock, promise(found.lock, load())
    return ContainerSpec(
        base=found.base,
        lock_text=requirements_txt.write(lock),
        versions={name: expected.versions[name] for name in _FAMILY if name in expected.versions},
        device=_device(expected),
        cuda=expected.cuda,
        codes=tuple(dict.fromkeys(expected.gpu_codes)),
        gpus=lock.header.gpus,
        driver=_driver(expected),
        command=_command(asking, found.file, installer),
        version=__version__,
        installer=installer,
        index=strip_credentials(settings.index),
    )


def _device(expected: Expected) -> Literal["cuda", "rocm", "xpu", "cpu"]:
    return "cpu" if expected.device == "mps" else expected.device


def _driver(expected: Expected) -> Dotted | None:
    """The lowest driver of the host, by minor-version compatibility."""
    from envsolve.dotted import Dotted
    from envsolve.judge.driver import floor
    from envsolve.rulebook.load import load

    return floor(Dotted.parse(expected.cuda), load(), windows=False) if expected.cuda else None


def _command(asking: Asked, file: Path | None, installer: str) -> str:
    more = {"--lock": file, "--installer": None if installer == "pip" else installer}
    return asking.command(more).replace("envsolve lock", "envsolve container", 1)
