"""One entry of a zip: the same bytes as zipfile finds, and hands off what is no plain zip."""

from __future__ import annotations

import io
import zipfile

from hypothesis import given
from hypothesis import strategies as st

from envsolve.index.wheel_tail import RangedFile
from envsolve.index.zip_entry import entries_named

SUFFIX = b".dist-info/METADATA"
_part = st.text(st.characters(categories=["L", "Nd"], include_characters="._-"), min_size=1, max_size=12)
_names = st.lists(
    st.one_of(
        st.builds("{}/{}.py".format, _part, _part),
        st.builds("{}.dist-info/METADATA".format, _part),
        st.builds("{}/_vendor/{}.dist-info/METADATA".format, _part, _part),
        st.builds("{}.dist-info/METADATA.txt".format, _part),
    ),
    unique=True,
    max_size=12,
)


def _zipped(names: list[str], comment: bytes, compression: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        archive.comment = comment
        for name in names:
            archive.writestr(name, f"the content of {name}" * 5)
    return made.getvalue()


def _ranged(content: bytes, tail: int) -> RangedFile:
    return RangedFile(len(content), content[-tail:], lambda start, stop: content[start:stop])


@given(
    _names,
    st.binary(max_size=60),
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    st.integers(min_value=1, max_value=4000),
)
def test_each_entry_of_that_name_is_found_with_its_content(
    names: list[str], comment: bytes, compression: int, tail: int
) -> None:
    content = _zipped(names, comment, compression)
    if content.rfind(b"PK\x05\x06") != len(content) - 22 - len(comment):
        return  # the comment itself looks like the end of a zip: zipfile can't read it either
    found = {}
    for name, zipped in entries_named(_ranged(content, tail), SUFFIX):
        with zipfile.ZipFile(zipped) as archive:
            assert archive.namelist() == [name]
            found[name] = archive.read(name).decode()
    assert found == {name: f"the content of {name}" * 5 for name in names if name.encode().endswith(SUFFIX)}


@given(st.binary(max_size=300))
def test_rubbish_has_no_entries(rubbish: bytes) -> None:
    assert list(entries_named(_ranged(rubbish, 64), SUFFIX)) == []


def test_a_zip_with_64_bit_fields_is_left_to_zipfile() -> None:
    content = bytearray(_zipped(["a.dist-info/METADATA"], b"", zipfile.ZIP_STORED))
    content[-6:-2] = b"\xff\xff\xff\xff"  # where the table is: "see the 64-bit record"
    assert list(entries_named(_ranged(bytes(content), 64), SUFFIX)) == []


def test_a_zip_with_something_in_front_is_left_to_zipfile() -> None:
    content = b"#!/bin/sh\n" + _zipped(["a.dist-info/METADATA"], b"", zipfile.ZIP_STORED)
    assert list(entries_named(_ranged(content, 64), SUFFIX)) == []
