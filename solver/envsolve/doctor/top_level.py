"""Top level: what somebody asked for of an environment, told apart from what came along with it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from packaging.markers import Marker, default_environment
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from envsolve.doctor.facts import Facts
from envsolve.record import record

FAMILY = ("torch", "torchvision", "torchaudio")


@record
class Held:
    """An installed distribution: its canonical name, its requirements as its metadata writes them, and whether it was
    asked for by name. `url` is where its files came from, as a requirement names it ("git+https://…@commit");
    `folder` is that of a project on this machine's disk, `editable` how it was installed.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()
    requested: bool = False
    url: str = ""
    folder: str = ""
    editable: bool = False

    @property
    def apart(self) -> tuple[str, ...]:
        """What pip is given to install it after the others: a project's folder, an address that no lock takes."""
        if self.folder:
            return ("-e", self.folder) if self.editable else (self.folder,)
        if self.url and not self.url.partition("#")[0].endswith(".whl"):
            return (f"{self.name} @ {self.url}",)
        return ()


@record
class TopLevel:
    """What was asked for: of the torch family by name alone, which the planner decides; `pins` as they are, without
    local labels, which belong to the torch of then; `direct` by a wheel's address; `apart` is what can't be locked.
    """

    family: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    direct: tuple[str, ...] = ()
    apart: tuple[Held, ...] = ()


def top_level(held: Sequence[Held], python: str, facts: Facts) -> TopLevel:
    """The top level of what is installed, for a Python like "3.11".

    That is what no other package needs and what was asked for by name; the latter says nothing where it holds for
    everything (a lock's packages were all named). The requirements of what is reinstalled apart are top level.
    """
    packages = [one for one in held if not one.apart]
    needed = _needed(packages, python) - _heads(packages, python)
    telling = any(one.name in needed and not one.requested for one in packages)
    wanted = [
        one
        for one in packages
        if not (one.name in FAMILY or facts.is_brought(one.name))
        and (one.name not in needed or (telling and one.requested))
    ]
    return TopLevel(
        family=tuple(name for name in FAMILY if name == "torch" or any(one.name == name for one in held)),
        pins=tuple(sorted(f"{one.name}=={one.version.split('+')[0]}" for one in wanted if not one.url)),
        direct=tuple(sorted(f"{one.name} @ {one.url}" for one in wanted if one.url)),
        apart=tuple(one for one in held if one.apart and one.name not in FAMILY),
    )


def _heads(packages: Sequence[Held], python: str) -> set[str]:
    """One name of each circle of packages that need each other and that nobody else needs: what was asked for of it."""
    needed = _needed(packages, python)
    reached = {one.name for one in packages if one.name not in needed}
    reached |= _needed([one for one in packages if one.name in reached], python, among=packages)
    heads: set[str] = set()
    for one in sorted(packages, key=lambda one: (not one.requested, one.name)):
        if one.name not in reached:
            heads.add(one.name)
            reached |= {one.name} | _needed([one], python, among=packages)
    return heads


def loose(pin: str) -> str:
    """A pin's name: any version will do."""
    return Requirement(pin).name


def _needed(packages: Sequence[Held], python: str, *, among: Sequence[Held] = ()) -> set[str]:
    """The names that these packages need here, all the way down, with the extras that they ask for. `among`: all that
    are there, where these are only some of them."""
    by_name = {one.name: one for one in among or packages}
    env: dict[str, Any] = {
        **default_environment(),
        "python_version": python.rstrip("t"),
        "python_full_version": f"{python.rstrip('t')}.0",
    }
    todo = [(one.name, "") for one in packages]
    seen = set(todo)
    needed: set[str] = set()
    while todo:
        name, extra = todo.pop()
        for requirement in _requirements(by_name, name, extra, env):
            other = canonicalize_name(requirement.name)
            if other != name:
                needed.add(other)
            wanted = [(other, ""), *((other, asked) for asked in requirement.extras)]
            more = [pair for pair in wanted if pair not in seen]
            seen.update(more)
            todo += more
    return needed


def _requirements(by_name: Mapping[str, Held], name: str, extra: str, env: Mapping[str, Any]) -> Iterator[Requirement]:
    """What a package needs, without an extra or because of one."""
    found = by_name.get(name)
    for text in found.requires if found else ():
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue  # an old release with metadata of its own kind
        if _holds(requirement.marker, {**env, "extra": extra}):
            yield requirement


def _holds(marker: Marker | None, env: Mapping[str, Any]) -> bool:
    return marker is None or marker.evaluate(dict(env))
