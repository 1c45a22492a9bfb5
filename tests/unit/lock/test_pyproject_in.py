"""pyproject.toml as an input: dependencies, extras, groups; errors name the table."""

from __future__ import annotations

import pytest

from envsolve.errors import InputError
from envsolve.lock.pyproject_in import offered, parse

PROJECT = """
[project]
name = "My_App"
requires-python = ">=3.11"
dependencies = ["torch>=2.6", 'numpy<3; python_version >= "3.11"']

[project.optional-dependencies]
Vision = ["torchvision", "my-app[image.io]"]
"image-io" = ["pillow"]
all = ["my.app[vision]", "rich"]

[dependency-groups]
test = ["pytest", {include-group = "lint"}]
lint = ["ruff"]
"""


def texts(text: str = PROJECT, **chosen: list[str]) -> list[str]:
    return [str(r) for r in parse(text, origin="pyproject.toml", **chosen).requirements]


def test_the_dependencies_alone() -> None:
    assert texts() == ["torch>=2.6", 'numpy<3; python_version >= "3.11"']


def test_an_extra_of_the_project_itself_stands_for_its_requirements() -> None:
    assert texts(extras=["ALL"])[2:] == ["torchvision", "pillow", "rich"]


def test_extras_that_name_each_other_end() -> None:
    text = '[project]\nname = "a"\n[project.optional-dependencies]\nx = ["a[y]", "six"]\ny = ["a[x]", "idna"]\n'
    assert texts(text, extras=["x"]) == ["six", "idna"]


def test_a_group_includes_others() -> None:
    assert texts(groups=["Test"])[2:] == ["pytest", "ruff"]


def test_the_projects_python_is_kept_with_its_place() -> None:
    ((place, python),) = parse(PROJECT, origin="a/pyproject.toml").pythons
    assert (place, str(python)) == ("a/pyproject.toml: project.requires-python", ">=3.11")


def test_what_it_offers() -> None:
    assert offered(PROJECT) == ({"vision", "image-io", "all"}, {"test", "lint"})
    assert offered("not TOML [") == (frozenset(), frozenset())


def test_groups_need_no_project() -> None:
    assert texts('[dependency-groups]\nx = ["six"]\n', groups=["x"]) == ["six"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [", "p.toml: "),
        ("[tool.x]\n", "p.toml has no [project] table"),
        ('[project]\ndependencies = ["six = 1"]\n', "p.toml: project.dependencies[0]: 'six = 1' is not a requirement"),
        ('[project]\ndependencies = "six"\n', "p.toml: project.dependencies is not a list"),
        ("[project]\ndependencies = [1]\n", "p.toml: project.dependencies[0]: not a requirement: 1"),
        ('[project]\ndynamic = ["dependencies"]\n', "p.toml: the project's dependencies are dynamic"),
        ('[project]\nrequires-python = "three"\n', "p.toml: project.requires-python: not a set of versions: 'three'"),
        ('project = "x"\n', "p.toml: project is not a table"),
    ],
)
def test_errors_say_where(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text, origin="p.toml")
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ('x = ["six = 1"]', "p.toml: dependency-groups: "),
        ('x = [{include-group = "y"}]\ny = [{include-group = "x"}]', "p.toml: dependency-groups: "),
        ('x = [{include-group = "absent"}]', "p.toml: dependency-groups: Dependency group 'absent' not found"),
    ],
)
def test_groups_that_make_no_sense(group: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(f"[dependency-groups]\n{group}\n", origin="p.toml", groups=["x"])
    assert caught.value.message.startswith(message)


def test_poetrys_own_tables_are_told_from_the_standard_ones() -> None:
    with pytest.raises(InputError) as caught:
        parse('[tool.poetry.dependencies]\ntorch = "2"\n', origin="p.toml")
    assert "poetry" in caught.value.hint


OWN = """
[project]
name = "app"
dependencies = ["torch", "app[base]"]
optional-dependencies.base = ["six"]
optional-dependencies.win = ["idna; python_version < '3.13'"]
optional-dependencies.all = ["app[win]; sys_platform == 'win32'"]
[dependency-groups]
dev = ["App[win]", "rich"]
"""


def test_the_project_itself_is_never_asked_of_an_index() -> None:
    assert texts(OWN) == ["torch", "six"]
    assert texts(OWN, groups=["dev"]) == ["torch", "six", 'idna; python_version < "3.13"', "rich"]


def test_the_marker_of_an_extra_binds_what_the_extra_holds() -> None:
    assert texts(OWN, extras=["all"])[2:] == ['idna; sys_platform == "win32" and python_version < "3.13"']
