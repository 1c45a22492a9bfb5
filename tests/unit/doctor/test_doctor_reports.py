"""The right cause for many reports: invented texts in the form of real tools."""

from __future__ import annotations

import html
import re
from collections import Counter

import pytest
from reports_data import Report, reports

from envsolve.doctor.diagnose import diagnose
from envsolve.doctor.facts import load_facts
from envsolve.doctor.finding import CODES, LIVE_ONLY, Finding
from envsolve.doctor.report import read_report
from envsolve.rulebook.load import load

REPORTS = reports()
RULEBOOK, FACTS = load(), load_facts()


def find(text: str) -> Finding:
    return diagnose(read_report(text, RULEBOOK, FACTS), RULEBOOK, FACTS)


def said(finding: Finding) -> str:
    """Headline and fixes as one lower-case text, blanks squeezed, as the contract's checker reads them."""
    pieces = [finding.headline, *(piece for fix in finding.fixes for piece in (fix.text, *fix.commands))]
    return "\n".join(f" {' '.join(piece.split()).lower()} " for piece in pieces)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.id)
def test_the_cause_is_named(report: Report) -> None:
    finding = find(report.text)
    assert finding.code in report.codes, finding.headline
    for wrong in report.must_not_say:
        assert wrong not in said(finding)
    for right in report.must_say:
        assert right in said(finding)


@pytest.mark.parametrize("report", REPORTS[::5], ids=lambda report: report.id)
def test_line_ends_and_colours_do_not_matter(report: Report) -> None:
    plain = find(report.text)
    assert find(report.text.replace("\n", "\r\n")) == plain
    assert find("\ufeff\x1b[31m" + report.text + "\x1b[0m") == plain


@pytest.mark.parametrize("report", REPORTS[::5], ids=lambda report: report.id)
def test_a_log_with_times_says_the_same(report: Report) -> None:
    lines = [f"2026-03-01T10:00:00.123Z {line}" for line in report.text.split("\n")]
    assert find("\n".join(lines)).code == find(report.text).code


@pytest.mark.parametrize("report", REPORTS[::7], ids=lambda report: report.id)
def test_what_a_forum_an_editor_or_a_shell_does_to_a_text_does_not_matter(report: Report) -> None:
    text, code = report.text, find(report.text).code
    lines = text.split("\n")
    assert find(html.escape(text, quote=False)).code == code
    assert find(text.replace("'", "\u2019")).code == code
    assert find("\n\n".join(lines)).code == code
    assert find("\n".join(f"{number:>3}  {line}" for number, line in enumerate(lines, 1))).code == code
    assert find(re.sub(r"(?m)^\$ (?=\S)", "[user@host p]$ ", text)).code == code


def test_the_reports_cover_every_code_and_are_told_apart() -> None:
    assert Counter(r.id for r in REPORTS).most_common(1)[0][1] == 1
    best = {report.codes[0] for report in REPORTS}
    assert best == set(CODES) - set(LIVE_ONLY)
    assert {code for report in REPORTS for code in report.codes} == set(CODES) - set(LIVE_ONLY)


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.id)
def test_no_driver_update_past_the_last_branch_of_a_card(report: Report) -> None:
    finding = find(report.text)
    if finding.code == "driver-too-new":
        assert "update" not in said(finding)
    assert "install the cuda toolkit" not in said(finding)
