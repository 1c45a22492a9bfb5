"""`envsolve source-build`: a script and a Dockerfile that compile PyTorch for exactly these GPUs."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli import asked, talk
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.errors import InputError, RefusedError

if TYPE_CHECKING:
    from packaging.version import Version

    from envsolve.dotted import Dotted
    from envsolve.machine.machine import Machine
    from envsolve.ways.source_build import NoRecipe, Recipe

app = command_app()

_EXAMPLE = 'Example: envsolve source-build --torch 1.13.1 --target "Tesla K40c,driver=470.82,python=3.10" -o my-build'
_Torch = Annotated[str, option("--torch", metavar="VERSION", help="The PyTorch release to compile.")]
_Cuda = Annotated[str | None, option("--cuda", metavar="VERSION", help="Only this toolkit, like 11.8.")]
_Output = Annotated[Path, option("-o", "--output", metavar="DIR", help="The folder for the files.")]
_Force = Annotated[bool, option("--force", help="Overwrite files that are there.")]
_Json = Annotated[bool, option("--json", help="Print the recipe as JSON.")]


@app.command(epilog=_EXAMPLE)
def source_build(
    torch: _Torch,
    target: asked.Target = None,
    python: asked.Python = None,
    gpus: asked.Gpus = "all",
    cuda: _Cuda = None,
    output: _Output = Path("source-build"),
    force: _Force = False,
    as_json: _Json = False,
) -> int:
    """Write a script and a multi-stage Dockerfile that compile torch, torchvision and torchaudio into wheels.

    Combinations that can't be compiled are refused, with the nearest that can. Nothing is compiled here.
    """
    from envsolve import __version__
    from envsolve.cli.output_folder import check_folder, write_folder
    from envsolve.rulebook.load import load
    from envsolve.ways.build_dockerfile import FILES, build_files
    from envsolve.ways.build_script import NAME, build_script
    from envsolve.ways.source_build import NoRecipe, recipe

    check_folder(output, FILES, force=force)
    machine = _machine(target, python, gpus)
    found = recipe(machine, _version(torch), load(), cuda=_dotted(cuda))
    words = {"--target": target, "--python": python, "--gpus": None if gpus == "all" else gpus}
    if isinstance(found, NoRecipe):
        raise RefusedError(f"torch {torch} can't be compiled here: {found.reason}", hint=_hint(found, words))
    command = _command(torch, {**words, "--cuda": cuda})
    script = build_script(found, command=command, version=__version__)
    write_folder(
        output, build_files(found, script, command=command, version=__version__), force=force, executable=(NAME,)
    )
    talk.say(f"wrote {output}: {', '.join(FILES)}")
    _show(found, output, here=target is None, as_json=as_json)
    return 0


def _machine(target: str | None, python: str | None, gpus: str) -> Machine:
    from envsolve.cli.planned import Asked
    from envsolve.resolve.gpu_choice import chosen

    machine, request = Asked(target=target, python=python, gpus=gpus).settled(source=None, mirror=None)
    return chosen(machine, request)


def _version(text: str) -> Version:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(text.removeprefix("v"))
    except InvalidVersion:
        raise InputError(f"--torch {text}: not a version", hint="--torch 1.13.1") from None


def _dotted(text: str | None) -> Dotted | None:
    from envsolve.dotted import Dotted

    if text is None:
        return None
    try:
        given = Dotted.parse(text)
    except ValueError:
        raise InputError(f"--cuda {text}: not a CUDA version", hint="--cuda 11.8") from None
    major, minor = (*given.parts, 0)[:2]  # 12.8.1 is 12.8 here: toolkits of a minor do the same
    return Dotted.parse(f"{major}.{minor}")


def _command(torch: str, options: dict[str, str | None]) -> str:
    words = ["envsolve", "source-build", "--torch", torch]
    for flag, value in options.items():
        words += [flag, value] if value is not None else []
    return shlex.join(words)


def _hint(found: NoRecipe, words: dict[str, str | None]) -> str:
    near = found.nearest
    if near is None:
        return "envsolve plan shows what else there is"
    said = _command(str(near.torch), words)
    return f"the nearest that can: torch {near.torch} with CUDA {near.toolkit.cuda}: {said}"


def _show(recipe: Recipe, folder: Path, *, here: bool, as_json: bool) -> None:
    from envsolve.ways import source_text
    from envsolve.ways.build_script import NAME

    if as_json:
        print(json.dumps({**source_text.as_json(recipe), "folder": folder.as_posix()}, ensure_ascii=False))
        return
    cores, memory = _own() if here else (None, None)
    print(source_text.as_text(recipe, cores=cores, memory_mib=memory))
    place = shlex.quote(str(folder))
    if recipe.here:
        print(f"compile here: bash {shlex.quote(str(folder / NAME))}")
    if recipe.image_only:
        print(f"{'or ' if recipe.here else ''}in Docker: docker build -t my-torch {place}")
        print(f"  {recipe.image_only}")
    else:
        print(f"or in Docker: docker build --target wheels --output wheels {place}")


def _own() -> tuple[int, int | None]:
    """Cores and memory (MiB) of this machine."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (1024 * 1024)
    except (ValueError, OSError, AttributeError):  # Windows has no sysconf
        memory = None
    return os.cpu_count() or 1, memory
