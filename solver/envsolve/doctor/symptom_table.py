"""The form of a table of symptoms: names and patterns, with the words that make a pattern worth trying."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from envsolve.record import record
from envsolve.regex import regex

_BLANKS = regex(r"(\[[^\]]*\]|\\.)| +([?*]?)")
# What a pattern is made of, for finding its plain words: escapes, classes, brackets, quantifiers, bars, letters.
_PIECE = regex(r"\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:P<\w+>|[:=!]|<[=!]|m:))?|\)|[*+?]\??|\{[\d,]+\}|\||.", re.DOTALL)
_PLAIN = regex(r"[\w./:-]")
_SHORTEST = 4  # a shorter word is in almost every text
_BEFORE, _AFTER = 500, 900  # characters around a word that a whole message may take


@record
class Row:
    """A symptom: one of `words` (lower case) is in every text that the pattern matches; () = nothing is known."""

    name: str
    source: str
    words: tuple[str, ...]

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when its words are first met: most texts hold few of them, and all take a tenth of a second."""
        return _compiled(self.source)

    def matches(self, text: str, lowered: str) -> Iterator[re.Match[str]]:
        """Every match, looked for only near the words: a long log is passed over quickly."""
        last = 0
        for start, end in self._places(lowered):
            for match in self.pattern.finditer(text, max(start, last), end):
                last = match.end()
                yield match

    def _places(self, lowered: str) -> Iterator[tuple[int, int]]:
        """The stretches of text to look at, in order and without overlap."""
        if not self.words:
            yield 0, len(lowered)
            return
        found = sorted(p for word in self.words for p in _positions(lowered, word))
        start, end = -1, -1
        for position in found:
            if position - _BEFORE > end:
                if end >= 0:
                    yield start, end
                start = max(0, position - _BEFORE)
            end = min(len(lowered), position + _AFTER)
        if end >= 0:
            yield start, end


Table = tuple[Row, ...]


def table(*rows: tuple[str, str]) -> Table:
    """Names and patterns. A blank stands for any white space, since terminals wrap long messages (with ? or * behind it
    for none as well); case never matters."""
    return tuple(Row(name=name, source=_BLANKS.sub(_spread, pattern), words=_words(pattern)) for name, pattern in rows)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)


def _spread(match: re.Match[str]) -> str:
    return match[1] or (r"\s*" if match[2] else r"\s+")


def _positions(text: str, word: str) -> Iterator[int]:
    position = text.find(word)
    while position >= 0:
        yield position
        position = text.find(word, position + 1)


def _words(pattern: str) -> tuple[str, ...]:
    """For each alternative its longest plain word outside brackets; () where one of them has none."""
    words = tuple(max(_plain_words(alternative), key=len, default="") for alternative in _alternatives(pattern))
    return words if all(len(word) >= _SHORTEST for word in words) else ()


def _alternatives(pattern: str) -> list[list[str]]:
    """The pieces of each alternative that stand outside brackets; a bracket is one empty piece."""
    found: list[list[str]] = [[]]
    depth = 0
    for piece in _PIECE.findall(pattern):
        if piece.startswith("("):
            depth += 1
        elif piece == ")":
            depth -= 1
            found[-1].append("")
        elif depth == 0 and piece == "|":
            found.append([])
        elif depth == 0:
            found[-1].append(piece)
    return found


def _plain_words(pieces: list[str]) -> Iterator[str]:
    """The runs of letters that must be there as they stand; a letter with a quantifier behind it need not."""
    word = ""
    for piece in pieces:
        letter = piece[1:] if len(piece) == 2 and piece[0] == "\\" and not piece[1].isalnum() else piece
        if len(letter) == 1 and (_PLAIN.match(letter) if piece == letter else letter == "."):
            word += letter.lower()
            continue
        if piece[:1] in ("?", "*", "{"):
            word = word[:-1]
        yield word
        word = ""
    yield word
