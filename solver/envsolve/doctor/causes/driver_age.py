"""A driver of the wrong age: too new or too old for the GPU, too old for the build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import other_build, same_version
from envsolve.doctor.situation import Situation
from envsolve.doctor.ways_out import driver_command
from envsolve.doctor.write import finding, fix
from envsolve.dotted import Dotted
from envsolve.judge.driver import branch_limits, branch_of, floor, mismatch
from envsolve.regex import regex

_NVCC = regex(r"release (\d+\.\d+), V")


def dropped_gpu(s: Situation) -> Finding | None:
    """A driver branch that no longer drives the card, by the kernel's own words or by the rules."""
    shown = s.evidence.first("legacy-driver", "unsupported-gpu")
    clash = _clash(s, "driver-too-new")
    if clash is None and not _says_dropped(s):
        return None
    last = _last_branch(s)
    end = f"R{last}" if last else "an older branch"
    return finding(
        s,
        "driver-too-new",
        f"this driver has dropped the GPU: {end} is the last branch that drives it",
        shown=[shown],
        more=[clash] if clash else [],
        fixes=[
            fix(
                f"go back to a driver of {end} and hold it there; a newer one would lose the card again",
                *driver_command(s),
            )
        ],
    )


def _says_dropped(s: Situation) -> bool:
    """Whether the kernel named the legacy branch, or refused a card that is not newer than the driver."""
    if s.evidence.has("legacy-driver"):
        return True
    refused = s.evidence.has("unsupported-gpu") and not s.evidence.has("open-needed")
    return refused and _clash(s, "gpu-driver-mismatch") is None


def _clash(s: Situation, code: str) -> str | None:
    for gpu in s.machine.gpus:
        found = mismatch(s.driver, gpu.compute_capability, s.rulebook) if gpu.compute_capability else None
        if found and found[0] == code:
            return found[1]
    return None


def _last_branch(s: Situation) -> int | None:
    """The last branch for the oldest card; the kernel names it itself for legacy cards."""
    said = s.evidence.first("legacy-driver")
    if said and said.get("branch"):
        return int(said.get("branch"))
    lasts = [branch_limits(g.compute_capability, s.rulebook)[1] for g in s.machine.gpus if g.compute_capability]
    return min((last for last in lasts if last is not None), default=None)


def older_than_gpu(s: Situation) -> Finding | None:
    """A driver of before the card."""
    clash = _clash(s, "gpu-driver-mismatch")
    if clash is None:
        return None
    return finding(
        s,
        "driver-too-old",
        f"the driver is older than the GPU: {clash}",
        shown=s.evidence.all("no-kernel-image", "no-devices", "unsupported-gpu"),
        fixes=[fix("update the driver to the branch that first drives this GPU, or a newer one", *driver_command(s))],
    )


def too_old(s: Situation) -> Finding | None:
    """A driver that cannot serve the CUDA of the build: by a message, a container's demand, or the rules."""
    if image := s.evidence.first("image-driver"):
        return _for_the_image(s, image)
    shown = s.evidence.first("driver-old", "ptx-toolchain", "container-requirement")
    by_rules = s.refusal("driver-too-old", "ptx-needs-newer-driver") if s.torch.accelerator == "cuda" else None
    if shown is None and by_rules is None:
        return None
    if shown is not None and by_rules is None and (owner := _raised_by(s, shown)):
        headline = f"{owner} is made for a newer CUDA than {s.driver} serves; torch itself is not to blame"
        way = fix(f"take the {owner} of an older CUDA, or update the NVIDIA driver", *driver_command(s))
        return finding(s, "foreign-extension", headline, shown=[shown], fixes=[way], certainty="medium")
    cuda = s.torch.cuda or _demanded(s)
    return finding(
        s,
        "driver-too-old",
        _headline(s, cuda),
        shown=[shown],
        more=[*([by_rules.text] if by_rules else []), *_found_version(s)],
        fixes=_fixes(s, cuda),
        certainty="high" if shown else "medium",
        fine=["nvcc and an installed toolkit do not matter for a wheel: it brings its own CUDA"],
    )


def _raised_by(s: Situation, shown: Symptom) -> str:
    """The extension whose error a message is by its own name ("cupy_backends.cuda…Error: …"); "" for torch's."""
    named = re.match(r"\s*([a-z]\w+?)(?:_\w+)?\.[\w.]*(?:Error|Exception)\b", shown.text)
    found = s.facts.extension_of(named[1]) if named else None
    return found.package if found else ""


