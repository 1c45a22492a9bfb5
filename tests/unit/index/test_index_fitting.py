"""Which files may fit a target, told from their names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.tags import Tag
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from envsolve.index.fitting import Target, sdist_version, split_wheel_name
from envsolve.index.page import Link
from envsolve.index.release_file import folder_of, release_file

LINUX = Target(python="3.12", platform="linux_x86_64")


@pytest.mark.parametrize(
    ("tag", "fits"),
    [
        ("cp312-cp312-manylinux_2_28_x86_64", True),
        ("cp312-cp312-linux_x86_64", True),
        ("cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64", True),
        ("cp312-cp312-musllinux_1_2_x86_64", True),  # the C library is the resolver's question
        ("cp39-abi3-manylinux_2_28_x86_64", True),
        ("cp313-abi3-manylinux_2_28_x86_64", False),
        ("cp311-cp311-manylinux_2_28_x86_64", False),
        ("cp311.cp312-none-any", True),
        ("py3-none-any", True),
        ("py2.py3-none-any", True),
        ("py2-none-any", False),
        ("py313-none-any", False),
        ("py311-none-any", True),
        ("py3-none-manylinux1_x86_64", True),
        ("cp312-cp312-manylinux_2_28_aarch64", False),
        ("cp312-cp312-win_amd64", False),
        ("cp312-none-macosx_11_0_arm64", False),
    ],
)
def test_linux(tag: str, fits: bool) -> None:
    assert LINUX.fits(f"torch-2.11.0+cu128-{tag}.whl") is fits


@pytest.mark.parametrize(
    ("platform", "tag", "fits"),
    [
        ("windows_amd64", "win_amd64", True),
        ("windows_amd64", "win32", False),
        ("windows_amd64", "win_arm64", False),
        ("windows_arm64", "win_arm64", True),
        ("macos_arm64", "macosx_11_0_arm64", True),
        ("macos_arm64", "macosx_10_9_universal2", True),
        ("macos_arm64", "macosx_10_9_x86_64", False),
        ("macos_x86_64", "macosx_10_9_x86_64", True),
        ("macos_x86_64", "macosx_11_0_arm64", False),
        ("linux_aarch64", "manylinux2014_aarch64", True),
        ("linux_aarch64", "linux_x86_64", False),
    ],
)
def test_other_platforms(platform: str, tag: str, fits: bool) -> None:
    assert Target(python="3.12", platform=platform).fits(f"x-1-2-cp312-cp312-{tag}.whl") is fits
    assert Target(python="3.12", platform=platform).fits_platform(f"x-1-cp39-cp39-{tag}.whl") is fits


def test_a_python_that_is_not_known_yet_takes_all() -> None:
    unknown = Target(python="", platform="linux_x86_64")
    assert unknown.fits("x-1-cp39-cp39-linux_x86_64.whl") and not unknown.fits("x-1-cp39-cp39-win_amd64.whl")


@pytest.mark.parametrize(
    "filename",
    [
        "torch-2.8.0-cp313-cp313t-manylinux_2_28_x86_64-cu129.whl",  # PEP 817's sixth part
        "torch-2.10.0-1+cu128-cp312-cp312-manylinux_2_28_x86_64.whl",  # seen once: the label after the build tag
        "torch-2.10.0.whl",
        "torch.whl",
        "torch-2.10.0-cp312-cp312-win_amd64.zip",
        "torch-many.dots-cp312-cp312-win_amd64.whl",
        "vision-2.10.0-cp312-cp312-win_amd64.whl",
    ],
)
def test_names_that_are_no_wheels_of_torch(filename: str) -> None:
    assert release_file(Link(filename, f"https://h.example/{filename}"), "torch", "s") is None


def test_build_tag_label_and_tags() -> None:
    name = "torch-2.10.0+cpu-1-cp312-none-macosx_11_0_arm64.macosx_12_0_arm64.whl"
    file = release_file(Link(name, f"https://h.example/{name}", requires_python="three"), "torch", "source")
    assert file is not None
    assert (file.version, file.build, file.source) == (Version("2.10.0+cpu"), (1, ""), "source")
    assert file.tags == {Tag("cp312", "none", f"macosx_{n}_0_arm64") for n in (11, 12)}
    assert file.requires_python is None  # not valid: passed over, as pip does


@pytest.mark.parametrize(
    ("filename", "name", "version"),
    [
        ("six-1.17.0.tar.gz", "six", "1.17.0"),
        ("Typing_Extensions-4.15.tar.gz", "typing-extensions", "4.15"),
        ("ruamel.yaml-0.18.zip", "ruamel-yaml", "0.18"),
        ("azure-storage-blob-12.0.0.tar.gz", "azure-storage-blob", "12.0.0"),
        ("azure-storage-blob-12.0.0.tar.gz", "azure-storage", None),
        ("six-1.17.0-py3-none-any.whl", "six", None),
        ("six.tar.gz", "six", None),
    ],
)
def test_source_archives(filename: str, name: str, version: str | None) -> None:
    assert sdist_version(filename, name) == version


@pytest.mark.parametrize(
    ("url", "base", "folder"),
    [
        ("https://m.example/whl/cu128/torch-1.whl", "https://m.example/whl", "cu128"),
        ("https://m.example/whl/torch-1.whl", "https://m.example/whl", ""),
        ("https://m.example/whl/nightly/cu128/torch-1.whl", "https://m.example/whl", "nightly/cu128"),
        ("https://m.example/whl/cu128/torch/torch-1.whl", "https://m.example/whl", "cu128"),
        ("https://cdn.example/x/whl/cu124_full/torch-1.whl", "https://m.example/whl", "cu124_full"),
        ("https://cdn.example/whl/torch-1.whl", "https://m.example/pytorch", ""),
        ("https://files.example/ab/cd/torch-1.whl", "https://m.example/whl", None),
    ],
)
def test_the_folder_is_told_by_the_address(url: str, base: str, folder: str | None) -> None:
    assert folder_of(url, "torch", base) == folder


_PART = st.from_regex(r"[A-Za-z0-9_.+]{1,8}", fullmatch=True)


@given(st.lists(_PART, min_size=4, max_size=7))
def test_quick_reading_agrees_with_packaging(parts: list[str]) -> None:
    filename = "-".join(parts) + ".whl"
    try:
        name, version, build, tags = parse_wheel_filename(filename)
    except (InvalidWheelFilename, InvalidVersion, ValueError):
        return
    split = split_wheel_name(filename)
    if split is None:  # stricter about build tags only
        assert len(parts) == 6
        return
    file = release_file(Link(filename, f"https://h.example/{filename}"), str(name), "s")
    assert file is not None
    assert (file.version, file.build, file.tags) == (version, build, tags)
