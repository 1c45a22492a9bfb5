"""Overrides: ENVSOLVE_GPUS, ENVSOLVE_DRIVER and ENVSOLVE_CUDA in place of what the machine would say."""

from __future__ import annotations

from collections.abc import Mapping

from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Problem, Vendor
from envsolve.machine.own_cards import own_cards
from envsolve.machine.reading import Reading
from envsolve.machine.spec import parse_gpus

GPUS, DRIVER, CUDA = "ENVSOLVE_GPUS", "ENVSOLVE_DRIVER", "ENVSOLVE_CUDA"


def read_overrides(environ: Mapping[str, str]) -> list[Reading]:
    """What the variables state; [] where none is set. Raises InputError that names the bad variable."""
    driver, cuda = _dotted(environ, DRIVER), _dotted(environ, CUDA)
    text = environ.get(GPUS, "").strip()
    try:
        gpus = parse_gpus(text) if text else None
    except InputError as error:
        raise InputError(f"{GPUS}: {error.message}", hint=f'{GPUS}="2x RTX 3090 + GTX 1080 Ti", or none') from None
    if driver is None and cuda is None and gpus is None:
        return []
    vendor: Vendor | None = "none" if gpus == () else None
    problems: tuple[Problem, ...] = ()
    if gpus:
        gpus, vendor, problems = own_cards(gpus, None)
    return [
        Reading(source="override", driver=driver, cuda_max=cuda, gpus=gpus, vendor=vendor, problems=problems),
    ]


def settles(readings: list[Reading]) -> bool:
    """Whether the overrides say all that the driver could say, so that it need not be asked."""
    return any(r.gpus is not None and (r.driver or r.cuda_max or not r.gpus) for r in readings)


def _dotted(environ: Mapping[str, str], name: str) -> Dotted | None:
    text = environ.get(name, "").strip()
    try:
        return Dotted.parse(text) if text else None
    except ValueError:
        raise InputError(f"{name}: {text!r} is not a dotted version", hint=f"{name}=550.54.14") from None
