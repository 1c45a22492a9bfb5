"""The toolkit of a source build: one that can compile for these GPUs, that this torch is known to compile with, that
takes a host compiler which can be had, and whose programs this driver can run."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.judge.driver import Driver, too_old
from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.ways_rows import SourceRelease, ToolkitImage
from envsolve.rulebook.ways_tables import Ways
from envsolve.ways.build_targets import Targets, targets


@record
class Toolkit:
    """A toolkit that will do: where it is, the gcc majors that go with it, the arch lists.

    `gcc`: those that the image has, its own first; `host_gcc`: all that nvcc and this torch take, wherever they are.
    `fits`: what is compiled in the image runs with the target's glibc (or that is not known).
    """

    cuda: Dotted
    image: ToolkitImage
    gcc: tuple[int, ...]
    host_gcc: tuple[int, ...]
    targets: Targets
    built_upstream: bool
    fits: bool


@record
class Wish:
    """What is to be compiled: a torch, for GPUs, under a driver, beside a glibc (None = not known)."""

    torch: Version
    release: SourceRelease
    found: tuple[Capability, ...]
    driver: Driver
    glibc: Dotted | None = None


def toolkit_for(
    wish: Wish, rulebook: Rulebook, ways: Ways, *, cuda: Dotted | None = None
) -> Toolkit | dict[Dotted, str]:
    """The best toolkit, or why each of them is refused. `cuda` allows only that one.

    Those that upstream built this torch with come first, of those the ones whose result runs with the target's glibc,
    and then the newest.
    """
    made: list[Toolkit] = []
    refused: dict[Dotted, str] = {}
    for candidate in _ordered(wish.release, ways):
        if cuda is not None and candidate != cuda:
            continue
        for image in ways.toolkit_images[candidate]:
            found = _judged(image, wish, rulebook, ways)
            if isinstance(found, Toolkit):
                made.append(found)
            else:
                refused.setdefault(candidate, found)
    if made:
        return min(made, key=lambda toolkit: (not toolkit.built_upstream, not toolkit.fits))
    if cuda is not None and not refused:
        known = " ".join(str(c) for c in ways.toolkit_images)
        refused[cuda] = f"the rules know no image with the toolkit of CUDA {cuda} (they do for {known})"
    return refused


def _ordered(release: SourceRelease, ways: Ways) -> list[Dotted]:
    """Those of upstream, the newest first, then the others, the nearest to those first."""
    known = sorted(ways.toolkit_images, key=lambda c: c.parts)
    built = [place for place, cuda in enumerate(known) if cuda in release.cuda_built]

    def order(place: int) -> tuple[bool, int, int]:
        away = min((abs(place - other) for other in built), default=0)
        return place not in built, away, -place

    return [known[place] for place in sorted(range(len(known)), key=order)]


def _judged(image: ToolkitImage, wish: Wish, rulebook: Rulebook, ways: Ways) -> Toolkit | str:
    cuda = image.cuda
    reach = rulebook.toolkit_ranges.get(cuda)
    if reach is None:
        return f"the rules don't say what nvcc {cuda} can target"
    # The GPU's reason is told before the others: no other version of the rest could mend it.
    lists = targets(wish.found, reach, wish.release, rulebook.tegra_capabilities)
    if isinstance(lists, str):
        return lists
    reason = _torch_refusal(cuda, wish, ways) or too_old(wish.driver, cuda, rulebook)
    if reason := reason or _cudnn_refusal(image, wish.torch, ways):
        return reason
    taken = host_compilers(cuda, wish, ways)
    own = tuple(major for major in image.gcc if major in taken)
    if not own:
        return f"no gcc of Ubuntu {image.ubuntu} goes with both CUDA {cuda} and torch {wish.torch}"
    return Toolkit(
        cuda=cuda,
        image=image,
        gcc=own,
        host_gcc=(*own, *(major for major in taken if major not in own)),
        targets=lists,
        built_upstream=cuda in wish.release.cuda_built,
        fits=wish.glibc is None or image.glibc <= wish.glibc,
    )


def _torch_refusal(cuda: Dotted, wish: Wish, ways: Ways) -> str:
    release = wish.release
    if release.cuda_min is not None and cuda < release.cuda_min:
        return f"torch {release.torch} needs CUDA {release.cuda_min} or newer to compile"
    for obstacle in ways.obstacles:
        if not obstacle.stops or obstacle.gcc is not None or not obstacle.torch.contains(wish.torch):
            continue
        meets_cuda = obstacle.cuda is None or _contains(obstacle.cuda, cuda)
        meets_gpu = obstacle.first is None or any(c >= obstacle.first for c in wish.found)
        if meets_cuda and meets_gpu:
            return obstacle.why
    cap = release.cuda_max or max(release.cuda_built, key=lambda c: c.parts)
    if cuda > cap:
        return f"CUDA {cap} is the newest that torch {release.torch} is known to compile with"
    return ""


def _cudnn_refusal(image: ToolkitImage, torch: Version, ways: Ways) -> str:
    majors = next((row.majors for row in ways.cudnn_ranges if row.torch.contains(torch)), ())
    if not majors or image.cudnn in majors:
        return ""
    wanted = " or ".join(map(str, majors))
    return f"torch {torch} takes cuDNN {wanted}; the image with CUDA {image.cuda} has {image.cudnn}"


def host_compilers(cuda: Dotted, wish: Wish, ways: Ways) -> tuple[int, ...]:
    """The gcc majors that nvcc, torch's C++ standard and its sources take, the newest first."""
    nvcc = ways.host_compilers.get(cuda)
    if nvcc is None:
        return ()
    least = max(nvcc.first, wish.release.gcc_min.major)
    stopped = [o.gcc for o in ways.obstacles if o.gcc is not None and o.torch.contains(wish.torch)]
    taken = [major for major in range(least, nvcc.end) if not any(s.contains(str(major)) for s in stopped)]
    return tuple(reversed(taken))


def _contains(specifier: SpecifierSet, cuda: Dotted) -> bool:
    return specifier.contains(cuda.text)
