"""pyproject.toml as an input: the project's dependencies, its extras and its dependency groups."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from packaging.dependency_groups import DependencyGroupResolver
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import NormalizedName, canonicalize_name

from envsolve.errors import InputError
from envsolve.lock.requirement_line import requirement_of
from envsolve.lock.wishes import Wishes

Table = Mapping[str, Any]


def parse(text: str, *, origin: str, extras: Collection[str] = (), groups: Collection[str] = ()) -> Wishes:
    """What a project asks for: its dependencies, those of these extras and of these dependency groups (PEP 735).

    An extra that names extras of the project itself stands for theirs. Raises InputError, which names the file
    (`origin`) and the table, for anything that is not as the standards say.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{origin}: {error}") from error
    return _Project(document, origin).wishes(extras, groups)


def offered(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the extras and of the dependency groups that a pyproject.toml has; none where it can't be read."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return frozenset(), frozenset()
    project, groups = document.get("project", {}), document.get("dependency-groups", {})
    extras = project.get("optional-dependencies", {}) if isinstance(project, Mapping) else {}
    return _names(extras), _names(groups)


def _names(table: object) -> frozenset[str]:
    return frozenset(canonicalize_name(name) for name in table) if isinstance(table, Mapping) else frozenset()


class _Project:
    def __init__(self, document: Table, origin: str) -> None:
        self._document = document
        self._origin = origin
        self._project: Table = self._table(document, "project")
        self._extras = {canonicalize_name(k): k for k in self._table(self._project, "optional-dependencies")}

    def _table(self, parent: Table, key: str) -> Table:
        found = parent.get(key, {})
        if not isinstance(found, Mapping):
            raise InputError(f"{self._origin}: {key} is not a table")
        return found

    def wishes(self, extras: Collection[str], groups: Collection[str]) -> Wishes:
        names = _names(self._table(self._document, "dependency-groups"))
        known_groups = [group for group in groups if canonicalize_name(group) in names]
        if not self._project and not known_groups:
            raise InputError(f"{self._origin} has no [project] table", hint=self._hint_without_project())
        requirements = [*self._dependencies(), *self._from_extras(extras), *self._from_groups(known_groups)]
        others = {str(other): other for requirement in requirements for other in self._of_others(requirement)}
        return Wishes(requirements=tuple(others.values()), pythons=self._pythons())

    def _hint_without_project(self) -> str:
        if "poetry" in self._table(self._document, "tool"):
            return "poetry's own tables are not read: list the dependencies in [project]"
        groups = ", ".join(self._table(self._document, "dependency-groups"))
        return f"--group takes one of: {groups}" if groups else "list the dependencies in [project]"

    def _dependencies(self) -> Iterator[Requirement]:
        dynamic = self._project.get("dynamic", ())
        if "dependencies" in dynamic:
            raise InputError(
                f"{self._origin}: the project's dependencies are dynamic: only building it would tell them",
                hint="give the file that holds them with -r",
            )
        yield from self._list(self._project.get("dependencies", ()), "project.dependencies")

    def _list(self, lines: object, place: str) -> Iterator[Requirement]:
        if not isinstance(lines, (list, tuple)):
            raise InputError(f"{self._origin}: {place} is not a list")
        for number, line in enumerate(lines):
            where = f"{self._origin}: {place}[{number}]"
            if not isinstance(line, str):
                raise InputError(f"{where}: not a requirement: {line!r}")
            yield requirement_of(line, where)

    def _from_extras(self, extras: Collection[str]) -> Iterator[Requirement]:
        for extra in map(canonicalize_name, extras):
            yield from self._extra(extra)

    def _extra(self, extra: NormalizedName) -> Iterator[Requirement]:
        if extra in self._extras:
            key = self._extras[extra]
            lines = self._table(self._project, "optional-dependencies")[key]
            yield from self._list(lines, f"project.optional-dependencies.{key}")

    def _of_others(self, requirement: Requirement, open_extras: frozenset[str] = frozenset()) -> Iterator[Requirement]:
        """The requirement; for the project itself those of the extras that it names, where its marker holds."""
        if canonicalize_name(requirement.name) != canonicalize_name(str(self._project.get("name", ""))):
            yield requirement
            return
        for extra in sorted(set(map(canonicalize_name, requirement.extras)) - open_extras):
            for inner in self._extra(extra):
                yield from self._of_others(_under(inner, requirement.marker), open_extras | {extra})

    def _from_groups(self, groups: Collection[str]) -> Iterator[Requirement]:
        table = self._table(self._document, "dependency-groups")
        try:
            resolver = DependencyGroupResolver(table)
            for group in groups:
                yield from resolver.resolve(group)
        except ExceptionGroup as error:
            reasons = "; ".join(str(inner).splitlines()[0] for inner in _leaves(error))
            raise InputError(f"{self._origin}: dependency-groups: {reasons}") from error

    def _pythons(self) -> tuple[tuple[str, SpecifierSet], ...]:
        text = self._project.get("requires-python")
        if text is None:
            return ()
        place = f"{self._origin}: project.requires-python"
        try:
            return ((place, SpecifierSet(text)),)
        except (InvalidSpecifier, TypeError, AttributeError) as error:
            raise InputError(f"{place}: not a set of versions: {text!r}", hint='requires-python = ">=3.11"') from error


def _under(requirement: Requirement, marker: Marker | None) -> Requirement:
    """The requirement where a marker holds as well."""
    if marker is None:
        return requirement
    both = Requirement(str(requirement))
    both.marker = Marker(f"({marker}) and ({both.marker})") if both.marker else marker
    return both


def _leaves(error: BaseException) -> Iterator[BaseException]:
    inner = getattr(error, "exceptions", None)
    if inner is None:
        yield error
    else:
        for one in inner:
            yield from _leaves(one)
