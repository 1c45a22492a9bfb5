"""requirements.in: as pip reads it, with errors that name file and line."""

from __future__ import annotations

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import InputError
from envsolve.lock.requirements_in import Wishes, parse


def read(files: dict[str, str], start: str = "requirements.in", **variables: str) -> Wishes:
    def look_up(path: PurePath) -> str:
        if path.as_posix() not in files:
            raise InputError(f"{path} is not there")
        return files[path.as_posix()]

    return parse(files[start], origin=PurePath(start), read=look_up, variables=variables)


def texts(wishes: Wishes) -> list[str]:
    return [str(requirement) for requirement in wishes.requirements]


def test_comments_continuations_markers_and_extras() -> None:
    text = (
        "\ufeff# my project\n"
        "torch>=2.6   # the newest\n"
        "\n"
        "transformers[torch] \\\n"
        '    >=4.40 ; python_version < "4"\n'
        "foo @ https://host.example/foo-1.0-py3-none-any.whl#sha256=abc\n"
    )
    assert texts(read({"requirements.in": text})) == [
        "torch>=2.6",
        'transformers[torch]>=4.40; python_version < "4"',
        "foo @ https://host.example/foo-1.0-py3-none-any.whl#sha256=abc",
    ]


def test_a_hash_in_an_address_is_no_comment() -> None:
    (found,) = read({"requirements.in": "https://host.example/w/foo_bar-1.0-py3-none-any.whl#sha256=abc"}).requirements
    assert (found.name, found.url) == ("foo-bar", "https://host.example/w/foo_bar-1.0-py3-none-any.whl#sha256=abc")


def test_nested_files_are_relative_to_the_file_that_names_them() -> None:
    wishes = read(
        {
            "requirements.in": "-r more/base.in\n--constraint=caps.txt\nsix",
            "more/base.in": "-c caps.txt\nnumpy",
            "more/caps.txt": "numpy<2",
            "caps.txt": "six<2\n-r deeper.txt",
            "deeper.txt": "idna<4",
        }
    )
    assert texts(wishes) == ["numpy", "six"]
    assert [str(c) for c in wishes.constraints] == ["numpy<2", "six<2", "idna<4"]


def test_the_short_option_takes_its_file_without_a_blank() -> None:
    assert texts(read({"requirements.in": "-rbase.in", "base.in": "six"})) == ["six"]


def test_hashes_of_a_compiled_file_are_dropped() -> None:
    text = "six==1.17.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n    # via x\nidna==3.10 --hash=sha256:22\n"
    assert texts(read({"requirements.in": text})) == ["six==1.17.0", "idna==3.10"]


def test_variables_are_filled_in_where_they_are_known() -> None:
    text = "foo @ https://${HOST}/foo-1.0-py3-none-any.whl\nbar @ https://${NOPE}/b.whl"
    assert texts(read({"requirements.in": text}, HOST="host.example")) == [
        "foo @ https://host.example/foo-1.0-py3-none-any.whl",
        "bar @ https://${NOPE}/b.whl",
    ]


def test_a_file_that_includes_itself_by_another_path() -> None:
    with pytest.raises(InputError, match="includes itself"):
        read({"a/r.in": "-r ../a/r.in", "a/../a/r.in": "-r ../a/r.in"}, start="a/r.in")


@pytest.mark.parametrize("line", ['-r "more files/a.in"', "-r 'more files/a.in'", "--requirement=more files/a.in"])
def test_a_path_in_quotes(line: str) -> None:
    assert texts(read({"requirements.in": line, "more files/a.in": "six"})) == ["six"]


ADDRESS = "https://host.example/foo-1.0-py3-none-any.whl"


@pytest.mark.parametrize(
    "line",
    [f"foo@{ADDRESS}", f"foo @{ADDRESS}", f"foo@ {ADDRESS}", f"Foo [x]@{ADDRESS}", ADDRESS, f"{ADDRESS} ; os_name"],
)
def test_an_address_with_and_without_blanks_name_and_marker(line: str) -> None:
    (found,) = read({"requirements.in": line.replace("os_name", 'os_name == "nt"')}).requirements
    assert (found.name.lower(), found.url) == ("foo", ADDRESS)
    assert (found.marker is not None) == ("os_name" in line)


@pytest.mark.parametrize(
    ("files", "message", "hint"),
    [
        ({"requirements.in": "six\n\nfoo = 3"}, "requirements.in:3: 'foo = 3' is not a requirement", "one requirement"),
        ({"requirements.in": "-e ."}, "requirements.in:1: a project folder can't be locked", "list what it requires"),
        ({"requirements.in": "--extra-index-url https://x"}, "the option --extra-index-url", "--extra-index URL"),
        ({"requirements.in": "-f https://download.pytorch.org/whl/cu121"}, "the option -f", "finds the folder"),
        ({"requirements.in": "-r https://u:pw@x/a.in"}, "only files on disk are read: https://****@x/a.in", "download"),
        (
            {"requirements.in": "git+https://x/a.git"},
            "'git+https://x/a.git' is not a requirement",
            "address of a wheel",
        ),
        ({"requirements.in": "-f wheels"}, "requirements.in:1: the option -f", "--find-links PLACE"),
        ({"requirements.in": "--no-binary :all:"}, "the option --no-binary", "remove the line"),
        ({"requirements.in": "./foo-1.0.whl"}, "'./foo-1.0.whl' is not a requirement", "file:///path"),
        ({"requirements.in": "six\n-r gone.in"}, "requirements.in:2: gone.in is not there", ""),
        ({"requirements.in": "-r a.in", "a.in": "-r requirements.in"}, "a.in:1: requirements.in includes itself", ""),
        ({"requirements.in": "-c caps", "caps": "six[x]<2"}, "caps:1: a constraint can hold a version only", "six=="),
        ({"requirements.in": "six \\\n  <"}, "requirements.in:1:", ""),
    ],
)
def test_errors_name_file_and_line(files: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        read(files)
    assert message in caught.value.message
    assert hint in caught.value.hint


@given(st.lists(st.sampled_from(["six", "# c", "", "  idna>=3  # x", "foo[bar]<2", "a \\\n  >1"]), max_size=8))
def test_as_many_requirements_as_lines_that_hold_one(lines: list[str]) -> None:
    found = read({"requirements.in": "\n".join(lines)}).requirements
    assert len(found) == sum(line.strip() != "" and not line.startswith("#") for line in lines)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read({"requirements.in": text})
    except InputError as error:
        assert error.message.startswith("requirements.in:")
