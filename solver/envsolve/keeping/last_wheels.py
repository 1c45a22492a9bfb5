"""Last wheels: cards that the newest torch has left behind, and variants that are no longer published."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from envsolve.judge.accelerator import vendor_of
from envsolve.judge.judge import jit_proven
from envsolve.judge.kernels import best_cubin, best_ptx
from envsolve.keeping.finding import Finding
from envsolve.machine.machine import Gpu, Machine
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build, Certainty

_SURE: tuple[Certainty, ...] = ("low", "medium", "high")
_ACCELERATORS: dict[str, Literal["cuda", "rocm"]] = {"nvidia": "cuda", "amd": "rocm"}


def newest(builds: Sequence[Build]) -> list[Build]:
    """The builds of the newest torch among these."""
    top = max((build.torch for build in builds), default=None)
    return [build for build in builds if build.torch == top]


def lowest(*certainties: Certainty) -> Certainty:
    """The least sure of several; "low" for none."""
    return min(certainties, key=_SURE.index, default="low")


def of_cards(machine: Machine, builds: Sequence[Build], rulebook: Rulebook) -> Iterator[Finding]:
    """A warning for each kind of card whose last wheel is published. Cards that no wheel has served are none."""
    accelerator = _ACCELERATORS.get(vendor_of(machine) or "")
    own = [build for build in builds if build.accelerator == accelerator]
    latest = newest(own)
    for gpu in dict.fromkeys(machine.gpus):
        serving = [build for build in own if serves(build, gpu, rulebook)]
        if serving and all(_lacks(build, gpu, rulebook) for build in latest):
            yield _card(gpu, serving, latest)


def _lacks(build: Build, gpu: Gpu, rulebook: Rulebook) -> bool:
    """Whether it is known that a build has nothing for a GPU. Of a list that nobody has read, only a rule about the
    target itself says so."""
    if build.accelerator == "rocm":
        from envsolve.judge.rocm import rocm_fit

        return rocm_fit(build, gpu, "", rulebook)[0].verdict == "unsupported"
    return build.targets_known and not serves(build, gpu, rulebook)


def serves(build: Build, gpu: Gpu, rulebook: Rulebook) -> bool:
    """Whether a build has code that is known to run on a GPU; the driver is another matter."""
    if build.accelerator == "rocm":
        from envsolve.judge.rocm import rocm_fit

        return rocm_fit(build, gpu, "", rulebook)[0].verdict not in ("unsupported", "unknown")
    capability = gpu.compute_capability
    if capability is None:
        return False
    if best_cubin(build, capability, rulebook.tegra_capabilities) is not None:
        return True
    if capability in rulebook.tegra_capabilities:
        return False
    return best_ptx(build, capability) is not None and jit_proven(build, capability, rulebook)


def _card(gpu: Gpu, serving: Sequence[Build], latest: Sequence[Build]) -> Finding:
    last = [build for build in serving if build.torch == max(build.torch for build in serving)]
    name = " ".join(filter(None, [gpu.name or "a GPU", f"({gpu.compute_capability or gpu.gfx})"]))
    variants = ", ".join(build.variant for build in last)
    compiled = "" if last[0].accelerator == "rocm" else "build from source (envsolve source-build), "
    return Finding(
        code="card-last-wheel",
        text=f"{name}: torch {last[0].torch} ({variants}) is the last with kernels for it, {latest[0].torch} has none",
        hint=f"pin it below, {compiled}or plan for another card",
        certainty=lowest(*(build.certainty for build in (*last, *latest))),
        source=latest[0].source,
    )


def of_variant(variant: str, builds: Sequence[Build], rulebook: Rulebook) -> Iterator[Finding]:
    """A warning where the newest torch is no longer published as this variant."""
    latest = newest(builds)
    having = [build.torch for build in builds if build.variant == variant]
    if not latest or not having or max(having) == latest[0].torch:
        return
    torch, certainty, source = latest[0].torch, lowest(*(build.certainty for build in latest)), latest[0].source
    reason = next((row for row in rulebook.not_published if row.variant == variant and torch in row.torch), None)
    if reason is not None:
        certainty, source = reason.certainty, reason.source
    now = ", ".join(build.variant for build in latest if build.accelerator == _kind(variant, builds))
    yield Finding(
        code="variant-last-wheel",
        text=f"{variant}: torch {max(having)} is the last that is published with it, {torch} is not",
        hint=f"torch {torch} comes as {now}" if now else "",
        certainty=certainty,
        source=source,
    )


def _kind(variant: str, builds: Sequence[Build]) -> str:
    return next((build.accelerator for build in builds if build.variant == variant), "")
