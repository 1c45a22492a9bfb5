"""What source archives say of themselves, read without running their code."""

from __future__ import annotations

import io
import tarfile
import zipfile
from email.parser import BytesHeaderParser

import pytest

from envsolve.errors import OutsideError
from envsolve.index.sdist import sdist_metadata

OLD = "Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n"
NEW = OLD.replace("2.1", "2.2")


def tar(**files: str) -> io.BytesIO:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(f"pkg-1.0/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    raw.seek(0)
    return raw


def requires(archive: io.BytesIO, filename: str = "pkg-1.0.tar.gz") -> list[str]:
    found = BytesHeaderParser().parsebytes(sdist_metadata(archive, filename, filename))
    assert (found["Name"], found["Version"]) == ("pkg", "1.0")
    return found.get_all("Requires-Dist", [])


def test_its_own_requirements() -> None:
    text = OLD + "Requires-Dist: six>=1\n\nThe long text.\nRequires-Dist: none\n"
    assert requires(tar(**{"PKG-INFO": text, "pkg.egg-info/requires.txt": "idna\n"})) == ["six>=1"]


def test_none_where_the_version_of_the_format_says_that_none_are_missing() -> None:
    files = {"PKG-INFO": NEW, "pkg.egg-info/requires.txt": "idna\n"}
    assert requires(tar(**files)) == []
    files["PKG-INFO"] = NEW + "Dynamic: requires-dist\n"
    assert requires(tar(**files)) == ["idna"]


@pytest.mark.parametrize("folder", ["pkg.egg-info", "src/pkg.egg-info"])
def test_what_setuptools_wrote_beside_it(folder: str) -> None:
    text = 'six\n\n[:python_version < "3.8"]\nbackport>=1\n\n[test]\npytest\n\n[test:os_name == "nt"]\ncolorama\n'
    assert requires(tar(**{"setup.py": "raise SystemExit", "PKG-INFO": OLD, f"{folder}/requires.txt": text})) == [
        "six",
        'backport>=1 ; (python_version < "3.8")',
        'pytest ; extra == "test"',
        'colorama ; (os_name == "nt") and extra == "test"',
    ]


def test_the_static_ones_of_pyproject() -> None:
    project = '[project]\nname = "pkg"\ndependencies = ["six"]\n'
    assert requires(tar(**{"PKG-INFO": OLD, "pyproject.toml": project})) == ["six"]
    dynamic = project.replace("dependencies =", 'dynamic = ["dependencies"]\nx =')
    assert requires(tar(**{"PKG-INFO": OLD, "pyproject.toml": dynamic})) == []


def test_a_zip() -> None:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("pkg-1.0/PKG-INFO", OLD + "Requires-Dist: six\n")
        archive.writestr("pkg-1.0/tests/data/PKG-INFO", "Name: other\n")
    assert requires(raw, "pkg-1.0.zip") == ["six"]


@pytest.mark.parametrize("content", [b"<html>", b"", b"PK\x03\x04"])
@pytest.mark.parametrize("filename", ["pkg-1.0.tar.gz", "pkg-1.0.zip"])
def test_what_is_no_source_archive(content: bytes, filename: str) -> None:
    with pytest.raises(OutsideError, match="is not a source archive"):
        sdist_metadata(io.BytesIO(content), filename, filename)


def test_an_archive_without_pkg_info() -> None:
    with pytest.raises(OutsideError, match="without PKG-INFO"):
        sdist_metadata(tar(**{"setup.py": ""}), "pkg-1.0.tar.gz", "x")
