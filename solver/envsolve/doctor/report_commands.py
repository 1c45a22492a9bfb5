"""Commands: what somebody typed to install something, with its indexes and requirements. Never raises."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import PureWindowsPath

from envsolve.doctor.evidence import Command, Tool
from envsolve.doctor.report_blocks import Block
from envsolve.regex import regex

_TOOLS: dict[str, Tool] = {
    "pip": "pip", "pip3": "pip", "uv": "uv", "conda": "conda", "mamba": "conda", "micromamba": "conda",
    "poetry": "poetry", "docker": "docker", "podman": "docker", "nvidia-docker": "docker", "nerdctl": "docker",
    "apptainer": "docker", "singularity": "docker",
    "kubectl": "docker", "python": "python", "python3": "python", "py": "python",
}  # fmt: skip
_VALUED = {
    "-i": "index", "--index-url": "index", "--default-index": "index", "--extra-index-url": "extra",
    "--index": "extra", "-f": "links", "--find-links": "links", "-c": "channel", "--channel": "channel",
    "-r": "file", "--requirement": "file", "--constraint": "constraint", "-p": "other", "--python": "other",
    "-n": "other", "--name": "other", "--torch-backend": "backend", "--extra": "other", "--platform": "other",
    "--python-version": "other", "-t": "other", "--target": "other", "--prefix": "other", "--index-strategy": "other",
    "--upgrade-strategy": "other", "--cache-dir": "other", "--timeout": "other", "--trusted-host": "other",
    "--only-binary": "other", "--gpus": "gpus", "--runtime": "runtime", "-v": "other", "-e": "env", "--env": "env",
    "--source": "other", "--group": "other", "-w": "other",
}  # fmt: skip
_VERBS = ("install", "add", "sync", "run", "create", "update", "upgrade", "list", "freeze", "show", "lock", "build",
          "download", "remove", "uninstall", "env", "pip", "info", "compile", "start", "compose", "exec",
          "shell")  # fmt: skip
_RUNNERS = ("uv", "poetry", "pixi", "pdm", "conda")
_PYTHON = regex(r"^(?:python|pip)[\d.]*$")


def commands(found: Iterable[Block]) -> tuple[Command, ...]:
    """Every command of the shell blocks; one line may hold several, the output then belongs to each."""
    return tuple(
        command
        for block in found
        if block.kind == "shell" and block.command
        for part in _parts(block.command)
        if (command := _command(part, block)) is not None
    )


def _parts(line: str) -> list[str]:
    """The single commands of a line, cut at marks that stand outside quotes."""
    quote, start, parts = "", 0, []
    for match in re.finditer(r"[\"']|&&|\|\||[;|]", line):
        sign = match[0]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        else:
            parts.append(line[start : match.start()])
            start = match.end()
    return [part for part in (*parts, line[start:]) if part.strip()]


def _command(text: str, block: Block) -> Command | None:
    words = list(_without_wrapping(_words(text)))
    if not words:
        return None
    tool, rest = _tool(words)
    verb, arguments = _verb(rest)
    options = _options(arguments)
    return Command(
        tool=tool,
        verb=verb,
        text=text.strip(),
        line=block.line,
        output=block.text,
        requirements=tuple(options["positional"]),
        index=tuple(options["index"]),
        extra=tuple(options["extra"]),
        links=tuple(options["links"]),
        flags=frozenset([*options["flags"], *(f"channel:{c}" for c in options["channel"])]),
    )


def _words(text: str) -> list[str]:
    if "\\" in text:  # a Windows path is no escape
        return [word.strip("\"'") for word in text.split()]
    try:
        return shlex.split(text)
    except ValueError:
        return [word.strip("\"'") for word in text.split()]


def _without_wrapping(words: list[str]) -> Iterator[str]:
    """The words behind sudo, `uv run`, `python -m` and assignments of variables."""
    rest = list(words)
    while rest:
        name = _name(rest[0])
        if name in ("sudo", "time", "env", "&", "call") or re.fullmatch(r"[A-Z_]+=\S*", rest[0]):
            rest = rest[1:]
        elif len(rest) > 2 and (_is_module_call(name, rest) or (name in _RUNNERS and rest[1] == "run")):
            rest = rest[2:]
        else:
            break
    yield from rest


def _is_module_call(name: str, words: list[str]) -> bool:
    """ "python -m pip"."""
    return bool(_PYTHON.match(name)) and words[1] == "-m" and words[2] in ("pip", "uv", "conda")


def _name(word: str) -> str:
    """ "pip" of "C:\\venv\\Scripts\\pip.exe" or "/opt/bin/pip"."""
    return PureWindowsPath(word.replace("/", "\\")).name.lower().removesuffix(".exe")


def _tool(words: list[str]) -> tuple[Tool, list[str]]:
    name = _name(words[0])
    tool = _TOOLS.get(name) or ("pip" if re.fullmatch(r"pip[\d.]+", name) else None)
    if tool is None and _PYTHON.match(name):
        tool = "python"
    return (tool, words[1:]) if tool else ("other", words)


def _verb(words: list[str]) -> tuple[str, list[str]]:
    """The verb and what follows; `uv pip install` is "install"."""
    rest = list(words)
    while rest and rest[0] in ("pip", "env", "compose") and len(rest) > 1 and rest[1] in _VERBS:
        rest = rest[1:]
    if rest and rest[0] in _VERBS:
        return rest[0], rest[1:]
    return "", rest


def _options(words: list[str]) -> dict[str, list[str]]:
    """The words sorted into requirements, flags and the values of options."""
    sorted_: dict[str, list[str]] = {k: [] for k in ("positional", "flags", *_VALUED.values())}
    position = 0
    while position < len(words):
        word = words[position]
        flag, joined, value = word.partition("=")
        if word.startswith("-"):
            kind = _VALUED.get(flag)
            sorted_["flags"].append(flag)
            if kind and joined:
                sorted_[kind].append(value)
            elif kind and position + 1 < len(words):
                position += 1
                sorted_[kind].append(words[position])
        else:
            sorted_["positional"].append(word)
        position += 1
    return sorted_
