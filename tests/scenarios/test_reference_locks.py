"""lockfiles/: made again from the rules and the bundled snapshot, without a network, they are what is committed."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from envsolve.lock.requirements_txt import read
from envsolve.settings import default_index_address

ROOT = Path(__file__).parents[2]
LOCKS = ROOT / "lockfiles"
_HOST = re.compile(r"https?://([^/\s]+)/")


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_lockfiles", ROOT / "tools/make_lockfiles.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pytestmark = pytest.mark.skipif(not LOCKS.is_dir(), reason="an installed envsolve has no lockfiles")
NAMES = sorted(path.stem for path in LOCKS.glob("*.txt"))


def without_rules(text: str) -> list[str]:
    """The lines but for the hash of the rules: a change to them that changes no lock is no matter."""
    return [line for line in text.splitlines() if not line.startswith("# rules: ")]


def test_there_is_one_for_each_target() -> None:
    assert sorted(tool().TARGETS) == NAMES


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lockfiles")
    with pytest.MonkeyPatch.context() as patch:

        def no_network(*args: object, **kwargs: object) -> None:
            raise AssertionError("the network was asked")

        patch.setattr("socket.socket.connect", no_network)
        for path in LOCKS.glob("*.txt"):
            shutil.copy(path, folder)
        assert tool().make(folder) == 0
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_made_again_it_is_the_same(made: Path, name: str) -> None:
    again, committed = ((folder / f"{name}.txt").read_text(encoding="utf-8") for folder in (made, LOCKS))
    assert without_rules(again) == without_rules(committed), "run: python tools/make_lockfiles.py"


@pytest.mark.parametrize("name", NAMES)
def test_it_is_whole_and_names_no_host_of_the_default_index(name: str) -> None:
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8")
    lock = read(text, what=name)
    assert lock.header.portable
    family = {package.name for package in lock.packages if package.direct}
    assert {"torch", "torchvision", "torchaudio"} <= family
    assert all(re.fullmatch(r"[0-9a-f]{64}", file.sha256) for package in lock.packages for file in package.files)
    needed = {name for package in lock.packages for name in package.via} - {"(asked)"}
    assert needed <= {package.name for package in lock.packages}
    hosts = set(_HOST.findall(text))
    assert hosts and all(host.endswith("pytorch.org") for host in hosts)
    assert not hosts & set(_HOST.findall(default_index_address() + "/"))
