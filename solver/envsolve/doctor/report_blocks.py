"""Blocks: a pasted text cut at its prompts, each command with what it printed. Never raises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from envsolve.record import record
from envsolve.regex import regex

Kind = Literal["shell", "python", "text"]

# (venv) user@host:~/x$ · PS C:\x> · C:\x> · [user@host x]$ · $ · % · !pip in a notebook · a Dockerfile's RUN.
_ENVIRONMENT = r"(?:\([^()\n]{1,60}\)\s*){0,3}"
_SHELL = regex(
    rf"^\s{{0,8}}{_ENVIRONMENT}(?:"
    r"PS(?:\s[^>\n]{1,160})?>"
    r"|[A-Za-z]:\\[^>\n]{0,160}>"
    r"|\[?[\w.+-]+@[\w.-]+[^\n$#%>]{0,120}[$#%>](?=\s|$)"
    r"|[➜❯] {1,2}[\w.~/-]+(?: git:\([^)\n]{1,60}\)(?: ✗)?)?(?=\s+(?:sudo|python|pip|uv|conda|nvidia-smi|docker|echo)\b)"
    r"|(?:[~/][\w./~-]*)?\s?[$❯➜](?=\s|$)"
    r"|(?:ba|z)?sh-\d\.\d+[$#](?=\s)|[└╰]─{1,2}[$#❯](?=\s)"
    r"|[\w.-]{2,30}:[\w.~/-]{1,60} [\w.-]{1,30}\$(?=\s)"
    r"|%(?=\s+\w)"
    r"|(?:Apptainer|Singularity)>"
    r"|RUN(?=\s)"
    r")\s*(.*)$"
)
_NOTEBOOK = regex(r"^\s*[!%]\s?((?:pip|python|conda|nvidia-smi|uv|nvcc|ls|cat|echo|apt)\b.*)$")
# Commands that are known as such behind the prompts that other things look like too ("#", ">"), or behind none.
_COMMAND = (
    r"(?:sudo\s+)?(?:python[\d.]*\s+-m\s+)?(?:pip[\d.]*\s+(?:install|list|freeze|show|download|check|config)"
    r"|uv\s+(?:pip|add|sync|lock|run)"
    r"|conda\s+(?:install|create|list|env|info)|mamba\s+(?:install|create)|micromamba\s+(?:install|create)"
    r"|poetry\s+(?:install|add|lock|run)|docker\s+(?:run|build|compose)|podman\s+run"
    r"|(?:apptainer|singularity)\s+(?:exec|run|shell))\s.*"
    r"|(?:sudo\s+)?python[\d.]*\s+-c\s+[\"'].*|pip[\d.]*\s+(?:list|freeze|check)"
    r"|nvidia-smi(?:\.exe)?(?:\s+-.*)?|(?:echo|printenv)\s+[$%]\w.*"
    r"|(?:lspci|lsmod|dmesg|dpkg -l|ldconfig -p)\b\s*(?:-|\|).*"
    r"|cat\s+/(?:etc|proc)/.*|uname\s+-\w+"
)
_BARE = regex(rf"^\s{{0,8}}(?:[#>]\s)?({_COMMAND})$")
_PYTHON = regex(r"^\s{0,8}(?:>>>|In\s?\[\d*\]:)\s?(.*)$")
_MORE = regex(r"^\s{0,8}(?:\.\.\.|\s+\.\.\.:)\s?(.*)$")
_PRINT = regex(r"^\s{0,8}(print\s?\(.*\))\s*$")
_OUT = regex(r"^Out\[\d+\]:\s?")
_FRAME = regex(r'^\s*File "[^"\n]*", line \d+')
_CONTINUED = regex(r"[\\`^]\s*$")


@record
class Block:
    """A command and its output; the text before the first prompt has the kind "text" and no command."""

    kind: Kind
    command: str
    output: tuple[str, ...]
    line: int

    @property
    def text(self) -> str:
        """The output as one text."""
        return "\n".join(self.output)


def blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a tidy text, in order; lines count from 1."""
    found: list[Block] = []
    kind: Kind = "text"
    command, start = "", 1
    output: list[str] = []
    before = ""
    for number, line in _lines(text):
        # A line of source that a traceback quotes is no prompt.
        prompt = None if _FRAME.match(before) else _prompt(line)
        before = line
        if prompt is None:
            output.append(_OUT.sub("", line))
            continue
        found.append(Block(kind=kind, command=command, output=tuple(output), line=start))
        (kind, command), start, output = prompt, number, []
    found.append(Block(kind=kind, command=command, output=tuple(output), line=start))
    return tuple(b for b in found if b.command or any(line.strip() for line in b.output))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers; a command that goes on in the next line is one line."""
    held, held_at = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if held:
            line, at = f"{held} {line.strip()}", held_at
        else:
            at = number
        if _CONTINUED.search(line) and _prompt(line) is not None and len(line) < 4000:
            held, held_at = _CONTINUED.sub("", line).rstrip(), at
            continue
        held = ""
        yield at, line
    if held:
        yield held_at, held


def _prompt(line: str) -> tuple[Kind, str] | None:
    """The kind and the command of a line that starts a block."""
    if match := _PYTHON.match(line) or _MORE.match(line) or _PRINT.match(line):
        return "python", match[1].strip()
    for pattern in (_SHELL, _NOTEBOOK, _BARE):
        if match := pattern.match(line):
            return "shell", match[1].strip()
    return None
