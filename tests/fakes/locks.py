"""Locks made at random for round trips."""

from __future__ import annotations

from hashlib import sha256

from hypothesis import settings
from hypothesis import strategies as st
from packaging.version import Version

from envsolve.lock.lock import Lock, LockedFile, LockedPackage, LockHeader

SOME = settings(max_examples=40, deadline=None)  # a lock is large: as many examples as keep the suite quick

_HASHES = st.integers(0, 2**20).map(lambda number: sha256(str(number).encode()).hexdigest())
_NAMES = st.from_regex(r"[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,4})?", fullmatch=True)
_VERSIONS = st.sampled_from(["1.0", "2.11.0+cu128", "0.1a1", "3!1.0.post2", "26.4", "1.0.dev3"])
# One line each, without blanks at the ends: what a header line can hold.
_LINES = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=12).map(lambda s: f"x {s}: y")
_VIAS = st.lists(_NAMES, max_size=3, unique=True).map(lambda names: ("(asked)", *names))


@st.composite
def locked_files(draw: st.DrawFn, name: str, version: str) -> LockedFile:
    tag = draw(st.sampled_from(["py3-none-any", "cp312-cp312-manylinux_2_28_x86_64", "cp312-abi3-win_amd64"]))
    build = draw(st.sampled_from(["", "-1"]))
    filename = f"{name.replace('-', '_')}-{version}{build}-{tag}.whl"
    folder = draw(st.sampled_from(["https://host.example/whl/cu128", "file:///wheels"]))
    return LockedFile(
        filename=filename,
        url=f"{folder}/{filename.replace('+', '%2B').replace('!', '%21')}",
        sha256=draw(_HASHES),
        size=draw(st.none() | st.integers(1, 10**10)),
        hashed_here=draw(st.booleans()),
    )


@st.composite
def locked_packages(draw: st.DrawFn, name: str) -> LockedPackage:
    version, direct = draw(_VERSIONS), draw(st.booleans())
    files = draw(
        st.lists(
            locked_files(name, version),
            min_size=1,
            max_size=1 if direct else 3,
            unique_by=(lambda f: f.filename, lambda f: f.sha256),
        )
    )
    return LockedPackage(
        name=name,
        version=Version(version),
        files=tuple(files),
        direct=direct,
        via=draw(_VIAS),
        requires=tuple(draw(st.lists(_NAMES, max_size=2, unique=True))),
    )


@st.composite
def locks(draw: st.DrawFn) -> Lock:
    names = draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True))
    local = tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)))
    return Lock(
        header=LockHeader(
            command=draw(_LINES),
            target=draw(_LINES),
            gpus=tuple(draw(st.lists(_LINES, max_size=2))),
            rules=draw(_HASHES),
            envsolve="0.1.0",
            portable=not local,
            local=local,
            passed_over=tuple(draw(st.lists(_LINES, max_size=2))),
        ),
        python=draw(st.sampled_from(["3.9", "3.12"])),
        platform=draw(st.sampled_from(["linux_x86_64", "windows_amd64", "macos_arm64"])),
        variant=draw(st.sampled_from(["cu128", "cpu"])),
        index_url="https://download.pytorch.org/whl/cu128",
        packages=tuple(draw(locked_packages(name)) for name in sorted(names)),
    )
