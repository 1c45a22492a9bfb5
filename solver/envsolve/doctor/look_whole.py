"""Whole: what an installation lacks, by its own RECORD and metadata, once an import has failed. Reads files only."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envsolve.doctor.evidence import Damage
from envsolve.doctor.look_child import Trial
from envsolve.doctor.look_files import Dist
from envsolve.doctor.look_needs import marker_environment
from envsolve.regex import regex

_FAMILY = ("torch", "torchvision", "torchaudio")
_NO_MODULE = regex(r"No module named '?([A-Za-z_]\w*)")
_NO_LIBRARY = regex(r"\blib(\w+)\.so[.\d]*: cannot open shared object file")
_BINARY = (".so", ".dll", ".pyd", ".dylib")
_BRINGS = regex(r"nvidia-|triton|pytorch-triton")
_MODULES = {"PIL": "pillow"}  # where the package has another name
_SHOWN = 3
_TELLING = regex(r"(?!cu\d)\w{4,}")  # not "cu13", which stands in most names


def damage(dists: Sequence[Dist], trial: Trial, *, sites: Sequence[Path] = (), python: str = "") -> tuple[Damage, ...]:
    """What keeps the torch family from being imported, as far as files tell, and records that contradict each other.
    `python` is the environment's, like "3.12"."""
    firsts = {dist.name: dist for dist in reversed(dists)}
    family = [firsts[name] for name in _FAMILY if name in firsts]
    found = [*_twice(dists), *_closed(sites)]
    if "version" not in trial.said:
        needs = _needs(family, firsts, trial.text, marker_environment(python))
        found += [*needs, *(lost for dist in family if (lost := _files(dist)))]
        found += _interrupted({dist.site for dist in dists}, firsts)
    else:
        # The system may have a library of that name: torch is imported, and computes with another one than its own.
        required = _required(family, firsts, marker_environment(python))
        found += [lost for name in required if _BRINGS.match(name) and name in firsts for lost in _gone(firsts[name])]
    return tuple(found)


def _gone(dist: Dist) -> Iterator[Damage]:
    """The libraries of a package that are not there."""
    rows = (row for row in _record(dist.info / "RECORD") if _is_binary(row[0]))
    if lost := list(_lost(dist, rows)):
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        text = f"{dist.name} {dist.version} is not whole: {', '.join(lost[:_SHOWN])}{more}"
        yield Damage(kind="files", what=dist.name, text=text)


def _twice(dists: Sequence[Dist]) -> Iterator[Damage]:
    """Two dist-info folders of one package side by side: an installer wrote over files that it did not know of."""
    for name in _FAMILY:
        sites = [dist.site for dist in dists if dist.name == name]
        versions = [dist.version for dist in dists if dist.name == name and dist.site == sites[0]]
        if len(versions) > 1:
            text = (
                f"{sites[0]} has {len(versions)} records of {name} ({', '.join(versions)}), and files of one or of both"
            )
            yield Damage(kind="twice", what=name, text=text)


def _closed(sites: Sequence[Path]) -> Iterator[Damage]:
    for site in sites:
        if site.is_dir() and not os.access(site, os.R_OK | os.X_OK):
            yield Damage(kind="access", what=str(site), text=f"{site} may not be read by this user")


def _interrupted(sites: Iterable[Path], there: Iterable[str]) -> Iterator[Damage]:
    """What pip set aside while it replaced a package, and never came to remove."""
    for name in _FAMILY:
        left = [site / f"~{name[1:]}" for site in sites if (site / f"~{name[1:]}").is_dir()]
        if left and name not in set(there):
            text = f"an install of {name} was interrupted: pip left {left[0]} behind"
            yield Damage(kind="files", what=name, text=text)


