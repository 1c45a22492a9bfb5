"""The user's own project in an environment: editable, checked against the lock first."""

from __future__ import annotations

from pathlib import Path

import pytest

from envsolve.cli.app import run
from envsolve.environment.project import check_project
from envsolve.errors import InputError, RefusedError
from fakes.index_server import IndexServer
from fakes.installing import SIX, builds, install, lock_file, says
from fakes.stub_locks import served_lock, stub_lock
from fakes.stub_wheels import stub_torch

Output = pytest.CaptureFixture[str]

# A backend of its own, so that no index is asked for one.
_BACKEND = """
import base64, hashlib, pathlib, zipfile


def get_requires_for_build_editable(config_settings=None):
    return []


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    files = {
        "mine.pth": str(pathlib.Path("src").resolve()),
        "mine-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: mine\\nVersion: 1\\nRequires-Dist: torch\\n",
        "mine-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    rows = []
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / "mine-1-py3-none-any.whl", "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(text)}")
        archive.writestr("mine-1.dist-info/RECORD", "\\n".join([*rows, "mine-1.dist-info/RECORD,,"]) + "\\n")
    return "mine-1-py3-none-any.whl"
"""


def project(folder: Path, *requires: str, python: str = ">=3.8") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src/mine.py").write_text("import torch\nWORD = torch.__version__\n")
    (folder / "backend.py").write_text(_BACKEND)
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        f'[project]\nname = "mine"\nversion = "1"\nrequires-python = "{python}"\ndependencies = {list(requires)!r}\n'
    )
    return folder


def test_it_is_installed_editable(store: Path, tmp_path: Path, server: IndexServer, installer: str) -> None:
    mine = project(tmp_path / "mine", "torch>=2.10")
    lock = lock_file(tmp_path, served_lock(server, SIX))
    assert install(lock, server, "--installer", installer, "--with-project", str(mine)) == 0
    assert says(store / "envs/fresh", "import mine; print(mine.WORD)") == "2.11.0+cpu"
    (mine / "src/mine.py").write_text("WORD = 'changed'\n")
    assert says(store / "envs/fresh", "import mine; print(mine.WORD)") == "changed"


def test_a_contradiction_is_told_before_anything_is_made(
    store: Path, tmp_path: Path, server: IndexServer, capsys: Output
) -> None:
    mine = project(tmp_path / "mine", "torch<2.10", "six==1.16.*")
    lock = lock_file(tmp_path, served_lock(server, SIX))
    assert install(lock, server, "--with-project", str(mine)) == 1
    said = capsys.readouterr().err
    assert "requires torch<2.10, and the lock has 2.11.0+cpu" in said and "requires six==1.16.*" in said
    assert "hint: envsolve lock -r" in said
    assert builds(store) == []


def test_an_upgrade_keeps_the_project(store: Path, tmp_path: Path, server: IndexServer) -> None:
    mine = project(tmp_path / "mine", "torch")
    assert install(lock_file(tmp_path, served_lock(server)), server, "--with-project", str(mine)) == 0
    lock = lock_file(tmp_path, served_lock(server, SIX))
    assert run(["upgrade", "--name", "fresh", "--lock", str(lock), "--index", server.simple, "--verify", "later"]) == 0
    assert says(store / "envs/fresh", "import mine, six; print(mine.WORD)") == "2.11.0+cpu"


def test_what_is_checked(tmp_path: Path) -> None:
    torch = stub_torch("2.11.0+cpu")
    lock = stub_lock({f"https://h/{torch.filename}": torch}, [SIX], python="3.11")
    assert check_project(project(tmp_path / "a", "torch==2.11.0", "six"), lock) == ()
    assert check_project(project(tmp_path / "a", "torch", "six<1; python_version < '3.9'"), lock) == ()
    (note,) = check_project(project(tmp_path / "a", "torch", "numpy>=1"), lock)
    assert "lacks what the project requires: numpy>=1" in note
    with pytest.raises(RefusedError, match=r"requires Python >=3\.12"):
        check_project(project(tmp_path / "a", python=">=3.12"), lock)
    with pytest.raises(RefusedError, match=r"requires torch==2\.11\.0\+cu128"):
        check_project(project(tmp_path / "a", "torch==2.11.0+cu128"), lock)
    with pytest.raises(InputError, match="holds no Python project"):
        check_project(tmp_path / "a/src", lock)
    (tmp_path / "old").mkdir()
    (tmp_path / "old/setup.py").touch()
    assert "not checked" in check_project(tmp_path / "old", lock)[0]
