"""Facts: the doctor's own tables, typed, with look-ups. Read from compiled/doctor.json."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.errors import OutsideError
from envsolve.record import record
from envsolve.regex import regex
from envsolve.rulebook.compiled import Compiled, Tree, parse
from envsolve.rulebook.load import load_document, rules_dir


@record
class Extension:
    """A package with CUDA code of its own: its import names and the lowest capability that it serves.

    `beside`: a framework of its own, which shares nothing but the GPU with torch.
    """

    package: str
    modules: tuple[str, ...]
    first: Capability | None
    from_source: bool
    beside: bool


@record
class CondaRange:
    """The versions of a conda package that a channel has, first to last (None = open)."""

    package: str
    channel: str
    first: Dotted | None
    last: Dotted | None


# No slots: what is computed once is kept.
@dataclass(frozen=True, eq=False)
class Facts:
    """The compiled tables of the doctor."""

    compiled: Compiled

    def wanted_torch(self, package: str, version: str) -> SpecifierSet | None:
        """The torch that a package at this version belongs to, or None where the rules don't say."""
        rows = self._tree("pairs").get(canonicalize_name(package), {})
        row = rows.get(version.split("+", 1)[0])
        return SpecifierSet(row[0]) if row else None

    def paired(self, package: str, torch: Version) -> str | None:
        """The newest version of a package that belongs to this torch, or None where the rules don't say."""
        rows = self._tree("pairs").get(canonicalize_name(package), {})
        fitting = [v for v, row in rows.items() if SpecifierSet(row[0]).contains(torch, prereleases=True)]
        return max(fitting, key=_order, default=None)

    def newest_pair(self, package: str) -> str | None:
        """The newest version of a package that the rules know a torch of."""
        return max(self._tree("pairs").get(canonicalize_name(package), {}), key=_order, default=None)

    @cached_property
    def extensions(self) -> Mapping[str, Extension]:
        """Canonical package name -> the extension."""
        return {
            canonicalize_name(name): Extension(
                package=name,
                modules=tuple(row[0]),
                first=Capability.parse(row[1]) if row[1] else None,
                from_source=bool(row[2]),
                beside=bool(row[3]),
            )
            for name, row in self._tree("extensions").items()
        }

    @cached_property
    def _by_module(self) -> Mapping[str, Extension]:
        return {module.lower(): extension for extension in self.extensions.values() for module in extension.modules}

    def extension_of(self, module: str) -> Extension | None:
        """The extension that a module (or the start of a library's name) belongs to."""
        word = module.lower()
        return self._by_module.get(word) or self._by_module.get(word.split(".")[0])

    def bad_name(self, package: str) -> tuple[str, str] | None:
        """(what was meant, why) for a package that must not be installed."""
        row = self._tree("bad_names").get(package)
        return (row[0], row[1]) if row else None

    @property
    def bad_names(self) -> tuple[str, ...]:
        """The packages that must not be installed."""
        return tuple(self._tree("bad_names"))

    def conda_range(self, package: str) -> CondaRange | None:
        """What a conda channel has of a package, or None."""
        row = self._tree("conda_ranges").get(package)
        if row is None:
            return None
        first, last = (Dotted.parse(n) if n else None for n in row[1:3])
        return CondaRange(package=package, channel=row[0], first=first, last=last)

    @property
    def assumed_pythons(self) -> tuple[str, ...]:
        """The Pythons that a plan is tried for, in order, where a report names none."""
        return tuple(self._tree("doctor_pythons")["assumed"][0].split())

    @property
    def extreme_pythons(self) -> tuple[Dotted, Dotted]:
        """Below the first, or from the second on, "no version at all" means the Python."""
        below, since = self._tree("doctor_pythons")["extreme"][0].split()
        return Dotted.parse(below), Dotted.parse(since)

    def installer_before(self, change: str) -> str:
        """A requirement for the installer as it was before a change: "pip<24.1"."""
        return next(f"{name}<{row[1]}" for name, row in self._tree("installers").items() if row[0] == change)

    def before(self, package: str) -> str:
        """A requirement for a package as it was before a release that breaks an older torch: "mkl<2024.1"."""
        return f"{package}<{self._tree('too_new')[package][0]}"

    def fault_of(self, file: str, torch: Version) -> tuple[str, str] | None:
        """(what it misses, the first release without the fault) for a file of torch that many machines can't load."""
        row = self._tree("faulty_files").get(file.lower())
        return (row[1], row[2]) if row and SpecifierSet(row[0]).contains(torch) else None

    def handed_on(self, library: str) -> tuple[Dotted, str, str]:
        """For a driver's library: the first branch that has it, the Container Toolkit and the Docker Desktop that hand
        it on."""
        row = self._tree("handed_on")[library]
        return Dotted.parse(row[0]), row[1], row[2]

    def belief(self, name: str) -> tuple[str, str]:
        """(a common false belief, the truth) by its id in ways/beliefs.yaml. Read when a text shows one."""
        row = self._beliefs[name]
        return row["belief"], row["truth"]

    @cached_property
    def _beliefs(self) -> Mapping[str, Mapping[str, str]]:
        return {row["id"]: row for row in load_document("ways")["beliefs"]["beliefs"]}

    def is_brought(self, package: str) -> bool:
        """Whether a package (canonical name) comes and goes with torch, or with any environment: nobody's wish."""
        names = self._tree("brought")
        return package in names or f"{_CUDA_MAJOR.sub('', package)}*" in names

    def glibc_of(self, text: str) -> Dotted | None:
        """The glibc of the first system that a text names; None where it names none that the rules know."""
        match = self._systems.search(text)
        return Dotted.parse(self._glibc[" ".join(match[0].lower().split())]) if match else None

    @cached_property
    def _glibc(self) -> Mapping[str, str]:
        return {word: row[1] for row in self._tree("systems").values() for word in row[0]}

    @cached_property
    def _systems(self) -> re.Pattern[str]:
        words = sorted(self._glibc, key=len, reverse=True)
        spelt = (r"\s+".join(map(re.escape, word.split())) for word in words)
        return re.compile(rf"(?<![\w.])(?:{'|'.join(spelt)})(?![\w])", re.IGNORECASE)

    def _tree(self, table: str) -> Tree:
        return self.compiled.tables[table]


_CUDA_MAJOR = regex(r"-cu\d+$")


def load_facts(folder: Path | None = None) -> Facts:
    """The facts of a rules folder (this program's by default). Raises OutsideError where they can't be read."""
    path = (folder or rules_dir()) / "compiled" / "doctor.json"
    try:
        return Facts(parse(path.read_bytes()))
    except OSError as error:
        raise OutsideError(
            f"the rules can't be read: {path}: {error.strerror}", hint="pip install --force-reinstall envsolve"
        ) from None


def _order(version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0")
