"""Evidence: what a report, or a look at a live environment, says. What nobody said is None or empty, never a guess."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from envsolve.capability import Target
from envsolve.machine.machine import Gpu, Machine
from envsolve.record import field, record

NO_ANSWER = "no answer within"  # how the text of an import starts that did not come to an end
Tool = Literal["pip", "uv", "conda", "poetry", "docker", "python", "other"]


@record
class Installed:
    """A package and the version that some tool printed for it; `build` and `channel` are conda's.

    `source` orders the statements by trust: what Python printed, what a list showed, what an installer reported.
    """

    name: str
    version: str
    source: Literal["printed", "listed", "installer", "file", "said"]
    build: str = ""
    channel: str = ""
    location: str = ""
    line: int = 0

    @property
    def public(self) -> str:
        """The version without its local label."""
        return self.version.split("+", 1)[0]

    @property
    def label(self) -> str:
        """The local label ("cu118", "cpu"); "" where the version has none."""
        return self.version.partition("+")[2]


@record
class Change:
    """One package that an installer changed: before or after is "" where it was not there."""

    name: str
    before: str
    after: str
    line: int
    build_before: str = ""
    build_after: str = ""


@record
class Command:
    """A command line as somebody typed it, and what it printed."""

    tool: Tool
    verb: str
    text: str
    line: int
    output: str = ""
    requirements: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()


@record
class Symptom:
    """A message that the doctor knows: its name, the line as printed, and the words in it that matter."""

    name: str
    text: str
    line: int
    groups: Mapping[str, str] = field(default_factory=dict)

    def get(self, group: str) -> str:
        """A word of the message; "" where it is not there."""
        return self.groups.get(group, "")


@record
class Frame:
    """One file of a traceback, or a library that the dynamic linker names."""

    path: str
    line: int


@record
class Damage:
    """What an installation lacks: its Python, files of a package ("files"), or a package that another needs ("needs").
    "twice": it has two records of one package; "access": files are there that this user may not read.

    `what` is the package (with the versions that are wanted, where it is not there), or the folder that it is about.
    """

    kind: Literal["python", "files", "needs", "twice", "access"]
    what: str
    text: str


@record
class TorchSaid:
    """What the imported torch said of itself. `cuda` "" = it said that it has none; None = nothing was said."""

    version: str | None = None
    cuda: str | None = None
    hip: str | None = None
    xpu: bool = False
    mps: bool = False
    targets: tuple[Target, ...] | None = None
    available: bool | None = None
    count: int | None = None
    file: str | None = None
    computed: bool = False  # a result that came from the GPU was printed


@record
class Host:
    """What surrounds the environment: the machine as far as it is told, and where the program runs.

    `known` names the fields of `machine` that the text gives; the others hold neutral values. `gpu_absent` = somebody
    looked and there is none; `other_gpus` are those that the text tells of, but not in this environment.
    """

    machine: Machine
    known: frozenset[str] = frozenset()
    container: bool = False
    virtual: bool = False
    vgpu: bool = False
    gpu_absent: bool = False
    gpu_claimed: bool = False
    bits: int = 64
    emulated: bool = False


@record
class Evidence:
    """All that is known of one environment.

    `installed` is the last known state by canonical name, `history` every statement in order. `environment` holds the
    variables that were shown; a variable that was shown to be unset is not in it. Only a live environment (`live`) has
    `damage` and `strays`, which are files in the working folder that Python takes for installed packages; `options` are
    the words of the command line that name it (none for the active one).
    """

    host: Host
    text: str = ""
    installed: Mapping[str, Installed] = field(default_factory=dict)
    history: tuple[Installed, ...] = ()
    changes: tuple[Change, ...] = ()
    commands: tuple[Command, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    frames: tuple[Frame, ...] = ()
    torch: TorchSaid = TorchSaid()
    environment: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # names of wheels that were looked at, in order
    live: bool = False
    damage: tuple[Damage, ...] = ()
    strays: Mapping[str, str] = field(default_factory=dict)  # the package -> the file or folder
    options: tuple[str, ...] = ()

    @property
    def machine(self) -> Machine:
        return self.host.machine

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        return self.host.machine.gpus

    def has(self, *names: str) -> bool:
        """Whether one of these symptoms is there."""
        return any(s.name in names for s in self.symptoms)

    def first(self, *names: str) -> Symptom | None:
        """The first of these symptoms in the text."""
        return next((s for s in self.symptoms if s.name in names), None)

    def all(self, *names: str) -> tuple[Symptom, ...]:
        """Every one of these symptoms, in the order of the text."""
        return tuple(s for s in self.symptoms if s.name in names)

    def lines(self, *names: str) -> frozenset[int]:
        """The lines that these symptoms are on."""
        return frozenset(s.line for s in self.symptoms if s.name in names)

    def version(self, name: str) -> str:
        """The version of an installed package as printed; "" where unknown."""
        found = self.installed.get(name)
        return found.version if found else ""
