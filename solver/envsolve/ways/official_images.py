"""Images that others publish: which pytorch/pytorch tags and NGC months fit these GPUs and this driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from packaging.version import Version

from envsolve.judge.driver import driver_of
from envsolve.judge.judge import Case, judge
from envsolve.machine.machine import Machine
from envsolve.record import record, replace
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build, Certainty
from envsolve.rulebook.ways_rows import OfficialTag
from envsolve.rulebook.ways_tables import Ways

REPOSITORY = "pytorch/pytorch"


@record
class Image:
    """An image that fits. `check`: the command that tells whether it is there, where nobody has seen it ("": seen)."""

    name: str
    torch: str
    cuda: str
    check: str
    certainty: Certainty
    source: str
    note: str = ""


@record
class RefusedImage:
    """An image that doesn't fit, and why."""

    name: str
    reason: str
    source: str


@record
class Offer:
    """The images of one publisher, best first."""

    fitting: tuple[Image, ...]
    refused: tuple[RefusedImage, ...]


def official_images(
    machine: Machine, rulebook: Rulebook, ways: Ways, *, accepts: Callable[[Version], bool] = lambda torch: True
) -> Offer:
    """The tags of pytorch/pytorch for the torch versions that are accepted; GPUs have their capability."""
    fitting: list[tuple[tuple[object, ...], Image]] = []
    refused: list[RefusedImage] = []
    inside = replace(machine, os="linux", libc=None, wsl=machine.wsl or machine.os == "windows")
    for tag in reversed([tag for tag in ways.official_tags if accepts(tag.torch)]):
        reason, within = _judged(tag, inside, rulebook)
        if reason:
            refused.append(RefusedImage(name=f"{REPOSITORY}:{tag.tag}", reason=reason, source=tag.source))
        else:
            order = (tag.torch, tag.seen, within, tag.cuda.parts, tag.kind == "runtime")
            fitting.append((order, _image(tag)))
    best_first = sorted(fitting, key=lambda pair: pair[0], reverse=True)
    return Offer(fitting=tuple(image for _, image in best_first), refused=tuple(refused))


def _judged(tag: OfficialTag, machine: Machine, rulebook: Rulebook) -> tuple[str, bool]:
    """Why a tag doesn't fit ("" = it does), and whether the driver speaks its CUDA in full."""
    if machine.arch != "x86_64":
        return "published for linux/amd64 only", False
    build = _build(tag, rulebook)
    if build is None:
        return "the rules have no build of this torch and CUDA", False
    # The image brings its own Python and C library: only GPU and driver count.
    python = str(build.python[0])
    case = Case(
        machine=replace(machine, python=python), driver=driver_of(machine, rulebook), rulebook=rulebook, python=python
    )
    fit = judge(build, case)
    return (fit.refusals[0].text if fit.refusals else ""), fit.within_driver_cuda


def _build(tag: OfficialTag, rulebook: Rulebook) -> Build | None:
    return rulebook.build(tag.torch, f"cu{tag.cuda.text.replace('.', '')}", "linux_x86_64")


def _image(tag: OfficialTag) -> Image:
    name = f"{REPOSITORY}:{tag.tag}"
    return Image(
        name=name,
        torch=str(tag.torch),
        cuda=str(tag.cuda),
        check="" if tag.seen else f"docker manifest inspect {name}",
        certainty=tag.certainty,
        source=tag.source,
        note="" if tag.kind == "runtime" else "with compilers",
    )


def shortened(refused: tuple[RefusedImage, ...], most: int = 3) -> Iterator[RefusedImage]:
    """One image for each reason, the newest, at most so many."""
    reasons: set[str] = set()
    for image in refused:
        if image.reason not in reasons and len(reasons) < most:
            reasons.add(image.reason)
            yield image
