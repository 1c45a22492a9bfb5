"""Told: the outcome as text, as JSON, and as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from envsolve.keeping.checked import Checked
from envsolve.keeping.finding import Finding

SCHEMA = 1


def as_text(outcome: Sequence[Checked]) -> str:
    """What fits and what does not, a block for each target; the warnings are told apart from it."""
    return "\n".join(line for checked in outcome for line in _block(checked))


def _block(checked: Checked) -> Iterator[str]:
    yield checked.target
    if checked.fits:
        yield from (f"  fits: {run}" for run in checked.runs or ("no lock of it holds torch",))
        return
    yield "  does not fit:"
    for problem in checked.problems:
        yield f"    {_sentence(problem)} [{problem.code}]"
        if problem.hint:
            yield f"      {problem.hint}"


def warning_lines(outcome: Sequence[Checked]) -> list[str]:
    """For each target with warnings its name, then a line each: what ends, and how sure the rules are of it."""
    lines = []
    for checked in outcome:
        if checked.warnings:
            lines.append(f"warning: {checked.target}")
        for warning in checked.warnings:
            lines.append(f"  {warning.text} (certainty: {warning.certainty}) [{warning.code}]")
            lines += [f"    {warning.hint}"] if warning.hint else []
    return lines


def as_json(outcome: Sequence[Checked], *, today: str) -> dict[str, Any]:
    """The outcome as data; "fits" is the answer."""
    return {
        "schema": SCHEMA,
        "fits": all(checked.fits for checked in outcome),
        "today": today,
        "targets": [
            {
                "target": checked.target,
                "fits": checked.fits,
                "runs": list(checked.runs),
                "problems": [_plain(problem) for problem in checked.problems],
                "warnings": [_plain(warning) for warning in checked.warnings],
            }
            for checked in outcome
        ],
    }


def _plain(finding: Finding) -> dict[str, str]:
    named = ("code", "text", "file", "hint", "certainty", "source")
    return {name: value for name in named if (value := getattr(finding, name))}


def as_github(outcome: Sequence[Checked], *, declared_in: str, folder: str = "") -> list[str]:
    """Workflow commands: an error for each problem, a warning for each end. `declared_in` stands for no file, `folder`
    ("pkg/a/") is where the project lies in the repository.
    """
    lines = []
    for checked in outcome:
        for kind, findings in (("error", checked.problems), ("warning", checked.warnings)):
            for finding in findings:
                text = f"{checked.target}: {finding.text}" + (f"; {finding.hint}" if finding.hint else "")
                file = _property(folder + (finding.file or declared_in))
                where = f"file={file},title={_property(f'envsolve {finding.code}')}"
                lines.append(f"::{kind} {where}::{_data(text)}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _sentence(problem: Finding) -> str:
    return f"{problem.file}: {problem.text}" if problem.file else problem.text
