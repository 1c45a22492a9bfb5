"""Recorded: what a lock's own header says that it was made from, for `lock --check` and `--upgrade` without inputs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from envsolve.cli.planned import Asked
from envsolve.errors import InputError
from envsolve.record import field, record, replace

_SWITCHES = frozenset({"--sdists"})
_VALUED = frozenset(
    {
        "-r", "-c", "--extra", "--group", "--target", "--python", "--gpus", "--variant", "--source", "--mirror",
        "--index", "--extra-index", "--find-links", "--conda-channel", "--snippet",
    }
)  # fmt: skip
_HINT = "give the requirements and --target beside it"

Given = Mapping[str, str | Sequence[str] | None]  # the options on where packages come from, by their flags


@record
class Recorded:
    """One `envsolve lock` line, read back. `options` holds the values of each option in their order.

    Files that are not here are looked for in `folder`, where the lock is.
    """

    folder: Path = Path()
    requirements: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def asked(self, said: Asked, *, another_machine: bool) -> Asked:
        """What it asks for, but for the targets; what was `said` outranks it. Its Python and GPUs are those of its own
        target, and count for no other machine."""
        last = {option: values[-1] for option, values in self.options.items() if values}
        return Asked(
            requirements=list(self.requirements),
            files=[self._found(name) for name in self.options.get("-r", ())],
            constraints=[self._found(name) for name in self.options.get("-c", ())],
            extras=list(self.options.get("--extra", ())),
            groups=list(self.options.get("--group", ())),
            python=said.python or (None if another_machine else last.get("--python")),
            gpus=said.gpus if another_machine or said.gpus != "all" else last.get("--gpus", "all"),
            variant=said.variant or last.get("--variant"),
            sdists=said.sdists or "--sdists" in self.options,
        )

    def targets(self) -> list[str]:
        """Its targets, as they were given."""
        from envsolve.machine.target import looks_like_path

        named = self.options.get("--target", ())
        return [str(self._found(text)) if looks_like_path(text) else text for text in named]

    def sources(self, said: Given) -> Given:
        """The options on where packages come from: what was `said`, else its own."""
        return {flag: value or self.options.get(flag) for flag, value in said.items()}

    def _found(self, name: str) -> Path:
        beside = self.folder / name
        return beside if not Path(name).exists() and beside.exists() else Path(name)


def one(value: str | Sequence[str] | None) -> str | None:
    """The value of an option that counts once: its last."""
    return value if isinstance(value, str) or value is None else value[-1] if value else None


def many(value: str | Sequence[str] | None) -> list[str] | None:
    """All values of an option."""
    return [value] if isinstance(value, str) else list(value) if value else None


def parse_command(line: str, what: str) -> Recorded:
    """Read an `envsolve lock …` line back. Raises InputError, which names `what`, for any other line."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise InputError(f"{what}: the command in its header can't be read: {error}", hint=_HINT) from error
    if words[:2] != ["envsolve", "lock"]:
        raise InputError(f"{what}: its header names no `envsolve lock` command: {line!r}", hint=_HINT)
    requirements: list[str] = []
    options: dict[str, tuple[str, ...]] = {}
    rest = words[2:]
    while rest:
        word = rest.pop(0)
        if word in _SWITCHES:
            options[word] = ()
        elif word in _VALUED and rest:
            options[word] = (*options.get(word, ()), rest.pop(0))
        elif word.startswith("-"):
            raise InputError(f"{what}: the command in its header has {word!r}, which is not known here", hint=_HINT)
        else:
            requirements.append(word)
    return Recorded(requirements=tuple(requirements), options=options)


def recorded_in(names: Sequence[str], default: str) -> list[tuple[list[str], Recorded]]:
    """What the locks of these names (files or folders) were made from, with the names to make again by each command.

    Nothing where none of them is there yet. Raises InputError for a lock that doesn't say, and for a folder where
    commands for several targets lie beside others.
    """
    found = {path: line for path in _files(names or [default]) if (line := _command_of(path))}
    made = {line: replace(parse_command(line, str(path)), folder=path.parent) for path, line in found.items()}
    if len(made) == 1:
        return [(list(names), one) for one in made.values()]
    for path, line in found.items():
        if len(made[line].targets()) > 1 and str(path) not in names:
            raise InputError(f"{path.parent} holds locks of several commands", hint=f"give them one by one: -o {path}")
    return [([str(path) for path in found if found[path] == line], one) for line, one in made.items()]


def _files(names: Sequence[str]) -> Iterator[Path]:
    """The files that are named, and those in folders that envsolve made."""
    for name in names:
        path = Path(name)
        if path.is_dir():
            yield from (file for file in sorted(path.iterdir()) if file.is_file() and _ours(file))
        else:
            yield path


def _ours(path: Path) -> bool:
    from envsolve.cli.former_lock import former_texts

    try:
        return bool(former_texts([path]))
    except InputError:
        return False  # somebody else's


def _command_of(path: Path) -> str:
    """The command in a lock's header; "" for a file that is not there and for one that holds no lock."""
    from envsolve.cli.former_lock import former_texts
    from envsolve.lock import formats
    from envsolve.lock.header import command_in
    from envsolve.lock.newer import NewerLockError

    try:
        chosen = formats.format_of(path.name)
    except InputError:
        return ""  # something else in the folder; -o itself is checked elsewhere
    text = former_texts([path]).get(path, "")
    if not text or not chosen.reads:
        return ""
    try:
        return chosen.read(text, path.name)[0].header.command
    except NewerLockError:
        raise
    except InputError as error:
        if line := command_in(text):
            return line  # edited below its header: what it was made from is still said
        raise InputError(f"{path} doesn't say what it was made from: {error.message}", hint=_HINT) from error
