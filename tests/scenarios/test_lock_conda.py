"""conda-lock.yml and environment.yml in the hands of conda-lock and py-rattler; the conda channel is one on disk."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from filelock import FileLock

from fakes.conda_channel import CondaChannel
from fakes.lock_world import LINUX, WINDOWS, LockWorld, lock_world

ROOT = Path(__file__).parents[2]
Output = pytest.CaptureFixture[str]


@pytest.fixture(scope="session")
def tools(request: pytest.FixtureRequest) -> Path:
    """The Python of an environment with conda-lock, py-rattler and envsolve[conda], kept while that needs the same."""
    needs = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    folder = request.config.cache.mkdir("conda-tools")
    python = folder / "env/bin/python"
    with FileLock(folder / "lock"):
        ready = folder / "ready"
        if not ready.exists() or ready.read_text(encoding="utf-8") != needs:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder / "env"], check=True)
            done = subprocess.run(
                [python, "-m", "pip", "install", "-q", "conda-lock>=4", "-e", f"{ROOT}[conda]"],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode != 0:
                pytest.skip(f"conda-lock can't be installed: {done.stderr.strip().splitlines()[-1:]}")
            ready.write_text(needs, encoding="utf-8")
    return python


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LockWorld]:
    with lock_world(tmp_path, monkeypatch) as ready:
        ready.serve("six", "1.17")
        yield ready


@pytest.fixture
def channel(tmp_path: Path) -> CondaChannel:
    made = CondaChannel(tmp_path / "channel")
    for subdir in ("linux-64", "win-64"):
        made.add("python", "3.12.4", subdir=subdir, depends=("__glibc >=2.17",) if subdir == "linux-64" else ())
        made.add("python", "3.13.1", subdir=subdir)
    made.add("pip", "24.0", subdir="noarch", depends=("python >=3.8",))
    return made


def lock(
    tools: Path, world: LockWorld, channel: CondaChannel, *words: str, targets: tuple[str, ...] = (LINUX,)
) -> subprocess.CompletedProcess[str]:
    chosen = [word for target in targets for word in ("--target", target)]
    return subprocess.run(
        [tools, "-m", "envsolve", "lock", *words, *chosen, "--mirror", world.server.whl, "--index",
         world.server.simple, "--conda-channel", channel.url],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def call(tools: Path, code: str, *words: str) -> Any:
    """What a script prints as JSON, run by the Python that has conda-lock."""
    done = subprocess.run([tools, "-c", code, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_without_py_rattler_it_is_said_how_to_get_it(
    world: LockWorld, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setitem(sys.modules, "rattler", None)
    assert world.lock("torch", "-o", "conda-lock.yml") == 3
    assert capsys.readouterr().err == (
        "error: a conda lock needs py-rattler, which is not installed\nhint: pip install 'envsolve[conda]'\n"
    )
    assert not Path("conda-lock.yml").exists()


def test_two_targets_of_one_platform_are_wrong_usage(world: LockWorld, capsys: Output) -> None:
    other = LINUX.replace("RTX 5070 Ti", "RTX 5090")
    assert world.lock("torch", "-o", "conda-lock.yml", targets=(LINUX, other)) == 2
    assert "no marker tells these targets apart" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.network
class TestWithTheRealTools:
    def test_conda_lock_reads_and_renders_it(self, tools: Path, world: LockWorld, channel: CondaChannel) -> None:
        done = lock(tools, world, channel, "torch", "six", "-o", "conda-lock.yml", targets=(LINUX, WINDOWS))
        assert done.returncode == 0, done.stderr
        read = (
            "import json, pathlib, sys; from conda_lock.lockfile import parse_conda_lock_file as parse\n"
            "lock = parse(pathlib.Path(sys.argv[1]))\n"
            "print(json.dumps([[p.manager, p.name, p.version, p.platform] for p in lock.package]))"
        )
        found = {tuple(entry) for entry in call(tools, read, "conda-lock.yml")}
        assert found == {
            (manager, name, version, platform)
            for platform in ("linux-64", "win-64")
            for manager, name, version in (
                ("conda", "python", "3.12.4"),
                ("conda", "pip", "24.0"),
                ("pip", "six", "1.17"),
                ("pip", "torch", "2.11.0+cu128"),
            )
        }
        rendered = subprocess.run(
            [tools.with_name("conda-lock"), "render", "-k", "explicit", "-k", "env", "-p", "linux-64"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert rendered.returncode == 0, rendered.stderr
        explicit = Path("conda-linux-64.lock").read_text()
        assert f"{channel.url}/linux-64/python-3.12.4-" in explicit
        assert "# pip torch @ http" in explicit and "%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl#sha256=" in explicit
        environment = yaml.safe_load(Path("conda-linux-64.lock.yml").read_text())
        assert [next(iter(entry)) for entry in environment["dependencies"] if isinstance(entry, dict)] == ["pip"]
        assert any(entry.startswith("torch @ http") for entry in environment["dependencies"][-1]["pip"])

    def test_it_reads_the_virtual_packages_of_the_machine(
        self, tools: Path, world: LockWorld, channel: CondaChannel
    ) -> None:
        assert lock(tools, world, channel, "torch", "-o", "conda-lock.yml").returncode == 0
        read = (
            "import json, pathlib, sys; from conda_lock import virtual_package as v\n"
            "repo = v.virtual_package_repo_from_specification(pathlib.Path(sys.argv[1]))\n"
            "packages = repo.all_repodata['linux-64']['packages'].values()\n"
            "print(json.dumps({p['name']: p['version'] for p in packages}))"
        )
        found = call(tools, read, "virtual-packages.yml")
        assert (found["__cuda"], found["__glibc"]) == ("12.8", "2.35")

    def test_conda_lock_and_py_rattler_read_the_environment(
        self, tools: Path, world: LockWorld, channel: CondaChannel, tmp_path: Path
    ) -> None:
        done = lock(tools, world, channel, "torch", "six", "-o", "environment.yml")
        assert done.returncode == 0, done.stderr
        read = (
            "import json, pathlib, sys; from conda_lock.src_parser.environment_yaml import parse_environment_file\n"
            "spec = parse_environment_file(pathlib.Path(sys.argv[1]), ['linux-64'], 'file:///absent')\n"
            "print(json.dumps([[d.manager, d.name] for d in spec.dependencies['linux-64']]))"
        )
        names = call(tools, read.replace("'file:///absent'", repr(_mapping(tmp_path))), "environment.yml")
        assert ["conda", "python"] in names and ["pip", "torch"] in names and ["pip", "six"] in names
        solve = (
            "import asyncio, json, sys, yaml, rattler\n"
            "document = yaml.safe_load(open(sys.argv[1]))\n"
            "specs = [entry for entry in document['dependencies'] if isinstance(entry, str)]\n"
            "channels = [c for c in document['channels'] if c != 'nodefaults']\n"
            "async def main():\n"
            "    virtual = rattler.GenericVirtualPackage(rattler.PackageName('__glibc'), rattler.Version('2.35'),\n"
            "        rattler.BuildString('0'))\n"
            "    found = await rattler.solve([rattler.Channel(c) for c in channels], specs,\n"
            "        platforms=['linux-64', 'noarch'], virtual_packages=[virtual])\n"
            "    await rattler.install(found, sys.argv[2], show_progress=False, platform=rattler.Subdir('linux-64'))\n"
            "    return found\n"
            "print(json.dumps({r.name.normalized: str(r.version) for r in asyncio.run(main())}), flush=True)\n"
            "import os; os._exit(0)"  # py-rattler's threads may crash an interpreter that ends by itself
        )
        assert call(tools, solve, "environment.yml", "prefix") == {"python": "3.12.4", "pip": "24.0"}
        assert Path("prefix/bin/python").read_text() == "#!/bin/sh\necho python 3.12.4\n"

    def test_it_stays_as_it_is_until_an_upgrade(self, tools: Path, world: LockWorld, channel: CondaChannel) -> None:
        words = ("torch", "six", "-o", "conda-lock.yml")
        assert lock(tools, world, channel, *words).returncode == 0
        before = Path("conda-lock.yml").read_bytes()
        channel.add("python", "3.12.5")
        world.serve("six", "1.18")
        assert lock(tools, world, channel, *words, "--refresh").returncode == 0
        assert Path("conda-lock.yml").read_bytes() == before
        assert lock(tools, world, channel, *words, "--refresh", "--check").returncode == 0
        assert lock(tools, world, channel, *words, "--refresh", "--upgrade").returncode == 0
        text = Path("conda-lock.yml").read_text()
        assert "version: 3.12.5" in text and "version: '1.18'" in text

    def test_check_without_inputs_takes_them_from_the_header(
        self, tools: Path, world: LockWorld, channel: CondaChannel
    ) -> None:
        assert lock(tools, world, channel, "torch", "six", "-o", "conda-lock.yml").returncode == 0
        again = [tools, "-m", "envsolve", "lock", "-o", "conda-lock.yml"]
        assert subprocess.run([*again, "--check"], capture_output=True, check=False).returncode == 0
        world.serve("six", "1.18")
        done = subprocess.run([*again, "--upgrade", "--refresh"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "version: '1.18'" in Path("conda-lock.yml").read_text()

    def test_a_channel_without_the_python(self, tools: Path, world: LockWorld, tmp_path: Path) -> None:
        empty = CondaChannel(tmp_path / "empty")
        done = lock(tools, world, empty, "torch", "-o", "conda-lock.yml")
        assert done.returncode == 3
        assert done.stderr.startswith("error: conda can't make python 3.12.*, pip for linux-64 from file://")
        assert not Path("conda-lock.yml").exists()


def _mapping(folder: Path) -> str:
    """An empty table of conda's and pip's names, which conda-lock would fetch otherwise."""
    path = folder / "names.yml"
    path.write_text("{}\n")
    return path.as_uri()
