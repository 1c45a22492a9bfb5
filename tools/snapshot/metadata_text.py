"""METADATA as text, and how the same release's METADATA of another variant is written."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.parser import HeaderParser

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_MACHINE = ' and platform_machine == "x86_64"'
_CUDA = re.compile(r"Requires-Dist: (nvidia|cuda|triton|pytorch-triton)", re.IGNORECASE)
_SUFFIX = re.compile(r"-cu\d\d$")
_MOST_PINS = 64  # combinations of pins that are tried


@dataclass(frozen=True, slots=True, kw_only=True)
class Requires:
    """What the snapshot keeps of METADATA."""

    requires_python: str | None
    requires: tuple[str, ...]
    extras: tuple[str, ...]


def condensed(text: str) -> Requires:
    """The requirements in a METADATA."""
    fields = HeaderParser().parsestr(text.replace("\r\n", "\n").split("\n\n", 1)[0])
    return Requires(
        requires_python=fields.get("Requires-Python"),
        requires=tuple(" ".join(line.split()) for line in fields.get_all("Requires-Dist", [])),
        extras=tuple(fields.get_all("Provides-Extra", [])),
    )


def labelled(text: str, version: str) -> str:
    """The same METADATA under another version."""
    return re.sub(r"^Version: .*$", f"Version: {version}", text, count=1, flags=re.MULTILINE)


def proved(texts: Iterable[str], version: str, digest: str) -> str | None:
    """The first text that, with this version in it, has the hash that the index gives, with either line end."""
    for text in texts:
        text = labelled(text, version)
        for ends in (text, text.replace("\n", "\r\n")):
            if hashlib.sha256(ends.encode()).hexdigest() == digest:
                return text
    return None


def without_cuda(text: str) -> str:
    """A METADATA less what only CUDA wheels require."""
    return "".join(line for line in text.splitlines(keepends=True) if not _CUDA.match(line))


def with_pins(text: str, pins: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The METADATA with the CUDA requirements of another variant in place of its own, in the ways they were written.

    `pins` holds the versions by name as locks have them. The order is that of the text itself.
    """
    own = [line for line in text.splitlines() if _CUDA.match(line)]
    old = any("(==" in line for line in own)
    for names in _named(own, pins):
        choices = [pins[name] or [""] for name in names]
        for versions in itertools.islice(itertools.product(*choices), _MOST_PINS):
            for ends in _markers(own):
                block = [_line(n, v, ends(n), old=old) for n, v in zip(names, versions, strict=True)]
                yield _replaced(text, block)


def _line(name: str, version: str, marker: str, *, old: bool) -> str:
    """A requirement as the build tools of the time wrote it."""
    return f"Requires-Dist: {name} (=={version}) {marker}" if old else f"Requires-Dist: {name}=={version}{marker}"


def _named(own: Sequence[str], pins: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The names of the pins in the order of the text's own lines; what it hasn't got is put at either end."""
    bare = [_SUFFIX.sub("", canonicalize_name(Requirement(line.partition(": ")[2]).name)) for line in own]
    by_bare = {_SUFFIX.sub("", name): name for name in pins if _CUDA.match(f"Requires-Dist: {name}")}
    ordered = [by_bare.pop(name) for name in bare if name in by_bare]
    rest = list(by_bare.values())
    yield [*rest, *ordered]
    if rest:
        yield [*ordered, *rest]


def _markers(own: Sequence[str]) -> Iterator[Markers]:
    """How markers were written: as in the text itself, for x86_64 only, for all of Linux, Triton apart."""
    linux = '; platform_system == "Linux"'
    x86 = linux + _MACHINE
    yield Markers(_marker(own, "nvidia") or x86, _marker(own, "triton") or x86)
    yield Markers(x86, x86)
    yield Markers(linux, linux)
    yield Markers(x86, linux)


def _marker(own: Sequence[str], name: str) -> str:
    """The marker of the first line about a package, with its semicolon."""
    line = next((line for line in own if line.partition(": ")[2].startswith(name)), "")
    return ";" + line.partition(";")[2] if ";" in line else ""


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers of the CUDA libraries and of Triton."""

    libraries: str
    triton: str

    def __call__(self, name: str) -> str:
        return self.triton if "triton" in name else self.libraries


def for_all_of_linux(text: str) -> str:
    """The METADATA with its CUDA requirements for every machine that runs Linux."""
    return "".join(line.replace(_MACHINE, "") if _CUDA.match(line) else line for line in text.splitlines(keepends=True))


def with_block(text: str, requires: Iterable[str]) -> str:
    """The METADATA with these CUDA requirements in place of its own."""
    return _replaced(text, [f"Requires-Dist: {line}" for line in requires])


def _replaced(text: str, block: Sequence[str]) -> str:
    lines = text.split("\n")
    places = [n for n, line in enumerate(lines) if _CUDA.match(line)]
    if not places:
        places = [
            max(n for n, line in enumerate(lines) if line.startswith("Requires-Dist: ") and "extra ==" not in line) + 1
        ]
        return "\n".join([*lines[: places[0]], *block, *lines[places[0] :]])
    kept = [line for line in lines if not _CUDA.match(line)]
    return "\n".join([*kept[: places[0]], *block, *kept[places[0] :]])


def names(requires: Requires) -> frozenset[str]:
    """The names that are required without an extra."""
    found = (Requirement(line) for line in requires.requires)
    return frozenset(canonicalize_name(r.name) for r in found if "extra ==" not in str(r.marker))
