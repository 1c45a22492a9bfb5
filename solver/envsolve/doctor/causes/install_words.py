"""A requirement that no installer can read, as somebody wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import variant_of_label
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex

_LABEL = regex(r"\+([a-z]+[\d.]*)$")


def unreadable(s: Situation) -> Finding | None:
    """A line of torch's family that is no requirement, with what was probably meant."""
    for shown in s.evidence.all("bad-requirement"):
        text = shown.get("requirement") or shown.get("requirement2")
        if "torch" not in text and "torch" not in s.evidence.text:
            continue
        meant = next(((why, words) for why, words in _meant(text) if _is_requirement(words)), None)
        why, words = meant or ("", "")
        headline = f'"{text}" is no requirement{f": {why}" if why else ""}'
        way = fix(f"write {words}", _command(words)) if words else fix("write NAME==VERSION, each on a line of its own")
        return finding(s, "index-problem", headline, shown=[shown], fixes=[way])
    return None


def _meant(text: str) -> Iterator[tuple[str, str]]:
    """(what is wrong, how it reads without that), the likelier first."""
    if re.search(r"\s\+", text):
        yield "a blank stands in front of the label", re.sub(r"\s+\+", "+", text)
    if re.search(r"[^<>=!~]=[^=]", text):
        yield '"=" is no operator, "==" is', re.sub(r"(?<![<>=!~])=(?!=)", "==", text)
    if re.search(r"(?:[<>!~]=?|===)[^,;]*\+", text):
        yield "a label goes with == alone", re.sub(r"(?:[<>!~]=?|===)(?=[^,;]*\+)", "==", text)
    if re.search(r"\.\*\+|\+\w+\.\*", text):
        yield "a label does not go with *", re.sub(r"\.\*", "", text)
    if match := re.match(r"\s*([A-Za-z][\w.-]*)\s+v?(\d\S*)\s*$", text):
        yield '"==" is missing', f"{match[1]}=={match[2]}"


def _is_requirement(text: str) -> bool:
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def _command(words: str) -> str:
    """The install, from the folder of the label's variant where it has one."""
    label = _LABEL.search(words)
    variant = variant_of_label(label[1]) if label else ""
    return f'pip install "{words}"' + (f" --index-url {PYTORCH_INDEX}/{variant}" if variant else "")
