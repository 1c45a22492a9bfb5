"""Source build: everything that compiling PyTorch for exactly these GPUs takes, or why it can't be done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from packaging.version import Version

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.judge.accelerator import vendor_of
from envsolve.judge.driver import driver_of, mismatch
from envsolve.judge.host import minor_of
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.ways_rows import SourceRelease
from envsolve.rulebook.ways_tables import Ways, load_ways
from envsolve.ways import cards
from envsolve.ways.build_cost import Cost, cost_of
from envsolve.ways.build_toolkit import Toolkit, Wish, toolkit_for
from envsolve.ways.kernel_modules import module_clash


@record
class Recipe:
    """How to compile one torch for some GPUs. `companions`: torchvision and torchaudio with their versions.

    `python` is a CPython minor; `notes` say what is unusual about it. `image_only`: why wheels that are compiled in the
    image don't run on the target itself ("" = they do); `here`: whether the target itself can compile.
    """

    torch: Version
    companions: Mapping[str, Version]
    python: Dotted
    capabilities: tuple[Capability, ...]
    cards: str
    gpu_count: int
    toolkit: Toolkit
    release: SourceRelease
    cost: Cost
    notes: tuple[str, ...]
    image_only: str = ""
    here: bool = True

    @property
    def label(self) -> str:
        """The local version label of the wheels: not the one of published wheels, which they are not."""
        return f"cu{self.toolkit.cuda.text.replace('.', '')}.source"


@record
class NoRecipe:
    """Why a torch can't be compiled here, and the nearest that can (torch, CUDA); None = nothing can."""

    torch: Version
    reason: str
    nearest: Recipe | None = None


def recipe(
    machine: Machine,
    torch: Version,
    rulebook: Rulebook,
    ways: Ways | None = None,
    *,
    cuda: Dotted | None = None,
    nearest: bool = True,
) -> Recipe | NoRecipe:
    """The recipe for a torch release on a machine; `cuda` allows only that toolkit.

    With `nearest` False a refusal doesn't look for what else could be compiled. GPUs need names or capabilities.
    """
    ways = ways or load_ways()
    machine = cards.identified(machine, rulebook)
    made = _recipe(machine, torch, rulebook, ways, cuda)
    if isinstance(made, str):
        near = _nearest(machine, torch, rulebook, ways) if nearest else None
        return NoRecipe(torch=torch, reason=made, nearest=near)
    return made


def newest_recipe(
    machine: Machine, rulebook: Rulebook, ways: Ways | None = None, *, accepts: Callable[[Version], bool] | None = None
) -> Recipe | None:
    """The recipe for the newest torch that can be compiled for a machine, of those that it accepts; None = none."""
    ways = ways or load_ways()
    machine = cards.identified(machine, rulebook)
    allowed = [v for v in reversed(rulebook.torch_versions) if accepts is None or accepts(v)]
    made = (_recipe(machine, torch, rulebook, ways, None) for torch in allowed)
    return next((found for found in made if isinstance(found, Recipe)), None)


def _recipe(machine: Machine, torch: Version, rulebook: Rulebook, ways: Ways, cuda: Dotted | None) -> Recipe | str:
    if reason := _machine_refusal(machine, rulebook, ways):
        return reason
    release = ways.source_releases.get(Dotted.parse(f"{torch.major}.{torch.minor}"))
    if torch not in rulebook.torch_versions or release is None or release.python is None or not release.numbers:
        return f"the rules don't hold what torch {torch} needs to be compiled"
    found = cards.capabilities(machine) or ()
    driver = driver_of(machine, rulebook)
    for obstacle in ways.obstacles:
        if obstacle.first is not None and obstacle.torch.contains(torch) and max(found) >= obstacle.first and not cuda:
            return f"{obstacle.why} (source: {obstacle.source})"
    wish = Wish(torch=torch, release=release, found=found, driver=driver, glibc=_glibc(machine))
    toolkit = toolkit_for(wish, rulebook, ways, cuda=cuda)
    if not isinstance(toolkit, Toolkit):
        return _told(toolkit, release)
    python, note = _python(machine, release.python)
    pairs = rulebook.companions.get(torch)
    return Recipe(
        torch=torch,
        companions={name: found[0] for name, found in pairs.versions.items() if found} if pairs else {},
        python=python,
        capabilities=found,
        cards=cards.names(machine),
        gpu_count=len(machine.gpus),
        toolkit=toolkit,
        release=release,
        cost=cost_of(torch, found, ways),
        notes=(*note, *_unpublished(wish, rulebook), *_notes(wish, toolkit, ways)),
        image_only=_image_only(machine, toolkit),
        here=machine.os == "linux" and not _musl(machine),
    )


