"""The fakes hold what they promise: real clients accept the stub wheels and the pages."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from uv import find_uv_bin

from fakes.index_server import JSON_TYPE, IndexServer
from fakes.stub_wheels import StubSdist, StubWheel, stub_family

TAG = "py3-none-any"


def _get(url: str, **headers: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_pip_installs_the_stub_family_from_a_variant_page(tmp_path: Path) -> None:
    with IndexServer() as server:
        for wheel in stub_family("cu128", tag=TAG, torch="2.11.0", torchvision="0.26.0", requires=("typing-stub>=1",)):
            server.add_wheel("cu128", wheel)
        server.add_package(StubWheel(name="Typing.Stub", version="1.5"))
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(tmp_path / "site")]
        command += ["--index-url", f"{server.whl}/cu128", "--extra-index-url", server.simple, "torchvision"]
        subprocess.run(command, check=True, capture_output=True)
    code = "import torchvision, torch; print(torchvision.__version__, torch.__version__, torch.version.cuda)"
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "site", capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["0.26.0+cu128", "2.11.0+cu128", "12.8"]


@pytest.mark.parametrize("form", "ABCDEFGHI")
def test_every_form_lists_a_file_that_is_there(form: str) -> None:
    wheel = StubWheel(name="torch", version="9.1.0+cu128", tag="cp312-cp312-win_amd64")
    with IndexServer() as server:
        variant = "nightly/cu128" if form == "E" else "cu128"
        server.add_wheel(variant, wheel, form=form)
        status, page = _get(f"{server.whl}/{variant}/torch/")
        href = re.search(r'href="([^"#]+)', page.decode())
        assert status == 200 and href is not None and "%2B" in href[1]
        url = href[1] if href[1].startswith("http") else server.base + href[1]
        assert _get(url) == (200, wheel.content)
        assert (_get(url + ".metadata") == (200, wheel.metadata)) == (form in "ABDEG")
        assert (b"#sha256=" in page) == (form not in "DE")


def test_root_files_are_on_every_variant_page_but_not_in_its_folder() -> None:
    with IndexServer() as server:
        server.add_wheel("cu128", StubWheel(name="torch", version="2.11.0+cu128"))
        url = server.add_root(StubWheel(name="torch", version="2.0.1"))
        assert url == f"{server.whl}/torch-2.0.1-py3-none-any.whl"
        assert b"/whl/torch-2.0.1-py3-none-any.whl" in _get(f"{server.whl}/cu128/torch/")[1]


def test_the_default_index_speaks_json_and_html() -> None:
    with IndexServer() as server:
        server.add_package(StubWheel(name="six", version="1.17", requires_python=">=3.8"), yanked="")
        server.add_package(StubSdist(name="six", version="1.17"))
        assert b'"requires-python": ">=3.8"' in _get(f"{server.simple}/six/", Accept=JSON_TYPE)[1]
        assert b'data-requires-python="&gt;=3.8"' in _get(f"{server.simple}/six/")[1]
        server.json = False
        assert _get(f"{server.simple}/six/", Accept=JSON_TYPE)[1].startswith(b"<!DOCTYPE html>")
        assert _get(f"{server.simple}/absent/")[0] == 404


def test_ranges_etags_logins_and_faults() -> None:
    wheel = StubWheel(name="six", version="1.17")
    with IndexServer() as server:
        url = server.add_package(wheel)
        assert _get(url, Range="bytes=-10") == (206, wheel.content[-10:])
        assert _get(url, Range="bytes=2-3") == (206, wheel.content[2:4])
        server.fault("*.whl", status=503, times=1)
        assert [_get(url)[0] for _ in range(2)] == [503, 200]
        server.fault("*.whl", wrong=True, times=1)
        status, body = _get(url)
        assert status == 200 and len(body) == len(wheel.content) and body != wheel.content
        server.require_login("/simple/*", "user", "secret")
        assert _get(f"{server.simple}/six/")[0] == 401
        assert server.count("*.whl") == 5


def test_uv_installs_a_stub_wheel_from_disk(tmp_path: Path) -> None:
    path = StubWheel(name="six", version="1.17.0+local.1", build="2", extras=("x",), padding=5000).write(tmp_path)
    command = [
        find_uv_bin(),
        "pip",
        "install",
        "--offline",
        "--no-cache",
        "--target",
        str(tmp_path / "site"),
        str(path),
    ]
    subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "site" / "six.py").read_text() == "__version__ = '1.17.0+local.1'\n"
