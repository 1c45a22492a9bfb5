"""Cases of every kind that people have, with the right answers: by the plain oracle (fakes/plain_oracle.py) where it
knows the kind, else by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from envsolve.machine.machine import Machine
from envsolve.machine.profile import parse_profile
from envsolve.resolve.answer_json import as_json
from envsolve.resolve.answer_text import as_text
from envsolve.resolve.plan import Answer
from envsolve.resolve.planner import plan
from envsolve.resolve.request import Request
from envsolve.rulebook.load import load

FILE = Path(__file__).parents[2] / "fixtures" / "plan_cases.jsonl"
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
HOST = Machine(os="linux", arch="x86_64", python="3.11")


def answer(case: dict[str, Any]) -> Answer:
    machine = parse_profile(json.dumps(case["profile"]), host=HOST)
    requirements = tuple(Requirement(text) for text in case["requirements"])
    options = case["options"]
    request = Request(
        requirements=requirements, variant=options["variant"], gpus=options["gpus"], target="machine.json"
    )
    return plan(machine, request, load())


def codes(entries: list[dict[str, Any]]) -> set[str]:
    return {entry["code"] for entry in entries}


def decisive(rejected: list[dict[str, Any]]) -> set[str]:
    """The first reason of each build."""
    first: dict[tuple[str, str], str] = {}
    for entry in rejected:
        first.setdefault((entry["torch"], entry["variant"]), entry["code"])
    return set(first.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_answer_is_right(case: dict[str, Any]) -> None:
    found, right = as_json(answer(case)), case["expect"]
    assert found["status"] == right["status"], found["rejected"][:3]
    if found["status"] == "solved":
        _check_solved(found, right)
    if found["status"] == "needs-input":
        assert all(missing["how"] for missing in found["missing"]) and found["missing"]
    if found["status"] == "no-solution":
        _check_refused(found, right)


KEYS = {
    "schema", "status", "variant", "index_url", "python", "packages", "unresolved", "fits", "notes", "missing",
    "rejected", "remedies",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_the_json_lacks_nothing_and_the_explanation_says_all_of_it(case: dict[str, Any]) -> None:
    found = answer(case)
    told, text = as_json(found), " ".join(as_text(found, explain=True).split())
    assert told.keys() >= KEYS
    assert all(f"{package['name']} {package['version']}" in text for package in told["packages"])
    assert told["index_url"] is None or told["index_url"] in text
    assert all(note["text"] in text for note in told["notes"])
    assert all(missing["how"] in text for missing in told["missing"])
    assert all(name in text for name in told["unresolved"])
    for row in told["rejected"]:
        assert f"{'torch' if row['variant'] == 'any' else row['variant']} {row['torch']}: {row['text']}" in text
    commands = {remedy["command"]: remedy["text"] for remedy in reversed(told["remedies"]) if remedy["command"]}
    for remedy in told["remedies"]:  # of two with one command the first is shown
        assert commands.get(remedy["command"], remedy["text"]) in text
        assert all(line in text for line in remedy["command"].splitlines())


def _check_solved(found: dict[str, Any], right: dict[str, Any]) -> None:
    versions = {package["name"]: package["version"] for package in found["packages"]}
    assert versions["torch"].partition("+")[0] == right.get("torch", versions["torch"].partition("+")[0])
    assert found["variant"] == right.get("variant", found["variant"])
    labels = {version.partition("+")[2] for version in versions.values()} - {""}
    assert labels <= {found["variant"]}
    if "verdicts" in right:
        assert [fit["verdict"] for fit in found["fits"]] == right["verdicts"]
    assert set(right.get("unresolved", ())) <= set(found["unresolved"])
    assert set(right.get("notes", ())) <= codes(found["notes"])


def _check_refused(found: dict[str, Any], right: dict[str, Any]) -> None:
    assert found["guilty"] and found["rejected"]
    if "reasons" in right:
        assert codes(found["rejected"]) & set(right["reasons"])
        assert decisive(found["rejected"]) - {"pinned-away", "no-wheel"} <= set(right["reasons"])
    remedies = codes(found["remedies"])
    assert set(right.get("remedies", ())) <= remedies
    assert not set(right.get("not_remedies", ())) & remedies
    texts = " ".join(remedy["text"] for remedy in found["remedies"])
    assert right.get("remedy_text", "") in texts
    assert "remedy_text_not" not in right or right["remedy_text_not"] not in texts
    if "choices" in right:
        assert [choice["gpus"] for choice in found["choices"]] == right["choices"]
