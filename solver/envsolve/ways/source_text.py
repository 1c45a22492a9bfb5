"""A recipe as text for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from envsolve.ways.source_build import Recipe


def as_text(recipe: Recipe, *, cores: int | None = None, memory_mib: int | None = None) -> str:
    """What will be compiled, with what, and what it takes on a machine of so many cores and so much memory."""
    return "\n".join(_lines(recipe, cores, memory_mib))


def _lines(recipe: Recipe, cores: int | None, memory_mib: int | None) -> Iterator[str]:
    toolkit = recipe.toolkit
    family = " ".join(f"{name} {version}" for name, version in recipe.companions.items())
    yield f"torch {recipe.torch} {family}".rstrip() + f" for {recipe.cards}, Python {recipe.python}"
    yield f"  toolkit: CUDA {toolkit.cuda} with cuDNN {toolkit.image.cudnn} ({toolkit.image.tag})"
    yield f"  host compiler: gcc {', '.join(map(str, toolkit.host_gcc))}"
    yield f"  C library: wheels compiled in the image need glibc {toolkit.image.glibc} or newer where they run"
    yield f"  TORCH_CUDA_ARCH_LIST: {toolkit.targets.torch} ({toolkit.targets.why})"
    if toolkit.targets.extensions != toolkit.targets.torch:
        yield f"  for torchvision and torchaudio: {toolkit.targets.extensions}"
    yield from (f"  {line}" for line in _cost(recipe, cores, memory_mib))
    yield from (f"  note: {note}" for note in recipe.notes)


def _cost(recipe: Recipe, cores: int | None, memory_mib: int | None) -> Iterator[str]:
    cost = recipe.cost
    yield f"disk: some {cost.disk_gib} GiB; memory: {cost.job_mib / 1024:.1f} GiB for each job"
    if cores is None or memory_mib is None:
        yield f"time: some {cost.core_hours} hours of one core, shared by the jobs"
        return
    jobs = cost.jobs(cores, memory_mib)
    why = f"{cores} cores, {memory_mib / 1024:.0f} GiB of memory"
    yield f"MAX_JOBS={jobs} here ({why}): some {cost.hours(jobs):.0f} hours; the script asks its own machine"


def as_json(recipe: Recipe) -> dict[str, Any]:
    """A mapping for json.dumps, schema 1."""
    toolkit = recipe.toolkit
    return {
        "schema": 1,
        "torch": str(recipe.torch),
        "companions": {name: str(version) for name, version in recipe.companions.items()},
        "python": str(recipe.python),
        "cuda": str(toolkit.cuda),
        "cudnn": toolkit.image.cudnn,
        "image": toolkit.image.tag,
        "gcc": list(toolkit.host_gcc),
        "glibc": str(toolkit.image.glibc),
        "image_only": recipe.image_only,
        "here": recipe.here,
        "arch_list": toolkit.targets.torch,
        "arch_list_extensions": toolkit.targets.extensions,
        "built_upstream": toolkit.built_upstream,
        "job_mib": recipe.cost.job_mib,
        "core_hours": recipe.cost.core_hours,
        "disk_gib": recipe.cost.disk_gib,
        "source": recipe.cost.source,
        "notes": list(recipe.notes),
    }
