"""What the configuration of another tool needs so that it takes the same torch: uv, pixi, poetry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from envsolve.errors import InputError
from envsolve.lock.conda import SUBDIRS
from envsolve.lock.header import header_lines
from envsolve.lock.lock import Lock, LockedPackage
from envsolve.lock.markers import tell_apart
from envsolve.lock.pins import place_of
from envsolve.lock.toml_text import Blocks, Inline, toml_text

Table = dict[str, Any]


def snippet(tool: str, locks: Sequence[Lock]) -> str:
    """The TOML text for `tool` (uv, pixi, poetry), with the header of the locks as comments.

    It holds what the variant's index supplies; everything else is left to the tool. Raises InputError for other tools,
    and for targets that the tool can't tell apart.
    """
    write = _WRITERS.get(tool)
    if write is None:
        raise InputError(f"there is no snippet for {tool}", hint=f"--snippet {'|'.join(_WRITERS)}")
    comment = "".join(f"# {line}\n" for line in (_PLACES[tool], *header_lines(*locks)))
    return comment + toml_text(write(locks))


def _family(lock: Lock) -> Iterator[LockedPackage]:
    """The packages that the variant's index supplies."""
    return (p for p in lock.packages if p.direct and lock.index_url and _folder(p) == lock.index_url.rsplit("/", 1)[-1])


def _folder(package: LockedPackage) -> str:
    """The variant of a file by its label or its folder: files lie on other hosts than the index at times."""
    return package.version.local or package.files[0].url.rsplit("/", 2)[-2]


def _elsewhere(lock: Lock) -> Iterator[LockedPackage]:
    """The packages that are named by an address and that the variant's index does not supply."""
    family = {package.name for package in _family(lock)}
    return (package for package in lock.packages if package.direct and package.name not in family)


def _name(lock: Lock) -> str:
    return f"pytorch-{lock.variant}"


def _with_markers(locks: Sequence[Lock]) -> list[tuple[Lock, str]]:
    """Each lock with the marker of its target, "" where there is one lock only."""
    if len(locks) == 1:
        return [(locks[0], "")]
    return list(zip(locks, tell_apart([place_of(lock) for lock in locks]), strict=True))


def _uv(locks: Sequence[Lock]) -> Table:
    pins: list[str] = []
    sources: dict[str, list[Table]] = {}
    for lock, marker in _with_markers(locks):
        where = {"marker": marker} if marker else {}
        for package in _family(lock):
            pins.append(f"{package.name}=={package.version}" + (f" ; {marker}" if marker else ""))
            sources.setdefault(package.name, []).append(Inline(index=_name(lock), **where))
        for package in _elsewhere(lock):
            sources.setdefault(package.name, []).append(Inline(url=package.files[0].url, **where))
    uv: Table = {
        "environments": list(tell_apart([place_of(lock) for lock in locks])),
        "constraint-dependencies": pins,
        "sources": {name: some[0] if len(locks) == 1 else some for name, some in sorted(sources.items())},
    }
    return {"tool": {"uv": {**uv, "index": _uv_indexes(locks)}}}


def _uv_indexes(locks: Sequence[Lock]) -> Blocks:
    named = {_name(lock): lock.index_url for lock in locks if lock.index_url}
    return Blocks({"name": name, "url": url, "explicit": True} for name, url in named.items())


def _pixi(locks: Sequence[Lock]) -> Table:
    subdirs = [SUBDIRS[lock.platform] for lock in locks]
    if len(set(subdirs)) < len(locks) or len({lock.python for lock in locks}) > 1:
        raise InputError("pixi tells targets apart by platform only", hint="--snippet pixi for one target each")
    table: Table = {"dependencies": {"python": f"{locks[0].python.rstrip('t')}.*"}}
    if needs := _system_requirements(locks):
        table["system-requirements"] = needs
    dependencies = [dict(_pixi_dependencies(lock)) for lock in locks]
    if len(locks) == 1:
        return {**table, "pypi-dependencies": dependencies[0]}
    targets = {subdir: {"pypi-dependencies": some} for subdir, some in zip(subdirs, dependencies, strict=True)}
    return {**table, "target": targets}


def _system_requirements(locks: Sequence[Lock]) -> Table:
    """The least of what the targets have: pixi asks it of each machine."""
    found: dict[str, str] = {}
    for lock in locks:
        for virtual in lock.virtual:
            key = {"__cuda": "cuda", "__glibc": "libc"}.get(virtual.name)
            if key and (key not in found or _parts(virtual.version) < _parts(found[key])):
                found[key] = virtual.version
    return dict(sorted(found.items()))


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _pixi_dependencies(lock: Lock) -> Iterator[tuple[str, Table]]:
    for package in _family(lock):
        yield package.name, Inline(version=f"=={package.version}", index=lock.index_url)
    for package in _elsewhere(lock):
        yield package.name, Inline(url=package.files[0].url)


def _poetry(locks: Sequence[Lock]) -> Table:
    dependencies: dict[str, list[Table]] = {}
    for lock, marker in _with_markers(locks):
        where = {"markers": marker} if marker else {}
        for package in _family(lock):
            pin = Inline(version=str(package.version), source=_name(lock), **where)
            dependencies.setdefault(package.name, []).append(pin)
        for package in _elsewhere(lock):
            dependencies.setdefault(package.name, []).append(Inline(url=package.files[0].url, **where))
    pythons = sorted({lock.python.rstrip("t") for lock in locks}, key=_parts)
    named = {_name(lock): lock.index_url for lock in locks if lock.index_url}
    python = f"~{pythons[0]}" if len(pythons) == 1 else f">={pythons[0]},<{_next(pythons[-1])}"
    single = {name: some[0] if len(some) == 1 else some for name, some in sorted(dependencies.items())}
    return {
        "tool": {
            "poetry": {
                "dependencies": {"python": python, **single},
                "source": Blocks({"name": name, "url": url, "priority": "explicit"} for name, url in named.items()),
            }
        }
    }


def _next(python: str) -> str:
    major, minor = _parts(python)
    return f"{major}.{minor + 1}"


_WRITERS: Mapping[str, Callable[[Sequence[Lock]], Table]] = {"uv": _uv, "pixi": _pixi, "poetry": _poetry}
_PLACES = {"uv": "for pyproject.toml", "pixi": "for pixi.toml", "poetry": "for pyproject.toml"}
