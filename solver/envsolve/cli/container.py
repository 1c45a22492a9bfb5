"""`envsolve container`: a Dockerfile that holds exactly a lock, and the images of others that fit."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from envsolve.cli import asked, options, talk
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.planned import Asked
from envsolve.record import replace

if TYPE_CHECKING:
    from envsolve.machine.machine import Machine
    from envsolve.resolve.request import Request
    from envsolve.settings import Settings
    from envsolve.ways.image_offers import Offers

app = command_app()

_EXAMPLE = 'Example: envsolve container torch torchvision --target "RTX 4090,driver=550.54.14,python=3.12" -o image'
_Output = Annotated[Path, option("-o", "--output", metavar="DIR", help="The folder for the files.")]
_Force = Annotated[bool, option("--force", help="Overwrite files that are there.")]
_Installer = Annotated[str, option("--installer", metavar="pip|uv", help="What installs the lock in the image.")]
_Lock = Annotated[Path | None, option("--lock", metavar="FILE", help="Use this lock instead of solving.")]
_Images = Annotated[bool, option("--images", help="Only name the images of others that fit; writes nothing.")]
_Json = Annotated[bool, option("--json", help="Print the images and the files as JSON.")]


@app.command(epilog=_EXAMPLE)
def container(
    wanted: asked.Wanted = asked.NOTHING,
    machine: asked.ForMachine = asked.HERE,
    output: _Output = Path("container"),
    lock_file: _Lock = None,
    installer: _Installer = "pip",
    force: _Force = False,
    images: _Images = False,
    as_json: _Json = False,
    sources: options.Sources = options.UNSAID,
) -> int:
    """Write a Dockerfile with the lock installed by hash, and name the pytorch/pytorch and NGC images that fit.

    The image has no CUDA toolkit, since the wheels bring CUDA along, and checks its GPUs when it starts.
    """
    settings = sources.settings()
    asking = Asked.said(wanted, machine)
    host, request = _chosen(asking, settings)
    tool = _known(installer)
    code = 0 if images else _write(asking, host, request, settings, output, lock_file, tool, force=force)
    if code == 0:
        _show(_offers(host, request), None if images else output, as_json=as_json)
    return code


def _known(installer: str) -> Literal["pip", "uv"]:
    from envsolve.errors import InputError

    if installer not in ("pip", "uv"):
        raise InputError(f"--installer {installer}: must be pip or uv", hint="--installer pip")
    return installer  # type: ignore[return-value]


def _chosen(asking: Asked, settings: Settings) -> tuple[Machine, Request]:
    """The host with the chosen GPUs alone, identified, and a request for all of those."""
    from envsolve.resolve.gpu_choice import chosen
    from envsolve.rulebook.load import load
    from envsolve.ways.cards import identified

    machine, request = asking.settled(source=settings.source, mirror=settings.mirror)
    return identified(chosen(machine, request), load()), replace(request, gpus="all")


def _offers(machine: Machine, request: Request) -> Offers:
    from envsolve.resolve.wanted import read_wanted
    from envsolve.rulebook.load import load
    from envsolve.rulebook.ways_tables import load_ways
    from envsolve.ways.image_offers import image_offers

    torch = read_wanted(request).specs["torch"]
    return image_offers(machine, load(), load_ways(), accepts=lambda version: torch.contains(version, prereleases=True))


def _write(
    asking: Asked,
    machine: Machine,
    request: Request,
    settings: Settings,
    output: Path,
    lock_file: Path | None,
    installer: Literal["pip", "uv"],
    *,
    force: bool,
) -> int:
    """Solve (or read the lock) and write the folder. The exit code: 1 where there is no plan."""
    from envsolve.cli import container_lock
    from envsolve.cli.output_folder import check_folder, write_folder
    from envsolve.ways.container import FILES, container_files

    check_folder(output, FILES, force=force)
    held = container_lock.held(asking, machine, request, settings, lock_file)
    if isinstance(held, str):
        print(held)
        return 1
    spec = container_lock.spec(held, asking, settings, installer)
    write_folder(output, container_files(spec), force=force)
    talk.say(f"wrote {output}: {', '.join(FILES)}")
    return 0


def _show(offers: Offers, folder: Path | None, *, as_json: bool) -> None:
    from envsolve.ways.image_offers import as_json as to_json
    from envsolve.ways.image_offers import as_text

    if as_json:
        place = None if folder is None else folder.as_posix()
        print(json.dumps({**to_json(offers), "folder": place}, ensure_ascii=False))
        return
    if folder is not None:
        print(f"build: docker build -t my-torch {shlex.quote(str(folder))}")
    print(as_text(offers))
