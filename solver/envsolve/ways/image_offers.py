"""The images of others that fit a machine, as text and for programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from packaging.version import Version

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import driver_of
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.ways_tables import Ways
from envsolve.ways.cards import capabilities
from envsolve.ways.kernel_modules import module_clash
from envsolve.ways.ngc_images import ngc_images
from envsolve.ways.official_images import Image, Offer, official_images, shortened

_SHOWN = 2  # of each publisher: the best, and the one with compilers or the month before
_NONE = Offer(fitting=(), refused=())


@record
class Offers:
    """By publisher; `why_none` says why nothing was looked at ("" = it was)."""

    official: Offer = _NONE
    ngc: Offer = _NONE
    why_none: str = ""


def image_offers(
    machine: Machine, rulebook: Rulebook, ways: Ways, *, accepts: Callable[[Version], bool] = lambda torch: True
) -> Offers:
    """The offers for a machine whose GPUs have their capability; `accepts` says which torch of pytorch/pytorch."""
    if why := _why_none(machine, rulebook, ways):
        return Offers(why_none=why)
    official = official_images(machine, rulebook, ways, accepts=accepts)
    return Offers(official=official, ngc=ngc_images(machine, rulebook, ways))


def _why_none(machine: Machine, rulebook: Rulebook, ways: Ways) -> str:
    """What must be known, or can't be, before any image is looked at; "" = nothing."""
    vendor = vendor_of(machine)
    if vendor == "amd":
        return "the images of pytorch/pytorch and NGC are for NVIDIA GPUs; AMD's own are rocm/pytorch, not judged here"
    if vendor != "nvidia":
        return "the images of pytorch/pytorch and NGC are for NVIDIA GPUs"
    if any(gpu.compute_capability is None for gpu in machine.gpus):
        return "a GPU is not known: name it, or add cc= to --target"
    if not driver_of(machine, rulebook).known:
        return "the driver is not known, and it decides which images run: add driver= to --target"
    return module_clash(machine, capabilities(machine) or (), ways)


def as_text(offers: Offers) -> str:
    """Two of each that fit, and why newer ones don't."""
    if offers.why_none:
        return f"images of others: none looked at: {offers.why_none}"
    lines = ["images of others that fit:"]
    for title, offer in (("pytorch/pytorch", offers.official), ("NGC", offers.ngc)):
        lines += _publisher(title, offer)
    return "\n".join(lines)


def _publisher(title: str, offer: Offer) -> Iterator[str]:
    if not offer.fitting:
        yield f"  {title}: none"
    for image in offer.fitting[:_SHOWN]:
        more = f", {image.note}" if image.note else ""
        yield f"  {image.name}  (torch {image.torch}, CUDA {image.cuda}{more})"
        if image.check:
            yield f"    not seen by anybody we read; before you use it: {image.check}"
    for refused in shortened(offer.refused):
        yield f"    not {refused.name}: {refused.reason}"


def as_json(offers: Offers) -> dict[str, Any]:
    """A mapping for json.dumps, schema 1."""
    return {
        "schema": 1,
        "why_none": offers.why_none,
        "images": [_image(image) for image in (*offers.official.fitting, *offers.ngc.fitting)],
        "refused": [{"image": r.name, "reason": r.reason} for r in (*offers.official.refused, *offers.ngc.refused)],
    }


def _image(image: Image) -> dict[str, str]:
    return {
        "image": image.name,
        "torch": image.torch,
        "cuda": image.cuda,
        "check": image.check,
        "certainty": image.certainty,
        "source": image.source,
        "note": image.note,
    }
