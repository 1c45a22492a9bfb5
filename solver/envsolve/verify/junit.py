"""A report as JUnit XML, which CI systems show as tests."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from envsolve.regex import regex
from envsolve.verify.report import Check, Report

# What XML 1.0 can't hold, escaped or not; a crashed library says anything.
_NOT_XML = regex("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report_junit(report: Report) -> str:
    """The report as one test suite; each check is a test case."""
    outcomes = [check.outcome for check in report.checks]
    counts = {
        "name": "envsolve verify",
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("failed")),
        "errors": "0",
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(check.seconds for check in report.checks):.3f}",
    }
    suites = ET.Element("testsuites")
    suite = ET.SubElement(suites, "testsuite", counts)
    properties = ET.SubElement(suite, "properties")
    known = {"environment": report.environment, "python": report.python, "torch": report.torch}
    for name, value in {**known, "verified": str(report.verified).lower()}.items():
        ET.SubElement(properties, "property", {"name": name, "value": _clean(value)})
    suite.extend(_case(check) for check in report.checks)
    ET.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _case(check: Check) -> ET.Element:
    case = ET.Element(
        "testcase", {"classname": "envsolve.verify", "name": _clean(check.name), "time": f"{check.seconds:.3f}"}
    )
    if check.outcome == "failed":
        failure = ET.SubElement(case, "failure", {"message": _clean(check.seen)})
        failure.text = _clean(f"expected: {check.expected}\nseen: {check.seen}\nhint: {check.hint}")
    elif check.outcome == "skipped":
        ET.SubElement(case, "skipped", {"message": _clean(check.seen)})
    else:
        ET.SubElement(case, "system-out").text = _clean(f"expected: {check.expected}\nseen: {check.seen}")
    return case


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
