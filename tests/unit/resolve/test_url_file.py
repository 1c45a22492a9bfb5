"""Requirements that name the address of a wheel."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.errors import InputError
from envsolve.resolve.url_file import url_file

HASH = "ab" * 32


def test_name_version_and_hash_are_read_from_the_address() -> None:
    file = url_file(
        Requirement(f"My.App @ https://user:secret@host.example/w/my_app-1.0%2Bcu128-py3-none-any.whl#sha256={HASH}")
    )
    assert (file.name, file.version, file.sha256) == ("my-app", Version("1.0+cu128"), HASH)
    assert file.url == "https://host.example/w/my_app-1.0%2Bcu128-py3-none-any.whl"


def test_other_parts_of_the_fragment_and_a_query_do_no_harm() -> None:
    file = url_file(Requirement(f"app @ https://host.example/app-1.0-py3-none-any.whl?x=1#egg=app&sha256={HASH}"))
    assert (file.filename, file.sha256) == ("app-1.0-py3-none-any.whl", HASH)
    assert url_file(Requirement("app @ file:///w/app-1.0-py3-none-any.whl")).sha256 is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("app @ git+https://host.example/app.git", "only the address of a wheel"),
        ("app @ git+https://host.example/app-1.0-py3-none-any.whl", "only the address of a wheel"),
        ("app @ ./app-1.0-py3-none-any.whl", "only the address of a wheel"),
        ("app @ file:app-1.0-py3-none-any.whl", "not an absolute path"),
        ("app @ https://host.example/app-1.0.tar.gz", "only the address of a wheel"),
        ("app @ https://host.example/other-1.0-py3-none-any.whl", "the file is of other"),
    ],
)
def test_what_is_no_wheel_of_the_package(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        url_file(Requirement(text))