def _needs(
    family: Sequence[Dist], there: Mapping[str, Dist], text: str, markers: Mapping[str, str]
) -> Iterator[Damage]:
    """A package that one of the family requires, itself or by another, and whose module or library is not found: it is
    not there, or not whole."""
    modules = {canonicalize_name(_MODULES.get(module, module)) for module in _NO_MODULE.findall(text)}
    libraries = {name.lower() for name in _NO_LIBRARY.findall(text)}
    for name, (by, wanted) in _required(family, there, markers).items():
        if name in _FAMILY or not (name in modules or _holds(name, libraries)):
            continue
        if name not in there:
            said = f"{by.name} {by.version} requires {name}, which is not installed"
            yield Damage(kind="needs", what=f"{name}{wanted.specifier}", text=said)
        elif lost := _files(there[name]):
            yield lost


def _holds(name: str, libraries: Iterable[str]) -> bool:
    """Whether a package is that of a library: nvidia-cudnn-cu13 of "cudnn", nvidia-cuda-runtime of "cudart"."""
    parts = [part for part in name.split("-")[1:] if _TELLING.fullmatch(part)] if name.startswith("nvidia-") else []
    return any(library.startswith(part) for part in parts for library in libraries)


def _required(
    family: Sequence[Dist], there: Mapping[str, Dist], markers: Mapping[str, str]
) -> dict[str, tuple[Dist, Requirement]]:
    """Every name that the metadata of these ask for, all the way down -> the first that asks for it, and how."""
    todo: list[tuple[Dist, str]] = [(dist, "") for dist in family]
    seen = {(dist.name, "") for dist in family}
    found: dict[str, tuple[Dist, Requirement]] = {}
    while todo:
        dist, extra = todo.pop(0)
        for requirement in _requirements(dist, {**markers, "extra": extra}):
            name = canonicalize_name(requirement.name)
            found.setdefault(name, (dist, requirement))
            for asked in ("", *requirement.extras):
                if name in there and (name, asked) not in seen:
                    seen.add((name, asked))
                    todo.append((there[name], asked))
    return found


def _requirements(dist: Dist, markers: dict[str, str]) -> Iterator[Requirement]:
    """What it asks for here, without an extra or because of one."""
    for text in dist.requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.marker is None or requirement.marker.evaluate(markers):
            yield requirement


def _files(dist: Dist) -> Damage | None:
    """The files of RECORD that are gone, and the libraries that are not as long as it says."""
    package = dist.site / dist.name
    if package.is_dir() and not os.access(package, os.R_OK | os.X_OK):
        return Damage(kind="access", what=str(package), text=f"{package} may not be read by this user")
    rows = list(_record(dist.info / "RECORD"))
    binaries = [row for row in rows if _is_binary(row[0])]
    # Libraries first: they are what an import fails of, and they are few; torch has twelve thousand files.
    lost = list(_lost(dist, binaries)) or list(_lost(dist, rows))
    if not lost:
        return None
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    text = f"{dist.name} {dist.version} is not whole: {', '.join(lost[:_SHOWN])}{more}"
    return Damage(kind="files", what=dist.name, text=text)


def _lost(dist: Dist, rows: Iterable[tuple[str, int]]) -> Iterator[str]:
    site = f"{dist.site}/"  # no Path for each
    for name, size in rows:
        try:
            has = os.stat(site + name).st_size  # noqa: PTH116
        except OSError:
            yield f"{name} is missing"
            continue
        if size and has != size and _is_binary(name):
            yield f"{name} has {has} of {size} bytes"


def _record(file: Path) -> Iterator[tuple[str, int]]:
    """(file, bytes; 0 = not said) of what pip unpacked into site-packages and nothing makes anew."""
    for row in csv.reader(_read(file).splitlines()):
        if len(row) == 3 and not row[0].startswith(("..", "/")) and not row[0].endswith(".pyc"):
            yield row[0], int(row[2]) if row[2].isdecimal() else 0


def _is_binary(name: str) -> bool:
    return name.endswith(_BINARY) or ".so." in name


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
