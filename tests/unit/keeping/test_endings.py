"""What ends: by the calendar that the caller gives and by the rules, each with how sure they are."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.keeping.driver_end import driver_endings
from envsolve.keeping.endings import endings
from envsolve.keeping.finding import PROBLEMS, WARNINGS, Finding
from envsolve.keeping.last_wheels import of_cards, of_variant
from envsolve.keeping.month import months_until, told
from envsolve.machine.machine import Machine
from envsolve.machine.target import read_target
from envsolve.resolve.scenarios import know
from envsolve.rulebook.load import load
from fakes.stub_locks import stub_lock

RULES = load()
DAY = date(2026, 12, 1)


def machine(text: str) -> Machine:
    return know(read_target(f"{text},python=3.12,os=linux,arch=x86_64"), RULES).machine


def driver(text: str, today: date = DAY, ahead: int = 6) -> list[Finding]:
    return list(driver_endings(machine(text), RULES, today=today, ahead=ahead))


@given(day=st.dates(date(2000, 1, 1), date(2099, 1, 1)), ahead=st.integers(-60, 60))
def test_months(day: date, ahead: int) -> None:
    year, month = divmod(day.year * 12 + day.month - 1 + ahead, 12)
    text = f"{year}-{month + 1:02}"
    assert months_until(text, day) == ahead
    assert text in told(text, day)


def test_months_in_words() -> None:
    assert told("2026-11", DAY) == "ended 2026-11"
    assert told("2026-12", date(2026, 12, 31)) == "ends this month, 2026-12"
    assert told("2027-01", DAY) == "ends 2027-01, in 1 month"
    assert told("2027-02", DAY) == "ends 2027-02, in 2 months"


@pytest.mark.parametrize(
    ("text", "code", "hint"),
    [
        ("RTX 4090,driver=535.183.01", "driver-ended", "R620 (LTS) is kept until 2029-09"),
        ("RTX 4090,driver=595.71.05", "driver-ending", "R620 (LTS) is kept until 2029-09"),
        ("RTX 4090,driver=550.54.14", "driver-ended", "R620 (LTS) is kept until 2029-09"),
        ("GTX 1080 Ti,driver=535.183.01", "driver-ended", "R580 (LTS) is kept until 2028-06"),
        ("Tesla K80,driver=470.82.01", "driver-ended", "R470 is the last branch that drives the card"),
        ("RTX 4090,driver=580.65.06", None, ""),
        ("RTX 4090,driver=620.70.06", None, ""),
        ("RTX 4090,driver=615.10", None, ""),  # its end is in no rule: nothing is said
        ("RTX 4090", None, ""),
        ("Radeon RX 7900 XTX,driver=535.183.01", None, ""),
    ],
)
def test_driver_branches(text: str, code: str | None, hint: str) -> None:
    found = driver(text)
    assert [finding.code for finding in found] == ([code] if code else [])
    assert all(finding.hint.startswith(hint) and finding.source and finding.certainty for finding in found)


def test_an_end_whose_month_is_not_known_says_so() -> None:
    (finding,) = driver("RTX 4090,driver=550.54.14")
    assert finding.text == "driver 550.54.14: branch R550 is past its end (the month is not in the rules)"
    (older,) = driver("Tesla K80,driver=470.82.01")
    assert older.certainty == "medium"


def test_how_early_is_the_callers_choice() -> None:
    assert driver("RTX 4090,driver=580.65.06", date(2028, 5, 31), ahead=0) == []
    assert [f.code for f in driver("RTX 4090,driver=580.65.06", date(2028, 6, 30), ahead=0)] == ["driver-ending"]
    assert [f.code for f in driver("RTX 4090,driver=580.65.06", date(2028, 7, 1), ahead=0)] == ["driver-ended"]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("GTX 1080 Ti", "GTX 1080 Ti (6.1): torch 2.14.1 (cu126) is the last"),
        ("Tesla V100", "Tesla V100 (7.0): torch 2.14.1 (cu126) is the last"),
        ("Tesla K80", "Tesla K80 (3.7): torch 2.7.1 (cu118) is the last"),
        ("GTX 1060 + RTX 4090", "GTX 1060 (6.1): torch 2.14.1 (cu126) is the last"),
        ("Tesla T4", None),
        ("RTX 4090", None),
        ("RTX 5090", None),
        ("GB10", None),
        ("H100", None),
        # ROCm: a rule says that newer rocBLAS lacks the target, whatever list the newest wheels have
        ("MI50", "MI50 (gfx906): torch 2.9.1 (rocm6.3) is the last"),
        ("Radeon VII", "Radeon VII (gfx906): torch 2.9.1 (rocm6.3) is the last"),
        ("RX 7900 XTX", None),
        ("RX 6700 XT", None),
    ],
)
def test_cards_whose_last_wheel_is_published(text: str, last: str | None) -> None:
    found = list(of_cards(machine(text), RULES.builds_on("linux_x86_64"), RULES))
    assert [finding.text.split(" with kernels")[0] for finding in found] == ([last] if last else [])
    assert all(("source-build" in finding.hint) == ("gfx" not in finding.text) for finding in found)


def test_of_a_card_that_is_not_known_nothing_is_said() -> None:
    assert list(of_cards(machine("driver=580.65.06"), RULES.builds_on("linux_x86_64"), RULES)) == []


def test_where_the_newest_wheels_were_not_read_nothing_is_said() -> None:
    builds = RULES.builds_on("linux_x86_64")
    top = max(build.torch for build in builds)
    unread = tuple(replace(b, targets_known=b.targets_known and b.torch != top) for b in builds)
    assert list(of_cards(machine("GTX 1080 Ti"), unread, RULES)) == []


def test_variants() -> None:
    builds = RULES.builds_on("linux_x86_64")
    (cu128,) = of_variant("cu128", builds, RULES)
    assert cu128.text == "cu128: torch 2.11.0 is the last that is published with it, 2.15.0 is not"
    assert cu128.certainty == "high" and cu128.source.startswith("pytorch/pytorch#179072")
    for kept in ("cu130", "cu132", "cpu", "xpu", "cu999"):
        assert list(of_variant(kept, builds, RULES)) == []


@pytest.mark.parametrize(
    ("python", "day", "codes"),
    [
        ("3.10", DAY, ["python-ended", "python-last-wheel"]),
        ("3.11", DAY, []),
        ("3.11", date(2027, 5, 1), ["python-ending"]),
        ("3.13t", DAY, []),
        ("3.16", DAY, []),  # too new: that is for the fit to say
    ],
)
def test_pythons(python: str, day: date, codes: list[str]) -> None:
    lock = replace(stub_lock({}, [], python=python, target="linux_x86_64"), variant="cpu")
    found = list(endings(lock, machine("vendor=none"), RULES, today=day))
    assert [finding.code for finding in found] == codes
    assert all(finding.certainty in ("high", "medium", "low") and finding.source for finding in found)


def test_the_last_wheel_for_a_python_is_named() -> None:
    lock = replace(stub_lock({}, [], python="3.9", target="linux_x86_64"), variant="cpu")
    (finding,) = (f for f in endings(lock, machine("vendor=none"), RULES, today=DAY) if f.code == "python-last-wheel")
    assert finding.text == "torch 2.15.0 has no build for Python 3.9: 2.8.0 is the last"
    assert finding.hint == "Python 3.11 or newer"


def test_every_code_that_is_given_is_explained() -> None:
    import re
    from pathlib import Path

    import envsolve.cli.checking
    import envsolve.keeping.finding as room

    sources = [*Path(str(room.__file__)).parent.glob("*.py"), Path(str(envsolve.cli.checking.__file__))]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    given = set(re.findall(r'code="([a-z-]+)"', text)) | {"driver-ended", "driver-ending"}
    given |= set(re.findall(r'code = "([a-z-]+)" if left < 0 else "([a-z-]+)"', text).pop())
    assert given == {*PROBLEMS, *WARNINGS}