def _musl(machine: Machine) -> bool:
    return machine.libc is not None and machine.libc.name == "musl"


def _glibc(machine: Machine) -> Dotted | None:
    """The target's own glibc, where wheels may run beside it."""
    return machine.libc.version if machine.os == "linux" and machine.libc is not None else None


def _image_only(machine: Machine, toolkit: Toolkit) -> str:
    if machine.os == "windows":
        return "the wheels are for Linux: they run in the image or in WSL, not in a Python of Windows"
    if _musl(machine):
        return "NVIDIA's toolkit and driver libraries need glibc, and the target has musl: compile and run in the image"
    if not toolkit.fits:
        made, own = toolkit.image.glibc, _glibc(machine)
        return f"wheels of this image need glibc {made} or newer, the target has {own}: run them in the image"
    return ""


def _machine_refusal(machine: Machine, rulebook: Rulebook, ways: Ways) -> str:
    """What about the machine rules out any build, whatever the torch."""
    if vendor_of(machine) != "nvidia":
        return "recipes are for NVIDIA GPUs: other accelerators have wheels of their own (envsolve plan)"
    if machine.os == "macos" or machine.arch != "x86_64":
        return f"recipes are for Linux on x86_64 (WSL included), not for {machine.platform}"
    found = cards.capabilities(machine)
    if found is None:
        return "a GPU is not known: name it, or add cc= to --target"
    if set(found) & rulebook.tegra_capabilities:
        return "Jetson boards are compiled for with the toolkit of their JetPack, not with these images"
    if clash := module_clash(machine, found, ways):
        return clash
    driver = driver_of(machine, rulebook)
    mismatches = (mismatch(driver, capability, rulebook) for capability in found)
    return next((text for _, text in filter(None, mismatches)), "")


def _told(refused: Mapping[Dotted, str], release: SourceRelease) -> str:
    """Each toolkit's reason, those that upstream used first, the same reason once."""
    by_reason: dict[str, list[str]] = {}
    for cuda, reason in refused.items():
        by_reason.setdefault(reason, []).append(str(cuda))
    if len(by_reason) == 1:
        return next(iter(by_reason))
    return "; ".join(f"CUDA {' '.join(cudas)}: {reason}" for reason, cudas in list(by_reason.items())[:4])


def _python(machine: Machine, known: tuple[Dotted, Dotted]) -> tuple[Dotted, tuple[str, ...]]:
    first, last = known
    wanted = minor_of(machine.python) if machine.python else last
    if first <= wanted <= last:
        return wanted, ()
    nearest = last if wanted > last else first
    return nearest, (f"for Python {nearest}: this torch was made for {first} to {last}, not {wanted}",)


def _unpublished(wish: Wish, rulebook: Rulebook) -> Iterator[str]:
    """GPUs that no published wheel of this torch has code of their own major for."""
    builds = [b for b in rulebook.builds_on("linux_x86_64") if b.torch == wish.torch]
    served = {(target.capability.major, target.capability.minor) for build in builds for target in build.sm}
    for capability in wish.found:
        if not any(major == capability.major and minor <= capability.minor for major, minor in served):
            yield f"no published wheel of torch {wish.torch} serves {capability}: that it works there is not proven"


def _notes(wish: Wish, toolkit: Toolkit, ways: Ways) -> Iterator[str]:
    if not toolkit.built_upstream:
        built = " ".join(map(str, wish.release.cuda_built))
        yield f"upstream built torch {wish.release.torch} with CUDA {built}; with {toolkit.cuda} it is not proven"
    yield from toolkit.targets.notes
    if not wish.driver.known:
        yield "the driver is not known: whether it runs the result was not judged"
    for obstacle in ways.obstacles:
        if not obstacle.stops and obstacle.torch.contains(wish.torch):
            yield obstacle.why


def _nearest(machine: Machine, torch: Version, rulebook: Rulebook, ways: Ways) -> Recipe | None:
    """The same torch with any toolkit, else the next newer release that can be compiled, else the next older one."""
    if _machine_refusal(machine, rulebook, ways):
        return None
    newer = [v for v in rulebook.torch_versions if v >= torch]
    older = [v for v in reversed(rulebook.torch_versions) if v < torch]
    for candidate in (*newer, *older):
        found = _recipe(machine, candidate, rulebook, ways, None)
        if isinstance(found, Recipe):
            return found
    return None
