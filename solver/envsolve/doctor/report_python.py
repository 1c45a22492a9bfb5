"""Python: what was printed by a program that asked torch and its companions about themselves. Never raises.

A printing statement is turned into a pattern for its own output, so that a version is a version because the program
printed `torch.__version__` there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from envsolve.doctor.report_blocks import Block
from envsolve.record import record
from envsolve.regex import regex

_END = r"(?=[,)]|[ \t]*$)"
_END_INSIDE = r"(?=[,)\s])"  # print(a, b) puts a blank between them
_VALUES = {
    "version": r"['\"]?(?P<{}>\d+\.\d+[\w.+-]*)['\"]?",
    "cuda": r"['\"]?(?P<{}>None|\d+\.\d+(?:\.\d+)?)['\"]?",
    "hip": r"['\"]?(?P<{}>None|\d+\.\d+[\w.-]*)['\"]?",
    "bool": r"(?P<{}>True|False)",
    "count": r"(?P<{}>\d+)",
    "list": r"(?P<{}>\[[^\]]*\])",
    "pair": r"(?P<{}>\(\d+,\s?\d\))",
    "name": r"['\"]?(?P<{}>[A-Z][\w .()/+-]{{1,60}}?)['\"]?" + _END,
    "path": r"\[?['\"]?(?P<{}>(?:[A-Za-z]:)?[/\\.][^'\"\n]*?)['\"]?\]?" + _END,
    "word": r"['\"]?(?P<{}>[\w.-]+)['\"]?",
}
# What a program asks -> the fact, and the form of its answer.
_QUESTIONS = (
    (r"torch\.__version__|torch\.version\.__version__", "torch", "version"),
    (r"torch\.version\.cuda", "cuda", "cuda"),
    (r"torch\.version\.hip", "hip", "hip"),
    (r"torch\.cuda\.is_available\(\)", "available", "bool"),
    (r"torch\.xpu\.is_available\(\)", "xpu", "bool"),
    (r"torch\.backends\.mps\.is_available\(\)", "mps", "bool"),
    (r"torch\.cuda\.device_count\(\)", "count", "count"),
    (r"torch\.cuda\.get_arch_list\(\)", "targets", "list"),
    (r"torch\.cuda\.get_device_capability\([^()]*\)", "capability", "pair"),
    (r"torch\.cuda\.get_device_name\([^()]*\)", "gpu", "name"),
    (r"torch\.__file__|torch\.__path__(?:\[0\])?", "file", "path"),
    (r"torchvision\.__version__", "torchvision", "version"),
    (r"torchaudio\.__version__", "torchaudio", "version"),
    (r"(?:np|numpy)\.__version__", "numpy", "version"),
    (r"(\w+)\.__version__", "", "version"),
    (r"platform\.machine\(\)", "machine", "word"),
    (r"sys\.version(?:\.split\(\)\[0\])?", "python", "version"),
    (r"platform\.python_version\(\)", "python", "version"),
    (r"sys\.executable|sys\.prefix", "executable", "path"),
)
_RULES = tuple((re.compile(q), fact, form) for q, fact, form in _QUESTIONS)
_STRING = regex(r"^[rbfu]{0,2}(['\"])(.*)\1$", re.DOTALL)
_PRINT = regex(r"^print\s?\((.*)\)$", re.DOTALL)
_CODE = regex(r"(?:^|\s)-(?:W\s*\w+\s+-)?c\s+(['\"])(.*)\1", re.DOTALL)
_BEFORE_BRACKET = regex(r"\s*\(\s*")
_ANYTHING = r"[^\n]{0,120}?"
_MOST_UNKNOWN = 3  # each costs the search its length once more


@record
class Said:
    """One answer: the fact ("torch", "cuda", "targets"), the text that was printed, and the line of the question."""

    fact: str
    value: str
    line: int


def answers(found: Iterable[Block]) -> tuple[Said, ...]:
    """Every answer in the order of the text."""
    return tuple(said for block in found for said in _answers(block))


def _answers(block: Block) -> Iterator[Said]:
    output, position = block.text, 0
    for expressions in _statements(block):
        pattern, facts = _pattern(expressions)
        if not facts:
            continue
        match = pattern.search(output, position)
        if match is None:
            continue
        position = match.end()
        for index, fact in enumerate(facts):
            yield Said(fact=fact, value=match[f"f{index}"].strip(), line=block.line)


def _statements(block: Block) -> Iterator[list[str]]:
    """The expressions of each statement that prints."""
    if block.kind == "python":
        parts = split(block.command, ";")
        shown = [p for p in parts if _PRINT.match(p.strip())]
        # At a prompt a bare expression prints as well; only the last one of a line is worth it.
        for part in shown or parts[-1:]:
            yield _expressions(part.strip())
        return
    code = _CODE.search(block.command)
    for part in split(code[2].replace("\\n", ";"), ";\n") if code else ():
        if _PRINT.match(part.strip()):
            yield _expressions(part.strip())


def _expressions(statement: str) -> list[str]:
    shown = _PRINT.match(statement)
    inner = (shown[1] if shown else statement).strip()
    if not shown and re.match(r"^[\w.]+\s*=[^=]", inner):
        return []
    if inner.startswith("(") and inner.endswith(")"):
        inner = inner[1:-1]
    text = _STRING.match(inner)
    if text and inner.startswith("f"):
        return _formatted(text[2])
    return [part.strip() for part in split(inner, ",") if not re.match(r"\s*(?:sep|end|file|flush)\s*=", part)]


def _formatted(text: str) -> list[str]:
    """The parts of an f-string: literals as quoted texts, fields as expressions."""
    parts = re.split(r"(\{[^{}]*\})", text)
    return [p[1:-1].split("!")[0] if p.startswith("{") else repr(p) for p in parts if p.strip()]


def split(text: str, marks: str) -> list[str]:
    """Cut at marks that stand outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for index, sign in enumerate(text):
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign in marks and depth <= 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _pattern(expressions: list[str]) -> tuple[re.Pattern[str], list[str]]:
    """The pattern of what these expressions print, and the facts in its groups f0, f1, …"""
    facts: list[str] = []
    parts: list[str] = []
    for expression in expressions:
        part = _part(expression, facts)
        if part != _ANYTHING or parts[-1:] != [_ANYTHING]:
            parts.append(part)
        if parts.count(_ANYTHING) > _MOST_UNKNOWN:
            break
    while parts and parts[-1] == _ANYTHING:
        parts.pop()
    parts[:-1] = [part.replace(_END, _END_INSIDE) for part in parts[:-1]]
    return re.compile(r"^[ \t]*(?:-+>|=+>|→)?[ \t]*\(?" + r"[,\s]{0,4}".join(parts) + r"\)?", re.MULTILINE), facts


def _part(expression: str, facts: list[str]) -> str:
    text = _STRING.match(expression)
    if text:
        return re.escape(text[2].strip())
    for rule, fact, form in _RULES:
        match = rule.fullmatch(_BEFORE_BRACKET.sub("(", expression))
        if match:
            facts.append(fact or match[1])
            return _VALUES[form].format(f"f{len(facts) - 1}")
    return _ANYTHING
