"""TORCH_CUDA_ARCH_LIST for exactly these GPUs: what cmake takes for torch, and what its extension builder takes."""

from __future__ import annotations

from collections.abc import Iterable

from envsolve.capability import Capability
from envsolve.record import record
from envsolve.rulebook.tables import ToolkitRange
from envsolve.rulebook.ways_rows import SourceRelease

_TWO_DIGITS = 10  # from this major on, both lists must name the capability


@record
class Targets:
    """The two lists, each like "3.7;8.6", and why there is PTX in them or not."""

    torch: str
    extensions: str
    why: str
    notes: tuple[str, ...] = ()


@record
class _Code:
    """The code for one GPU: the number for torch, and for its extensions (which may need PTX)."""

    gpu: Capability
    torch: Capability
    extension: Capability
    ptx: bool = False


def targets(
    found: Iterable[Capability], reach: ToolkitRange, release: SourceRelease, tegra: frozenset[Capability]
) -> Targets | str:
    """The lists for GPUs of these capabilities, by an nvcc of this reach; a text that says why there are none."""
    codes: list[_Code] = []
    for gpu in sorted(found):
        code = _code(gpu, reach, release, tegra)
        if isinstance(code, str):
            return code
        codes.append(code)
    ptx = any(code.ptx for code in codes)
    return Targets(
        torch=_list(code.torch for code in codes),
        extensions=_list(code.extension for code in codes) + ("+PTX" if ptx else ""),
        why=_why(codes),
        notes=tuple(_notes(codes, release)),
    )


def _code(gpu: Capability, reach: ToolkitRange, release: SourceRelease, tegra: frozenset[Capability]) -> _Code | str:
    if release.numbers and gpu < min(release.numbers):
        return f"torch {release.torch} can't be compiled for {gpu}: its lowest is {min(release.numbers)}"
    usable = [n for n in release.numbers if n not in tegra and n <= gpu and reach.covers(n)]
    same = [n for n in usable if n.major == gpu.major]
    if same:
        return _Code(gpu=gpu, torch=max(same), extension=max(same))
    if reach.covers(gpu) and gpu.major < _TWO_DIGITS and usable:
        return _Code(gpu=gpu, torch=gpu, extension=max(usable), ptx=True)
    if not reach.covers(gpu):
        return f"nvcc {reach.cuda} makes code for {reach.first} to {reach.last}, not for {gpu}"
    return f"torch {release.torch} can't be compiled for {gpu}: its builder doesn't know the number"


def _list(numbers: Iterable[Capability]) -> str:
    return ";".join(str(n) for n in dict.fromkeys(numbers))


def _why(codes: list[_Code]) -> str:
    if any(code.ptx for code in codes):
        return "PTX for the extensions alone: this torch's extension builder doesn't know the GPU's number"
    return "without +PTX: every GPU gets code of its own, and PTX would only help GPUs that are not here"


def _notes(codes: list[_Code], release: SourceRelease) -> list[str]:
    notes = [f"{c.gpu} runs the code for {c.torch}: same major, lower minor" for c in codes if c.torch != c.gpu]
    notes += [
        f"torch {release.torch} predates {c.gpu}: torchvision is compiled by the driver at first use"
        for c in codes
        if c.ptx
    ]
    return notes
