"""What plan, lock and install have in common: the options that say what is wanted and for which machine."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from envsolve.cli.declared import argument, option
from envsolve.errors import InputError
from envsolve.record import record

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from envsolve.lock.wishes import Wishes
    from envsolve.machine.machine import Machine
    from envsolve.resolve.request import Request

Requirements = Annotated[
    list[str] | None, argument(metavar="[REQ]...", help="Requirements; default: torch torchvision torchaudio.")
]
Files = Annotated[
    list[Path] | None,
    option("-r", "--requirement", help="Read requirements from a file: text, pyproject.toml, environment.yml."),
]
Constraints = Annotated[
    list[Path] | None, option("-c", "--constraint", help="Versions to keep to where a package is needed at all.")
]
Extras = Annotated[
    list[str] | None, option("--extra", metavar="NAME", help="An extra of pyproject.toml. May be repeated.")
]
Groups = Annotated[
    list[str] | None,
    option("--group", metavar="NAME", help="A dependency group of pyproject.toml. May be repeated."),
]
Target = Annotated[
    str | None,
    option("--target", help='Another machine: a profile, pasted nvidia-smi output, or "RTX 4090,driver=550".'),
]
Python = Annotated[str | None, option("--python", help="The Python that the environment is for, like 3.12.")]
Gpus = Annotated[str, option("--gpus", help="all, best, visible, or indexes like 0,1.")]
Variant = Annotated[str | None, option("--variant", help="Only builds of this variant: cu126, cu130, cpu, …")]

Sdists = Annotated[
    bool,
    option("--sdists", help="Take source archives of packages without a wheel; building one runs its code."),
]


@record
class Wanted:
    """What is wanted, as the options of a command say it."""

    requirements: Requirements = None
    files: Files = None
    constraints: Constraints = None
    extra: Extras = None
    group: Groups = None


@record
class ForMachine:
    """For which machine it is, and for which of its GPUs, as the options of a command say it."""

    target: Target = None
    python: Python = None
    gpus: Gpus = "all"
    variant: Variant = None


NOTHING = Wanted()
HERE = ForMachine()


def seen(request: Request, machine: Machine) -> Request:
    """The request with --gpus visible turned into the indexes that CUDA_VISIBLE_DEVICES leaves."""
    from envsolve.record import replace

    if request.gpus != "visible":
        return request
    from envsolve.machine.visible import visible

    mask = os.environ.get("CUDA_VISIBLE_DEVICES")
    shown = visible(machine.gpus, mask)
    if machine.gpus and not shown:
        raise InputError(f"CUDA_VISIBLE_DEVICES={mask} hides every GPU", hint="unset it, or use --gpus all")
    return replace(request, gpus=tuple(sorted(shown)))


def machine(target: str | None, python: str | None) -> Machine:
    """The machine of --target, or this one; --python outranks what either says."""
    from envsolve.record import replace

    if target is None:
        from envsolve.machine.detect import detect

        known = detect()
    else:
        from envsolve.judge.superchip import with_own_arch
        from envsolve.machine.target import read_target
        from envsolve.rulebook.load import load

        known = with_own_arch(read_target(target), load())
    if python is None:
        return known
    return replace(known, python=_python(python), assumed=tuple(a for a in known.assumed if a != "python"))


def request(
    requirements: list[str],
    wishes: Wishes,
    *,
    target: str | None,
    gpus: str,
    variant: str | None,
    source: str | None,
    mirror: str | None,
) -> Request:
    """The request of a command line and of the files that it names."""
    from envsolve.redact import strip_credentials
    from envsolve.resolve.request import TRIO, Request

    wanted = (*map(requirement, requirements), *wishes.requirements)
    wanted = wanted or tuple(map(requirement, TRIO))
    chosen = source or os.environ.get("ENVSOLVE_SOURCE") or "pytorch"
    if chosen not in ("pytorch", "pypi"):
        raise InputError(f"--source {chosen}: must be pytorch or pypi", hint="envsolve plan --source pypi")
    return Request(
        requirements=(*wanted, *wishes.family_constraints({r.name for r in wanted})),
        constraints=wishes.constraints,
        variant=variant or _named_variant(wishes),
        gpus=gpus_of(gpus),
        source=chosen,  # type: ignore[arg-type]
        mirror=strip_credentials(mirror or os.environ.get("ENVSOLVE_MIRROR", "")),
        target=target or "",
    )


def _named_variant(wishes: Wishes) -> str | None:
    """The one variant that the files name, if they name any."""
    by_variant = {variant: where for where, variant in wishes.variants}
    if len(by_variant) > 1:
        told = ", ".join(f"{where} asks for {variant}" for variant, where in by_variant.items())
        raise InputError(f"the files ask for different variants: {told}", hint="--variant decides")
    return next(iter(by_variant), None)


def requirement(text: str) -> Requirement:
    """A requirement of the command line. Raises InputError."""
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        return Requirement(text)
    except InvalidRequirement as error:
        first = str(error).splitlines()[0]
        raise InputError(f"{text!r} is not a requirement: {first}", hint="envsolve plan 'torch==2.9.1'") from error


def gpus_of(text: str) -> Literal["all", "best", "visible"] | tuple[int, ...]:
    """all, best, or indexes; "visible" becomes the indexes that CUDA_VISIBLE_DEVICES leaves."""
    if text in ("all", "best", "visible"):
        return text  # type: ignore[return-value]
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"--gpus {text}: must be all, best, visible or indexes", hint="--gpus 0,1") from None


def _python(text: str) -> str:
    """A Python version as people write it: 3.12, 3.12.1, 3.13t, python3.12."""
    if match := re.fullmatch(r"(?:python)?(\d+\.\d+)(?:\.\d+)?(t?)", text.strip(), re.ASCII):
        _check_served(match[1])
        return match[1] + match[2]
    raise InputError(f"--python {text}: not a Python version", hint="--python 3.12")


def _check_served(minor: str) -> None:
    """Raises InputError for a Python that no build serves and none will; one that is newer than all may get its own."""
    from envsolve.dotted import Dotted
    from envsolve.rulebook.load import load

    known = sorted(map(Dotted.parse, load().python_ends))
    asked = Dotted.parse(minor)
    if asked < known[0] or asked.parts[0] != known[-1].parts[0]:
        raise InputError(
            f"--python {minor}: no PyTorch that the rules know has wheels for Python {minor}",
            hint=f"--python 3.12; there are builds for {known[0]} and newer (known: to {known[-1]})",
        )
