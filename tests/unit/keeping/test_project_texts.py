"""What init adds to the files of others: pyproject.toml, README.md, and the CI step of its own."""

from __future__ import annotations

import tomllib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import InputError
from envsolve.keeping.pyproject_edit import with_dependencies
from envsolve.keeping.readme_section import END, START, JudgedFor, with_section
from envsolve.keeping.workflow import workflow_text

ROW = JudgedFor(machine="RTX 4090 | x", python="3.12", torch="2.11.0+cu128", runs="native", lock="a.txt")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('[project]\nname = "a"\n', '[project]\ndependencies = ["torch"]\nname = "a"\n'),
        ("[project]", '[project]\ndependencies = ["torch"]\n'),
        ("[project]\ndependencies = []\n", '[project]\ndependencies = ["torch"]\n'),
        ('[project]\ndependencies = ["six"]\n', '[project]\ndependencies = ["torch", "six"]\n'),
        ("[project]\ndependencies = [ ] # x\n", '[project]\ndependencies = ["torch" ] # x\n'),
        ("[project]\ndependencies = [\n]\n", '[project]\ndependencies = [\n    "torch",\n]\n'),
        (
            "[project]\ndependencies = [ # ours ]\n\t'six', # [x]\n]\n",
            "[project]\ndependencies = [ # ours ]\n\t\"torch\",\n\t'six', # [x]\n]\n",
        ),
        (
            '[tool.x]\ndependencies = ["a"]\n[project] # here\n"dependencies" = [\n"b"]\n',
            '[tool.x]\ndependencies = ["a"]\n[project] # here\n"dependencies" = [\n"torch",\n"b"]\n',
        ),
        (
            '[project]\nname = "a"\n[tool.x]\ndependencies = ["b"]\n',
            '[project]\ndependencies = ["torch"]\nname = "a"\n[tool.x]\ndependencies = ["b"]\n',
        ),
        (
            "[project]\r\ndependencies = [\r\n  'six',\r\n]\r\n",
            "[project]\r\ndependencies = [\r\n  \"torch\",\r\n  'six',\r\n]\r\n",
        ),
    ],
)
def test_only_the_requirement_is_added(before: str, after: str) -> None:
    assert with_dependencies(before, ["torch"], origin="pyproject.toml") == after


@pytest.mark.parametrize(
    "text",
    [
        '[tool.poetry]\nname = "a"\n',
        '[project]\ndynamic = ["dependencies"]\n',
        'project = { name = "a", dependencies = ["six"] }\n',
        'project.dependencies = ["six"]\n',
        "[project]\ndescription = '''\ndependencies = [\n'''\ndependencies = ['six']\n",
    ],
)
def test_what_can_not_be_added_to_safely_is_said_and_left(text: str) -> None:
    with pytest.raises(InputError) as caught:
        with_dependencies(text, ["torch>=2"], origin="pyproject.toml")
    assert caught.value.hint == 'add to project.dependencies yourself: "torch>=2"'


@given(
    there=st.lists(st.sampled_from(["six", "a>=1 ; python_version > '3'", "b[c]", 'q"x']), max_size=3),
    shape=st.sampled_from([", ", ",\n    ", " , "]),
    more=st.lists(st.sampled_from(["torch", "torch>=2,<3", "x @ https://host.example/x.whl"]), min_size=1, max_size=2),
)
def test_the_file_says_what_it_said_and_the_new_ones(there: list[str], shape: str, more: list[str]) -> None:
    import json

    text = f'x = 1\n[project]\nname = "a"\ndependencies = [{shape.join(map(json.dumps, there))}]\n[y]\nz = 2\n'
    found = tomllib.loads(with_dependencies(text, more, origin="p"))
    assert found["project"].pop("dependencies") == [*more, *there]
    assert found == {"x": 1, "project": {"name": "a"}, "y": {"z": 2}}


@given(text=st.text(st.sampled_from("a\n# |"), max_size=20), newline=st.sampled_from(["\n", "\r\n"]))
def test_the_section_is_added_once_and_the_rest_stays(text: str, newline: str) -> None:
    text = text.replace("\n", newline)
    once = with_section(text, [ROW])
    assert once.startswith(text) and once.count(START) == once.count(END) == 1
    assert with_section(once, [ROW]) == once


def test_the_section_is_written_anew_where_it_stands() -> None:
    text = f"# app\r\n\r\n{START}\r\nold\r\n{END}\r\n\r\n## More\r\n"
    made = with_section(text, [ROW])
    assert made.startswith(f"# app\r\n\r\n{START}\r\n## Tested on\r\n")
    assert made.endswith(f"{END}\r\n\r\n## More\r\n")
    assert "old" not in made and "RTX 4090 \\| x" in made and "\n" not in made.replace("\r\n", "")


def test_the_workflow_runs_check() -> None:
    workflow = yaml.safe_load(workflow_text())
    assert workflow["jobs"]["check"]["steps"][-1] == {"run": "envsolve check --format github"}
    assert workflow["permissions"] == {"contents": "read"}
