"""What an index lists, and what of it the rules lack."""

from __future__ import annotations

import pytest
from packaging.version import Version

from envsolve.index.page import Link
from envsolve.rulebook.load import load
from envsolve.updating.listed import Listed, listed
from envsolve.updating.news import news

BASE = "https://mirror.example/whl"


def link(path: str, *, base: str = BASE, metadata: str | None = "") -> Link:
    return Link(path.rpartition("/")[2], f"{base}/{path.replace('+', '%2B')}", None, metadata)


def one(*paths: str, page: str = "") -> Listed:
    [entry] = listed([link(path) for path in paths], page)
    return entry


def test_files_of_one_build_are_one_entry() -> None:
    entry = one(
        "cu134/torch-2.16.0+cu134-cp311-cp311-manylinux_2_28_x86_64.whl",
        "cu134/torch-2.16.0+cu134-cp39-cp39-manylinux_2_28_x86_64.whl",
        "cu134/torch-2.16.0+cu134-cp314-cp314t-manylinux_2_28_x86_64.whl",
    )
    assert entry.key == ("torch", Version("2.16.0"), "cu134", "linux_x86_64")
    assert (entry.pythons, entry.freethreaded) == (("3.9", "3.11"), ("3.14",))
    assert (entry.glibc, entry.local_tag, entry.metadata) == ("2.28", True, True)


@pytest.mark.parametrize(
    ("tag", "platform", "glibc"),
    [
        ("cp38-cp38-linux_x86_64", "linux_x86_64", ""),
        ("cp38-cp38-manylinux1_x86_64", "linux_x86_64", "2.5"),
        ("cp312-cp312-manylinux2014_aarch64", "linux_aarch64", "2.17"),
        ("cp312-cp312-manylinux_2_27_x86_64.manylinux_2_28_x86_64", "linux_x86_64", "2.27"),
        ("cp312-cp312-win_amd64", "windows_amd64", ""),
        ("cp312-cp312-win_arm64", "windows_arm64", ""),
        ("cp312-none-macosx_11_0_arm64", "macos_arm64", ""),
        ("cp38-none-macosx_10_9_x86_64", "macos_x86_64", ""),
    ],
)
def test_platforms_are_named_as_in_the_rules(tag: str, platform: str, glibc: str) -> None:
    entry = one(f"cpu/torch-2.5.1-{tag}.whl")
    assert (entry.platform, entry.glibc, entry.local_tag) == (platform, glibc, False)


@pytest.mark.parametrize(
    "path",
    [
        "torch-1.13.1-cp310-cp310-manylinux1_x86_64.whl",  # the root: on every page
        "cu121_full/torch-2.5.1+cu121-cp310-cp310-linux_x86_64.whl",
        "nightly/cu134/torch-2.17.0.dev20261201+cu134-cp312-cp312-linux_x86_64.whl",
        "cu128/torch-2.9.1+cu126-cp312-cp312-linux_x86_64.whl",  # another variant's label
        "cu128/triton-3.5.1-cp312-cp312-linux_x86_64.whl",
        "cu128/torch-2.9.1.tar.gz",
        "cu128/torch-2.9.1+cu128-cp312-cp312-linux_x86_64-cu128.whl",  # a sixth part
    ],
)
def test_what_is_no_build_of_a_variant_is_left_out(path: str) -> None:
    assert listed([link(path)]) == ()


def test_mirrors_with_folders_of_their_own() -> None:
    assert one("cu128/torch/torch-2.9.1+cu128-cp312-cp312-win_amd64.whl").variant == "cu128"
    assert one("files/ab/cd/torch-2.9.1+cu128-cp312-cp312-win_amd64.whl", page="cu128").variant == "cu128"


def test_news_are_what_the_rules_lack() -> None:
    rules = load()
    entries = listed(
        link(path)
        for path in (
            "cu130/torch-2.9.1+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",  # known
            "cu130/torch-2.9.1+cu130-cp319-cp319-manylinux_2_28_x86_64.whl",  # known, for a new Python
            "cu130/torch-2.16.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
            "cu134/torch-2.15.0+cu134-cp312-cp312-manylinux_2_28_x86_64.whl",
            "cu130/torchvision-0.31.0+cu130-cp312-cp312-manylinux_2_28_x86_64.whl",
            "cu92/torch-0.4.1-cp37-cp37m-linux_x86_64.whl",  # older than the rules
        )
    )
    found = news(entries, rules)
    assert found.releases == (Version("2.16.0"),)
    assert [(str(b.version), b.variant) for b in found.builds] == [("2.15.0", "cu134"), ("2.16.0", "cu130")]
    assert [(str(c.version), c.variant) for c in found.companions] == [("0.31.0", "cu130")]
    assert [(p.listed.variant, p.pythons) for p in found.pythons] == [("cu130", ("3.19",))]
    assert not news((), rules)