def _for_the_image(s: Situation, shown: Symptom) -> Finding:
    """NVIDIA's image says which driver it needs of its host."""
    need = shown.get("driver")
    ways = [
        fix(f"update the NVIDIA driver on the host to {need} or newer", *driver_command(s)),
        fix("or take an image of a month whose CUDA this driver serves", "envsolve container -o image"),
    ]
    headline = f"the image needs driver {need} or newer on the host, which has {shown.get('have')}"
    return finding(s, "driver-too-old", headline, shown=[shown], fixes=ways)


def _demanded(s: Situation) -> Dotted | None:
    """The CUDA that an image demands of its host."""
    asked = s.evidence.first("container-requirement")
    return Dotted.parse(asked.get("cuda")) if asked and asked.get("cuda") else None


def _headline(s: Situation, cuda: Dotted | None) -> str:
    who = str(s.driver) if s.driver.known else "the driver"
    if s.evidence.has("ptx-toolchain"):
        speaks = f" (it speaks CUDA {s.driver.cuda})" if s.driver.cuda else ""
        return f"{who} cannot compile PTX that a newer CUDA made{speaks}"
    lowest = _lowest(s, cuda)
    needs = f", which needs driver {lowest} or newer" if lowest else ""
    return f"{who} cannot serve {f'CUDA {cuda}' if cuda else 'the CUDA of this build'}{needs}"


def _found_version(s: Situation) -> Iterator[str]:
    """ "found version 11000" is the driver's CUDA, 11.0."""
    shown = s.evidence.first("driver-old")
    found = shown.get("found") if shown else ""
    if found.isdecimal():
        number = int(found)
        yield f"found version {found} = the driver speaks CUDA {number // 1000}.{number % 1000 // 10} at most"


def _lowest(s: Situation, cuda: Dotted | None) -> Dotted | None:
    """The lowest driver that would do. In full, so without minor-version compatibility, must the CUDA be spoken that
    made PTX (nvcc's where that did), that an image demands, and that a driver refused which compatibility would let by.
    """
    if not s.evidence.has("ptx-toolchain"):
        lowest = floor(cuda, s.rulebook, windows=s.driver.windows) if cuda else None
        refused = lowest is not None and s.driver.version is not None and s.driver.version >= lowest
        if not (refused or s.evidence.has("container-requirement")):
            return lowest
    nvcc = _NVCC.search(s.evidence.text)
    made = max((c for c in (cuda, Dotted.parse(nvcc[1]) if nvcc else None) if c is not None), default=None)
    row = s.rulebook.toolkit_driver(made) if made else None
    return (row.windows if s.driver.windows else row.linux) if row else None


def _fixes(s: Situation, cuda: Dotted | None) -> Iterator[Fix]:
    """A newer driver, as far as the card allows one; a build for the present driver."""
    lowest, last = _lowest(s, cuda), _last_branch(s)
    if lowest is None or last is None or (branch_of(lowest, s.rulebook) or 0) <= last:
        limit = f", but not past R{last}, the last for this card" if last else ""
        need = f"to {lowest} or newer" if lowest else "to a newer branch"
        yield fix(f"update the NVIDIA driver{_where(s)} {need}{limit}", *driver_command(s))
    if s.evidence.has("container-requirement") and cuda and _by_compatibility(s, cuda):
        text = "or start the image without its check: by minor-version compatibility this driver runs its CUDA"
        yield fix(text, "docker run --rm --gpus all -e NVIDIA_DISABLE_REQUIRE=1 IMAGE nvidia-smi")
    if s.torch.known and not s.torch.vendor and s.driver.known:
        yield from other_build(s, torch=same_version(s), why="which this driver serves")
    elif s.driver.known and not s.torch.vendor:
        yield from other_build(s, why="which this driver serves")
    elif s.torch.known:
        yield fix("or take a build for an older CUDA, one that this driver serves")


def _by_compatibility(s: Situation, cuda: Dotted) -> bool:
    lowest = floor(cuda, s.rulebook, windows=s.driver.windows)
    return lowest is not None and s.driver.version is not None and s.driver.version >= lowest


def _where(s: Situation) -> str:
    """Where the driver lives that counts."""
    if s.machine.wsl:
        return " on Windows (not inside WSL)"
    return " on the host" if s.evidence.host.container or s.evidence.has("container-requirement") else ""
