"""The doctor's tables: other packages' torch, extensions, systems, conda. Compiled into a file of their own: a plan
needs none of them."""

from __future__ import annotations

from envsolve.rulebook import fields
from envsolve.rulebook.schema import WHENCE, Column, Table

_PACKAGE = Column(name="package", read=fields.text)
_NUMBER = fields.optional(fields.dotted)

PAIRS = Table(
    name="pairs",
    file="doctor/pairs.yaml",
    keys=(_PACKAGE, Column(name="version", read=fields.version)),
    columns=(Column(name="torch", read=fields.specifier), *WHENCE),
    core=False,
)

EXTENSIONS = Table(
    name="extensions",
    file="doctor/extensions.yaml",
    keys=(_PACKAGE,),
    columns=(
        Column(name="modules", read=fields.texts),
        Column(name="first", read=fields.optional(fields.capability), default=None),
        Column(name="from_source", read=fields.flag, default=False),
        Column(name="beside", read=fields.flag, default=False),
        *WHENCE,
    ),
    core=False,
)

BAD_NAMES = Table(
    name="bad_names",
    file="doctor/extensions.yaml",
    keys=(_PACKAGE,),
    columns=(Column(name="instead", read=fields.text), Column(name="why", read=fields.text), *WHENCE),
    core=False,
)

SYSTEMS = Table(
    name="systems",
    file="doctor/systems.yaml",
    keys=(Column(name="system", read=fields.text),),
    columns=(Column(name="words", read=fields.texts), Column(name="glibc", read=fields.dotted), *WHENCE),
    core=False,
)

CONDA_RANGES = Table(
    name="conda_ranges",
    file="doctor/systems.yaml",
    keys=(_PACKAGE,),
    columns=(
        Column(name="channel", read=fields.text),
        Column(name="first", read=_NUMBER),
        Column(name="last", read=_NUMBER),
        *WHENCE,
    ),
    core=False,
)

PYTHONS = Table(
    name="doctor_pythons",
    file="doctor/tools.yaml",
    section="pythons",
    keys=(Column(name="use", read=fields.text),),
    columns=(Column(name="minors", read=fields.each(fields.dotted)), *WHENCE),
    core=False,
)

INSTALLERS = Table(
    name="installers",
    file="doctor/tools.yaml",
    keys=(_PACKAGE,),
    columns=(Column(name="change", read=fields.text), Column(name="below", read=fields.version), *WHENCE),
    core=False,
)

TOO_NEW = Table(
    name="too_new",
    file="doctor/tools.yaml",
    keys=(_PACKAGE,),
    columns=(Column(name="below", read=fields.version), *WHENCE),
    core=False,
)

FAULTY_FILES = Table(
    name="faulty_files",
    file="doctor/tools.yaml",
    keys=(Column(name="file", read=fields.text),),
    columns=(
        Column(name="torch", read=fields.specifier),
        Column(name="misses", read=fields.text),
        Column(name="fixed", read=fields.version),
        *WHENCE,
    ),
    core=False,
)

HANDED_ON = Table(
    name="handed_on",
    file="doctor/tools.yaml",
    keys=(Column(name="library", read=fields.text),),
    columns=(
        Column(name="branch", read=fields.dotted),
        Column(name="toolkit", read=fields.version),
        Column(name="docker_desktop", read=fields.version),
        *WHENCE,
    ),
    core=False,
)

BROUGHT = Table(name="brought", file="doctor/tools.yaml", keys=(_PACKAGE,), columns=WHENCE, core=False)

DOCTOR_TABLES = (
    PAIRS,
    EXTENSIONS,
    BAD_NAMES,
    SYSTEMS,
    CONDA_RANGES,
    PYTHONS,
    INSTALLERS,
    TOO_NEW,
    FAULTY_FILES,
    HANDED_ON,
    BROUGHT,
)
