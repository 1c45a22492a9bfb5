"""Places: where the files of a package may come from, in order, and nowhere else."""

from __future__ import annotations

from typing import Literal

from envsolve.index.configuration.fields import VARIANT
from envsolve.record import record
from envsolve.redact import strip_credentials
from envsolve.settings import Settings

# These are never taken from the default Python index or the user's extra ones unless the source is "pypi".
FAMILY = ("torch", "torchvision", "torchaudio")

Kind = Literal["project", "links"]


@record
class Place:
    """One page or folder. `url` has no credentials; `base` is the base of the PyTorch index it belongs to, else ""."""

    kind: Kind  # a page of one project, or a flat page or folder of many
    url: str
    source: str
    base: str = ""


def places_for(name: str, variant: str | None, settings: Settings) -> list[Place]:
    """The places to ask for a package, in order.

    With a variant: find-links, then the variant's folder on the mirror and on the PyTorch index (source "pypi": the
    default index). Without: the default index and the extra ones (strategy "first": these first), then find-links; for
    the torch family none of them, unless the source is "pypi".
    """
    links = [_links(address) for address in settings.find_links]
    default = [] if settings.no_index else [_project(settings.default_index, name)]
    if settings.source == "pypi" and (variant is not None or name in FAMILY):
        return [*links, *default]
    if variant is not None:
        return [*links, *(_variant(base, variant, name) for base in settings.torch_bases)]
    if name in FAMILY:
        return []
    extra = [] if settings.no_index else [_project(address, name) for address in settings.extra_indexes]
    indexes = [*extra, *default] if settings.index_strategy == "first" else [*default, *extra]
    return [*indexes, *links]


def _project(address: str, name: str) -> Place:
    base = strip_credentials(address).rstrip("/")
    return Place(kind="project", url=f"{base}/{name}/", source=base)


def _variant(address: str, variant: str, name: str) -> Place:
    base = strip_credentials(address).rstrip("/")
    return Place(kind="project", url=f"{base}/{variant}/{name}/", source=f"{base}/{variant}", base=base)


def _links(address: str) -> Place:
    url = strip_credentials(address)
    return Place(kind="links", url=url, source=url)


def belongs(name: str, folder: str | None, variant: str) -> bool:
    """Whether a file of the folder `folder` (see `folder_of`) is one of the variant on whose page it is listed.

    Every page also lists the files in the root of the index. Of these the torch wheels are builds for the CPU, whatever
    page they are on; old torchaudio wheels have no other home. Mirrors may keep files in folders of their own.
    """
    if name not in FAMILY or folder is None or folder == variant:
        return True
    if folder == "":
        return name != "torch" or variant == "cpu"
    return VARIANT.match(folder.rpartition("/")[2]) is None
