"""Pages: every form of the PyTorch index, PEP 503 as others write it, PEP 691."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import OutsideError
from envsolve.index.page import JSON_TYPE, Link
from envsolve.index.page_reader import parse_page
from envsolve.settings import PYTORCH_HOSTS
from fakes.index_pages import Link as FakeLink
from fakes.index_pages import file_page, simple_json, simple_page

BASE = "https://index.example"
SHA, META = "ab" * 32, "cd" * 32
NAME = "torch-9.1.0+cu128-cp312-cp312-win_amd64.whl"


def _fake(form: str, **changes: object) -> FakeLink:
    fields = {"path": f"/whl/cu128/{NAME}", "filename": NAME, "sha256": SHA, "metadata_sha256": META, "size": 10}
    return FakeLink(form=form, **(fields | changes))  # type: ignore[arg-type]


def _parse(text: str, kind: str = "text/html", url: str = f"{BASE}/whl/cu128/torch/") -> list[Link]:
    return parse_page(text.encode(), kind, url)


@pytest.mark.parametrize(
    ("form", "sha256", "metadata"),
    [
        ("A", SHA, META),
        ("B", SHA, META),
        ("C", SHA, None),
        ("D", None, META),
        ("E", None, META),
        ("F", SHA, None),
        ("G", SHA, META),
        ("H", SHA, None),
        ("I", SHA, None),
    ],
)
def test_every_form_gives_name_address_and_the_hashes_it_has(
    form: str, sha256: str | None, metadata: str | None
) -> None:
    [link] = _parse(file_page("torch", [_fake(form)], BASE))
    assert link.filename == NAME
    assert link.url == f"{BASE}/whl/cu128/{NAME.replace('+', '%2B')}"
    assert (link.sha256, link.metadata) == (sha256, metadata)


def test_the_hash_of_metadata_is_never_taken_for_the_wheels() -> None:
    [link] = _parse(file_page("torch", [_fake("D")], BASE))
    assert link.sha256 is None and link.metadata == META


def test_both_hosts_of_the_pytorch_index_are_one() -> None:
    first, second = PYTORCH_HOSTS
    for host in (first, second):
        [link] = _parse(file_page("torch", [_fake("B")], f"https://{host}"))
        assert link.url.startswith(f"https://{first}/whl/cu128/torch-9.1.0%2B")


def test_requires_python_and_yanked_are_unescaped() -> None:
    fake = _fake("G", requires_python=">=3.9,<3.14", yanked='see "news" & <more>')
    for text in (file_page("x", [fake], BASE), simple_page("x", [fake], BASE)):
        [link] = _parse(text)
        assert (link.requires_python, link.yanked) == (">=3.9,<3.14", 'see "news" & <more>')
    [link] = _parse(simple_json("x", [fake], BASE), JSON_TYPE)
    assert (link.requires_python, link.yanked, link.size) == (">=3.9,<3.14", 'see "news" & <more>', 10)


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ("<a href='x-1-py3-none-any.whl'>x</a>", f"{BASE}/whl/cu128/torch/x-1-py3-none-any.whl"),
        ("<A HREF=../x-1-py3-none-any.whl>x</A>", f"{BASE}/whl/cu128/x-1-py3-none-any.whl"),
        ('<a data-requires-python=">=3.8"\n  href="/x-1-py3-none-any.whl">x</a>', f"{BASE}/x-1-py3-none-any.whl"),
        (
            '<a href="x-1-py3-none-any.whl?token=1#sha256=0">x</a>',
            f"{BASE}/whl/cu128/torch/x-1-py3-none-any.whl?token=1",
        ),
        ('<a href="//cdn.example/x-1-py3-none-any.whl">x</a>', "https://cdn.example/x-1-py3-none-any.whl"),
        (
            '<a rel=internal href="https://u:p@h.example/x-1-py3-none-any.whl">x</a>',
            "https://h.example/x-1-py3-none-any.whl",
        ),
    ],
)
def test_links_as_other_servers_write_them(anchor: str, expected: str) -> None:
    [link] = _parse(f"<html><body>{anchor}</body></html>")
    assert (link.filename, link.url) == ("x-1-py3-none-any.whl", expected)


def test_comments_and_a_base_are_read() -> None:
    text = (
        f'<html><head><base href="{BASE}/other/"></head><body><!-- <a href="old-1-py3-none-any.whl">old</a> -->'
        '<a href="new-1-py3-none-any.whl">new</a></body></html><!--TIMESTAMP 1-->'
    )
    assert [link.url for link in _parse(text)] == [f"{BASE}/other/new-1-py3-none-any.whl"]


def test_links_that_are_no_packages_are_left_out() -> None:
    text = '<h1>Links for x</h1><a href="cu128/">cu128/</a><a href="x-1.egg">x</a><a name="top">top</a>'
    assert _parse(text) == []


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("<html><body>Please log in</body></html>", "text/html"),
        ("", "text/html"),
        ("{", JSON_TYPE),
        ('{"files": []}', JSON_TYPE),
        ('{"meta": {"api-version": "1.0"}, "files": [{}]}', JSON_TYPE),
        ("<html><body>Please log in</body></html>", JSON_TYPE),
        ('{"meta": {"api-version": "2.0"}, "files": []}', JSON_TYPE),
        ('<meta name="pypi:repository-version" content="2.0">', "text/html"),
    ],
)
def test_what_is_no_index_page_is_refused(body: str, kind: str) -> None:
    with pytest.raises(OutsideError, match="index"):
        _parse(body, kind)


def test_an_error_about_a_page_shows_no_password() -> None:
    with pytest.raises(OutsideError) as caught:
        _parse("nothing", url="https://user:secret@index.example/simple/x/")
    assert "secret" not in caught.value.message and "index.example" in caught.value.message


def test_json_as_older_servers_write_it() -> None:
    file = {"filename": "x-1.tar.gz", "url": "../x-1.tar.gz", "hashes": {"md5": "0"}, "yanked": True}
    page = {"meta": {"api-version": "1.0"}, "name": "x", "files": [file | {"dist-info-metadata": True}]}
    [link] = _parse(json.dumps(page), JSON_TYPE, f"{BASE}/simple/x/")
    assert link == Link("x-1.tar.gz", f"{BASE}/simple/x-1.tar.gz", None, "", None, "", None)


_WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\x85"), max_size=30)


@given(requires=_WORDS, reason=_WORDS)
def test_html_and_json_say_the_same(requires: str, reason: str) -> None:
    fake = _fake("G", requires_python=requires, yanked=reason)
    [from_html] = _parse(simple_page("x", [fake], BASE))
    [from_json] = _parse(simple_json("x", [fake], BASE), JSON_TYPE)
    assert from_html.requires_python == from_json.requires_python
    assert from_html.url == from_json.url
    assert from_html.yanked == reason


@given(st.binary(max_size=300))
def test_any_bytes_give_links_or_an_error(body: bytes) -> None:
    try:
        links = parse_page(body, "text/html", f"{BASE}/x/")
    except OutsideError:
        return
    assert all(isinstance(link, Link) for link in links)
