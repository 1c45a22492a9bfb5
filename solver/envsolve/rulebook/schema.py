"""Schema: which tables the rules hold, in which file, and how each field reads."""

from __future__ import annotations

from envsolve.record import record
from envsolve.rulebook import fields
from envsolve.rulebook.fields import Cell, Reader

# Stands for "this field must be there".
REQUIRED = object()

PLATFORMS = ("linux_x86_64", "linux_aarch64", "windows_amd64", "windows_arm64", "macos_arm64", "macos_x86_64")


@record
class Column:
    """One field of a row. `core` False = for people and checks, not in the compiled core."""

    name: str
    read: Reader
    default: Cell = REQUIRED
    core: bool = True


@record
class Table:
    """A section of a rules file: nested mappings by `keys`, then rows of `columns`.

    Compiled, a row is the list of its core columns, below the same keys. `name` is unique among all tables; `section`
    is the name in the file where it is not the same.
    """

    name: str
    file: str
    keys: tuple[Column, ...]
    columns: tuple[Column, ...]
    core: bool = True
    section: str = ""

    @property
    def title(self) -> str:
        return self.section or self.name

    @property
    def core_columns(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.core)


def _source(value: object) -> Cell:
    """Replaced by the loader, which knows the names of the file's sources."""
    return fields.text(value)


SOURCE = Column(name="source", read=_source)
CERTAINTY = Column(name="certainty", read=fields.choice("high", "medium", "low"))
NOTE = Column(name="note", read=fields.text, default="")
# Every row ends with these three.
WHENCE = (CERTAINTY, SOURCE, NOTE)


@record
class Document:
    """A rules file that is carried over as it is: nested facts, each with a source and mostly a certainty."""

    name: str
    file: str
