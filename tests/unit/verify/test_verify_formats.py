"""A report as text, JSON and JUnit XML."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from envsolve.verify.as_json import report_json
from envsolve.verify.junit import report_junit
from envsolve.verify.report import Check, Report
from envsolve.verify.text import report_lines

PASSED = Check(name="compute cpu sort", outcome="passed", expected="exact", seen="0 wrong", seconds=0.12345)
FAILED = Check(name="driver", outcome="failed", expected="1 cuda device", seen="no device: <&>", hint="envsolve detect")
SKIPPED = Check(name="targets", outcome="skipped", expected="no CUDA code", seen="a plan for cpu")
REPORT = Report(environment="demo", python="3.12.4", torch="2.11.0+cpu", checks=(PASSED, SKIPPED))


def test_verified_means_computed_and_nothing_failed() -> None:
    assert REPORT.verified
    assert not replace(REPORT, checks=(SKIPPED,)).verified
    assert not replace(REPORT, checks=(PASSED, FAILED)).verified
    static = replace(REPORT, static=True)
    assert static.passed
    assert not static.verified
    assert replace(REPORT, checks=(PASSED, FAILED)).failed == ("driver",)


def test_text_says_what_failed_and_what_to_do() -> None:
    assert report_lines(replace(REPORT, checks=(PASSED, FAILED, SKIPPED))) == [
        "demo: Python 3.12.4, torch 2.11.0+cpu",
        "  ok      compute cpu sort  0 wrong",
        "  FAILED  driver            no device: <&>",
        "                            expected: 1 cuda device",
        "                            hint: envsolve detect",
        "  -       targets           a plan for cpu",
        "not verified: 1 passed, 1 failed, 1 skipped",
    ]


def test_the_last_line_of_each_kind_of_report() -> None:
    assert report_lines(REPORT)[-1] == "verified: 1 passed, 0 failed, 1 skipped"
    assert report_lines(replace(REPORT, static=True))[-1].startswith("static checks passed, no GPU was tried")
    assert report_lines(replace(REPORT, checks=(SKIPPED,)))[-1].endswith("nothing was computed")


def test_json_is_versioned_and_holds_every_field() -> None:
    made = json.loads(json.dumps(report_json(replace(REPORT, checks=(PASSED, FAILED)))))
    assert (made["schema"], made["verified"], made["static"]) == (1, False, False)
    assert made["checks"][0]["seconds"] == 0.123
    assert made["checks"][1] == {
        "name": "driver",
        "outcome": "failed",
        "expected": "1 cuda device",
        "seen": "no device: <&>",
        "hint": "envsolve detect",
        "seconds": 0.0,
    }


def test_junit_counts_and_escapes() -> None:
    suite = ET.fromstring(report_junit(replace(REPORT, checks=(PASSED, FAILED, SKIPPED))))[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "no device: <&>"
    assert "hint: envsolve detect" in (failure.text or "")


@given(st.text(alphabet=st.characters()))
def test_junit_is_xml_whatever_a_library_says(text: str) -> None:
    ET.fromstring(report_junit(replace(REPORT, checks=(replace(FAILED, seen=text, name=text, hint=text),))))
