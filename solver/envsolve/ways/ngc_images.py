"""NVIDIA's monthly PyTorch images (NGC): which months serve these GPUs under this driver."""

from __future__ import annotations

from envsolve.capability import Capability
from envsolve.judge.driver import Driver, driver_of, mismatch
from envsolve.machine.machine import Machine
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.ways_rows import NgcMonth
from envsolve.rulebook.ways_tables import Ways
from envsolve.ways import cards
from envsolve.ways.official_images import Image, Offer, RefusedImage


def ngc_images(machine: Machine, rulebook: Rulebook, ways: Ways) -> Offer:
    """The months, newest first; GPUs have their capability. What the rules don't hold of a month refuses it."""
    fitting: list[Image] = []
    refused: list[RefusedImage] = []
    for month in reversed(ways.ngc_months):
        if reason := _refusal(month, machine, rulebook, ways):
            refused.append(RefusedImage(name=month.image, reason=reason, source=month.source))
        else:
            fitting.append(_image(month, machine, rulebook))
    return Offer(fitting=tuple(fitting), refused=tuple(refused))


def _refusal(month: NgcMonth, machine: Machine, rulebook: Rulebook, ways: Ways) -> str:
    found = cards.capabilities(machine)
    if found is None:
        return "the GPUs are not known"
    if set(found) & rulebook.tegra_capabilities:
        return "Jetson boards have images of their own (l4t-pytorch, l4t-jetpack)"
    driver = driver_of(machine, rulebook)
    for capability in found:
        if reason := _gpu_refusal(month, capability, ways):
            return reason
        if clash := mismatch(driver, capability, rulebook):
            return clash[1]
    return _driver_refusal(month, machine, driver, ways)


def _gpu_refusal(month: NgcMonth, capability: Capability, ways: Ways) -> str:
    if month.first is None:
        return "the lowest capability of this month was not read"
    if capability < month.first:
        return f"serves {month.first} and newer, this is {capability}"
    since = ways.ngc_first.get(capability)
    if since is not None and month.month < since.month:
        return f"{capability} is listed from {since.month.text} on"
    return ""


def _driver_refusal(month: NgcMonth, machine: Machine, driver: Driver, ways: Ways) -> str:
    least = month.driver_min
    if least is None:
        return "the driver that this month needs was not read"
    if not driver.known:
        return "the driver is not known"
    # Windows counts its own minor numbers: the branch is what the two have in common.
    if driver.version is not None and not driver.windows:
        old = driver.version < least
    else:
        old = driver.branch is None or driver.branch < least.major
    if not old:
        return ""
    if driver.branch in month.datacentre_branches and cards.datacentre(machine, ways):
        return ""
    return f"needs driver {least} or newer, this is {driver}"


def _image(month: NgcMonth, machine: Machine, rulebook: Rulebook) -> Image:
    driver = driver_of(machine, rulebook)
    forward = month.driver_min is not None and driver.version is not None and driver.version < month.driver_min
    compat = "by forward compatibility (data-centre GPU)" if forward and not driver.windows else ""
    return Image(
        name=month.image,
        torch=month.torch or "not read",
        cuda=month.cuda or "not read",
        check="" if month.certainty != "low" else f"docker manifest inspect {month.image}",
        certainty=month.certainty,
        source=month.source,
        note=compat or month.note,
    )
