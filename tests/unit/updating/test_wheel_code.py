"""What a torch wheel tells of itself, from a file and by ranges; real wheels where an index has them."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.version import Version

from envsolve.errors import OutsideError
from envsolve.index.http import Http
from envsolve.rulebook.load import load
from envsolve.settings import load_settings
from envsolve.updating.wheel_code import WheelCode, arch_flags, assignments, read_wheel
from fakes.index_server import IndexServer
from fakes.stub_wheels import StubWheel

TARGETS = "sm_75 sm_80 sm_90a compute_90"
VERSION = "from typing import Optional\n__version__ = '2.16.0+cu134'\ncuda: Optional[str] = '13.4'\nhip = None\n"


def torch_wheel(flags: str = TARGETS, version: str = VERSION, library: str = "libtorch_python.so") -> StubWheel:
    content = "ELF\0sm_35\0noise std::string ipc_h" + flags + "\0more\0"
    return StubWheel(
        name="torch",
        version="2.16.0+cu134",
        tag="cp312-cp312-linux_x86_64",
        modules={"torch/version.py": version, f"torch/lib/{library}": content},
        padding=3_000_000,
    )


@pytest.fixture
def http(tmp_path: Path) -> Iterator[Http]:
    one = Http(load_settings({"cache-dir": str(tmp_path)}))
    yield one
    one.close()


@pytest.mark.parametrize("library", ["libtorch_python.so", "torch_python.dll", "libtorch_python.dylib"])
def test_a_wheel_on_disk(tmp_path: Path, http: Http, library: str) -> None:
    code, fetched = read_wheel(torch_wheel(library=library).write(tmp_path), http)
    assert code == WheelCode(
        version="2.16.0+cu134", cuda="13.4", hip="", sm=("75", "80", "90a"), ptx=("90",), targets_read=True
    )
    assert (fetched, http.count) == (0, 0)


def test_a_wheel_at_an_address_is_read_by_ranges(http: Http) -> None:
    with IndexServer() as server:
        url = server.add_wheel("cu134", torch_wheel())
        code, fetched = read_wheel(url, http)
    assert (code.sm, code.ptx) == (("75", "80", "90a"), ("90",))
    assert 0 < fetched < 1_200_000  # of three megabytes


def test_a_server_without_ranges_is_told(http: Http) -> None:
    with IndexServer() as server:
        server.ranges = False
        url = server.add_wheel("cu134", torch_wheel())
        with pytest.raises(OutsideError, match="sends whole files only"):
            read_wheel(url, http)
        with pytest.raises(OutsideError):
            read_wheel(f"{server.base}/absent.whl", http)


def test_a_build_without_cuda_has_no_targets(tmp_path: Path, http: Http) -> None:
    wheel = torch_wheel(flags="", version="__version__ = '2.16.0+cpu'\ncuda = None\nhip = None\n")
    code, _ = read_wheel(wheel.write(tmp_path), http)
    assert (code.cuda, code.sm, code.targets_read) == ("", (), True)


def test_a_list_that_is_not_found_is_unknown(tmp_path: Path, http: Http) -> None:
    wheel = StubWheel(name="torch", version="2.16.0+cu134", modules={"torch/version.py": VERSION})
    assert not read_wheel(wheel.write(tmp_path), http)[0].targets_read


def test_what_is_no_torch_wheel_is_told(tmp_path: Path, http: Http) -> None:
    with pytest.raises(OutsideError, match="no wheel of torch"):
        read_wheel(StubWheel(name="six", version="1.17").write(tmp_path), http)
    text = tmp_path / "torch.whl"
    text.write_text("no zip", encoding="utf-8")
    with pytest.raises(OutsideError, match="is not a wheel"):
        read_wheel(text, http)


def test_the_longest_list_counts_even_where_pieces_part_it() -> None:
    content = b"\0sm_90\0 x" + b"-" * 5000 + TARGETS.encode() + b"\0"
    for size in (7, 64, 5010, 100_000):
        pieces = (content[place : place + size] for place in range(0, len(content), size))
        assert arch_flags(pieces) == tuple(TARGETS.split())
    assert arch_flags([b"sm_", b"90\0"]) == ("sm_90",)
    assert arch_flags([b"sm_75 sm_80"]) == ()  # not ended: no such string


def test_assignments_are_read_and_never_run() -> None:
    assert assignments("import os\na = '1'\nb: str = '2'\nc = 3\nd.e = '4'\nf = None\n") == {"a": "1", "b": "2"}


def test_a_stored_member_is_read_too(tmp_path: Path, http: Http) -> None:
    path = tmp_path / "torch.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("torch/version.py", VERSION)
        archive.writestr("torch/lib/libtorch_python.so", f"\0{TARGETS}\0")
    assert read_wheel(path, http)[0].sm == ("75", "80", "90a")


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize(("version", "python"), [("1.13.1", "3.10"), ("2.9.1", "3.12")])
def test_real_wheels_agree_with_the_rules(tmp_path: Path, http: Http, version: str, python: str) -> None:
    """Of the default Python index; some eight megabytes each."""
    from envsolve.index.fitting import Target
    from envsolve.index.package_index import open_index

    settings = load_settings({"source": "pypi", "cache-dir": str(tmp_path)})
    with open_index(settings, python=python, platform="linux_x86_64") as index:
        files = index.files("torch", version=Version(version))
    target = Target(python=python, platform="linux_x86_64")
    file = next(f for f in files if f.is_wheel and f.url.startswith("http") and target.fits(f.filename))
    code, fetched = read_wheel(file.url, http)
    variant = f"cu{code.cuda.replace('.', '')}"
    build = load().build(Version(version), variant, "linux_x86_64")
    assert build is not None
    assert list(code.sm) == [f"{t.capability.number}{t.suffix}" for t in build.sm]
    assert fetched < 40_000_000
