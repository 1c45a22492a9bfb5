"""envsolve doctor --fix: a new verified environment beside an ill one, which stays as it is to the last byte."""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envsolve.capability import Capability
from envsolve.cli.app import run
from envsolve.cli.doctor_in_place import mend
from envsolve.doctor.finding import Finding, Fix
from envsolve.dotted import Dotted
from envsolve.errors import RefusedError
from envsolve.machine.host import this_host
from envsolve.machine.machine import Gpu
from envsolve.settings import load_settings
from fakes.index_server import IndexServer
from fakes.installing import builds, says
from fakes.plans import a_machine
from fakes.stub_locks import RUNNING
from fakes.stub_torch import ALL_ELSE_SKIPPED, TORCH, StubEnvironment, empty_environment, gpus, stub_environment
from fakes.stub_wheels import StubWheel, stub_companion

Output = pytest.CaptureFixture[str]
pytestmark = pytest.mark.skipif(this_host().platform != "linux_x86_64", reason="the stubs are Linux x86-64 builds")

TOOL = StubWheel(name="tool", version="1.5", requires=("six",))
SIX = StubWheel(name="six", version="1.17.0")
CUDNN = "\nbackends.cudnn.is_available = lambda: True\n"
# What the doctor computes itself.
PRODUCT = """
class Product:
    def __matmul__(self, other): return self
    def sum(self): return 64.0 ** 3
def ones(*size, device): return Product()
"""
WORKS = CUDNN + gpus((8, 9), targets="sm_80 sm_86 sm_90") + ALL_ELSE_SKIPPED


def machine(**changed: object) -> Callable[..., object]:
    """A machine with an RTX 4090, unless told otherwise, in place of what detection sees."""
    known = a_machine(python=RUNNING, **changed)
    return lambda *_: known


@pytest.fixture(autouse=True)
def rtx_4090(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("envsolve.machine.detect.detect", machine())
    monkeypatch.setattr("envsolve.machine.probe_kernel.is_container", lambda _: False)


def cuda_torch(version: str = "2.9.1+cu128", more: str = WORKS) -> StubWheel:
    """A wheel whose torch sees one GPU and computes on it, as far as verification asks."""
    stated = f"__version__ = {version!r}\ncuda = '12.8'\nhip = None\n"
    modules = {"torch/__init__.py": TORCH + more, "torch/version.py": stated}
    return StubWheel(name="torch", version=version, modules=modules)


def serve(server: IndexServer, *wheels: StubWheel, torch: StubWheel | None = None) -> None:
    server.add_wheel("cu128", torch or cuda_torch())
    for wheel in (TOOL, SIX, *wheels):
        server.add_package(wheel)


def ill(tmp_path: Path, version: str = "2.9.1+cpu", cuda: str | None = None, more: str = "") -> StubEnvironment:
    """A project's environment that somebody filled: torch, and a tool that needs six."""
    env = stub_environment(tmp_path / "project" / ".venv", version=version, cuda=cuda, more=more)
    env.add("tool", "1.5", {"tool.py": ""}, requires=("six",))
    env.add("six", "1.16.0", {"six.py": ""})
    return env


def fix(env: StubEnvironment, server: IndexServer, *more: str) -> int:
    sources = ["--mirror", server.whl, "--index", server.simple]
    return run(["doctor", "--path", str(env.path), "--fix", *more, *sources])


def digest(folder: Path) -> str:
    """One hash of every path, mode, time and content below a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        total.update(f"{path} {status.st_mode} {status.st_mtime_ns}\n".encode())
        if path.is_symlink():
            total.update(str(path.readlink()).encode())
        elif path.is_file():
            total.update(path.read_bytes())
    return total.hexdigest()


@pytest.fixture(autouse=True)
def no_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stub that was never imported has no __pycache__ yet; pip and uv make theirs as they install."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def test_a_cpu_build_gets_a_sound_neighbour(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    env = ill(tmp_path)
    before = digest(env.path)
    assert fix(env, server) == 0
    out = capsys.readouterr().out
    assert out.startswith("cpu-build: ")
    assert "torch 2.9.1+cpu -> 2.9.1+cu128" in out and "six 1.16.0 -> 1.17.0" in out and "tool" not in changed(out)
    assert "activate" in out.partition("bash/zsh:")[2]
    assert says(store / "envs/project-fixed", "import torch, tool; print(torch.version.cuda)") == "12.8"
    assert digest(env.path) == before
    marker = json.loads((store / "envs/project-fixed/envsolve.json").read_text())
    assert marker["stage"] == "verified"
    assert marker["asked"] == ["torch==2.9.1", "tool==1.5", "--python", RUNNING]


def changed(out: str) -> str:
    return out.partition("changed:")[2].partition("bash/zsh")[0]


def vision() -> StubWheel:
    """A torchvision that imports and has nothing to compute."""
    skipped = 'import sys\nraise sys.modules["envsolve_probes.protocol"].Skip("a stub")\n'
    wheel = stub_companion("torchvision", "0.24.1+cu128", torch="2.9.1")
    return replace(
        wheel, modules={**wheel.modules, "torchvision/ops.py": skipped, "torchvision/transforms.py": skipped}
    )


def test_a_companion_of_another_torch(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    server.add_wheel("cu128", vision())
    env = ill(tmp_path, "2.9.1+cu128", "12.8", WORKS)
    env.add("torchvision", "0.23.0+cu128", {"torchvision/__init__.py": "import torch\n"})
    before = digest(env.path)
    assert fix(env, server, "--into", "sound", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["finding"] == "companion-mismatch"
    assert {"name": "torchvision", "before": "0.23.0+cu128", "after": "0.24.1+cu128"} in said["fix"]["changes"]
    assert said["fix"]["made"]["state"] == "verified" and said["fix"]["made"]["name"] == "sound"
    assert said["fix"]["loosened"] == []
    assert digest(env.path) == before


def test_no_kernels(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    blackwell = Gpu(name="NVIDIA GeForce RTX 5090", compute_capability=Capability(12, 0))
    monkeypatch.setattr("envsolve.machine.detect.detect", machine(gpus=(blackwell,)))
    serve(server, torch=cuda_torch(more=CUDNN + gpus((12, 0), targets="sm_100 sm_120") + ALL_ELSE_SKIPPED))
    env = ill(tmp_path, "2.5.1+cu121", "12.1", gpus((12, 0), targets="sm_80 sm_86 sm_90"))
    assert fix(env, server) == 0
    out = capsys.readouterr().out
    assert out.startswith("no-kernels: ") and "torch 2.5.1+cu121 -> 2.9.1+cu128" in out


def test_a_pin_that_cannot_stay_is_loosened_and_named(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    extra = StubWheel(name="extra", version="2.0", requires=("six<1.17",))
    serve(server, extra, StubWheel(name="six", version="1.16.0"), StubWheel(name="tool", version="1.6"))
    env = ill(tmp_path)
    env.add("extra", "1.0", {"extra.py": ""})  # no index has this release any more
    assert fix(env, server, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["fix"]["loosened"] == ["extra==1.0"]
    assert {"name": "extra", "before": "1.0", "after": "2.0"} in said["fix"]["changes"]
    assert not any(c["name"] == "tool" for c in said["fix"]["changes"])


def test_what_no_lock_takes_is_told(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    env = ill(tmp_path)
    env.add("mine", "0.1", {"mine.py": ""}, requires=("six",))
    direct = {"url": (tmp_path / "project").as_uri(), "dir_info": {"editable": True}}
    (env.site / "mine-0.1.dist-info" / "direct_url.json").write_text(json.dumps(direct))
    assert fix(env, server, "--json") == 0
    (command,) = json.loads(capsys.readouterr().out)["fix"]["reinstall"]
    assert command.endswith(f"-m pip install --no-deps -e {tmp_path / 'project'}")


def fixed(env: StubEnvironment, server: IndexServer, store: Path, capsys: Output) -> tuple[list[str], dict[str, Any]]:
    """What the new environment was asked to hold, beside torch and the Python, and what was said of it."""
    before = digest(env.path)
    assert fix(env, server, "--json") == 0
    said = json.loads(capsys.readouterr().out)["fix"]
    assert digest(env.path) == before
    marker = json.loads((store / "envs/project-fixed/envsolve.json").read_text())
    return marker["asked"][1:-2], said


def came_from(env: StubEnvironment, dist: str, said: dict[str, Any]) -> None:
    (env.site / f"{dist}.dist-info" / "direct_url.json").write_text(json.dumps(said))


def test_one_whose_python_is_gone(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    env = ill(tmp_path)
    env.interpreter.unlink()
    env.interpreter.symlink_to("/nowhere/bin/python3")
    assert fixed(env, server, store, capsys)[0] == ["tool==1.5"]


@pytest.mark.parametrize("text", [None, bytes(range(256))])
def test_a_package_whose_metadata_are_gone_is_kept(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output, text: bytes | None
) -> None:
    serve(server, StubWheel(name="six", version="1.16.0"))
    env = ill(tmp_path)
    metadata = env.site / "tool-1.5.dist-info" / "METADATA"
    metadata.unlink() if text is None else metadata.write_bytes(text)
    assert fixed(env, server, store, capsys)[0] == ["six==1.16.0", "tool==1.5"]  # nobody is known to need six


def test_of_a_circle_one_is_kept(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    circle = {"ring-a": "ring-b", "ring-b": "ring-a"}
    serve(server, *(StubWheel(name=name, version="1.0", requires=(other,)) for name, other in circle.items()))
    env = ill(tmp_path)
    for name, other in circle.items():
        env.add(name, "1.0", {f"{name}.txt": ""}, requires=(other,))
    assert fixed(env, server, store, capsys)[0] == ["ring-a==1.0", "tool==1.5"]


def test_condas_own_folders_and_those_that_are_gone_are_no_projects(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    names = ("by-conda", "moved", "lost")
    serve(server, *(StubWheel(name=name, version="1.0") for name in names))
    env = ill(tmp_path)
    for name in names:
        env.add(name, "1.0", {f"{name}.txt": ""})
    (tmp_path / "work").mkdir()
    came_from(env, "by_conda-1.0", {"url": (tmp_path / "work").as_uri(), "dir_info": {}})
    (env.site / "by_conda-1.0.dist-info" / "INSTALLER").write_text("conda\n")
    came_from(env, "moved-1.0", {"url": (tmp_path / "gone").as_uri(), "dir_info": {"editable": True}})
    came_from(env, "lost-1.0", {"url": (tmp_path / "lost-1.0-py3-none-any.whl").as_uri(), "archive_info": {}})
    asked, said = fixed(env, server, store, capsys)
    assert asked == ["by-conda==1.0", "lost==1.0", "moved==1.0", "tool==1.5"] and said["reinstall"] == []


def test_the_command_that_reinstalls_a_project_works_as_it_is(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    serve(server)
    env = ill(tmp_path)
    env.add("mine", "0.1", {"mine.py": ""}, requires=("six",))
    work = tmp_path / "my work"
    work.mkdir()
    came_from(env, "mine-0.1", {"url": work.as_uri(), "dir_info": {}})
    _, said = fixed(env, server, store, capsys)
    words = shlex.split(said["reinstall"][0])
    assert words[1:] == ["-m", "pip", "install", "--no-deps", str(work)]  # it was not editable
    assert subprocess.run([*words[:3], "--version"], check=False, capture_output=True).returncode == 0


def test_a_project_that_an_old_setuptools_links_to(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    serve(server)
    env = ill(tmp_path)
    info = tmp_path / "old" / "old.egg-info"
    info.mkdir(parents=True)
    (info / "PKG-INFO").write_text("Metadata-Version: 1.1\nName: old\nVersion: 0.3\n")
    (info / "requires.txt").write_text("six\n\n[test]\ntool\n")
    (env.site / "old.egg-link").write_text(f"{tmp_path / 'old'}\n.")
    _, said = fixed(env, server, store, capsys)
    assert said["reinstall"][0].endswith(f"-m pip install --no-deps -e {tmp_path / 'old'}")


def test_the_numpy_that_is_blamed_goes_and_torch_stays(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    old = cuda_torch("2.2.2+cu121")
    stated = "__version__ = '2.2.2+cu121'\ncuda = '12.1'\nhip = None\n"
    server.add_wheel("cu121", replace(old, modules={**old.modules, "torch/version.py": stated}))
    for version in ("1.26.4", "2.4.0"):
        server.add_package(StubWheel(name="numpy", version=version))
    serve(server)
    clash = "\nsys.stderr.write('A module that was compiled using NumPy 1.x cannot be run in\\nNumPy 2.4.0')\n"
    env = ill(tmp_path, "2.2.2+cu121", "12.1", WORKS + clash)
    env.add("numpy", "2.4.0", {"numpy/__init__.py": ""})
    asked, said = fixed(env, server, store, capsys)
    assert asked[:2] == ["tool==1.5", "numpy"] and said["loosened"] == ["numpy==2.4.0"]
    assert {"name": "numpy", "before": "2.4.0", "after": "1.26.4"} in said["changes"]
    assert not any(change["name"] == "torch" for change in said["changes"])


def test_a_package_that_no_index_has(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    env = ill(tmp_path)
    env.add("private", "3.0", {"private.py": ""})
    assert fix(env, server) == 1
    said = capsys.readouterr().err
    assert "no index here has private" in said and "--extra-index" in said
    assert builds(store) == []


def test_a_name_that_is_taken(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    env = ill(tmp_path)
    fixed(env, server, store, capsys)
    assert fix(env, server) == 2
    said = capsys.readouterr().err
    assert "exists already" in said and "--into" in said and "--replace" not in said


def test_without_torch_there_is_nothing_to_fix(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    env = empty_environment(tmp_path / "project" / ".venv")
    assert fix(env, server) == 1
    said = capsys.readouterr().err
    assert "there is nothing to fix: torch is not installed" in said and "envsolve install" in said


def test_one_that_may_not_be_written_and_has_an_odd_path(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    serve(server)
    env = ill(tmp_path / "spa\u00df mit \u00fcmlauten")
    subprocess.run(["chmod", "-R", "a-w", env.path], check=True)
    try:
        assert fixed(env, server, store, capsys)[0] == ["tool==1.5"]
    finally:
        subprocess.run(["chmod", "-R", "u+w", env.path], check=True)


def test_a_healthy_one_is_left_alone(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    env = ill(tmp_path, "2.9.1+cu128", "12.8", gpus((8, 9), targets="sm_80 sm_86 sm_90") + PRODUCT)
    assert fix(env, server) == 0
    said = capsys.readouterr()
    assert said.out.startswith("ok: ") and "nothing was made" in said.err
    assert builds(store) == [] and server.count() == 0


def test_a_mask_is_not_repaired_by_an_environment(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "-1")
    env = ill(
        tmp_path, "2.9.1+cu128", "12.8", "\nARCH_LIST, DEVICES, WHY = 'sm_86', [], 'No CUDA GPUs are available'\n"
    )
    assert fix(env, server, "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert said["finding"] == "gpu-hidden" and said["fix"]["made"] is None
    assert "would be as ill" in said["fix"]["error"]
    assert builds(store) == [] and server.count() == 0


def test_a_driver_that_no_build_serves(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = {"driver": Dotted.parse("390.157"), "cuda_max": Dotted.parse("9.1")}
    monkeypatch.setattr("envsolve.machine.detect.detect", machine(**old))
    env = ill(tmp_path, "2.9.1+cu128", "12.8", "\nDEVICES, WHY = [], 'The NVIDIA driver on your system is too old'\n")
    assert fix(env, server) == 1
    said = capsys.readouterr()
    assert said.out.startswith("driver-too-old: ")
    assert "no environment was made" in said.err
    assert builds(store) == []


def test_one_that_does_not_prove_itself_leaves_nothing_half_made(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    serve(server, torch=cuda_torch(more="\nraise ImportError('broken')\n"))
    env = ill(tmp_path)
    before = digest(env.path)
    assert fix(env, server) == 1
    assert "failed verification" in capsys.readouterr().err
    assert not (store / "envs/project-fixed").exists()
    assert digest(env.path) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--into", "new"], "goes with --fix"),
        (["--fix", "--in-place", "--into", "new"], "takes the old one's place"),
        (["--fix", "--report", "x"], "a text can't be fixed"),
        (["--fix", "--with-project", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_wrong_usage_of_fix(arguments: list[str], message: str, tmp_path: Path, capsys: Output) -> None:
    place = [] if "--report" in arguments else ["--path", str(ill(tmp_path).path)]
    assert run(["doctor", *place, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_in_place_of_one_that_envsolve_made(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    serve(server)
    server.add_wheel("cpu", cuda_torch("2.9.1+cpu", more=ALL_ELSE_SKIPPED))
    sources = ["--mirror", server.whl, "--index", server.simple]
    made = ["install", "torch==2.9.1", "tool", "--variant", "cpu", "--name", "mine", "--verify", "later"]
    assert run([*made, *sources]) == 0
    (old,) = builds(store)
    capsys.readouterr()
    assert run(["doctor", "--name", "mine", "--fix", "--in-place", *sources]) == 0
    assert "torch 2.9.1+cpu -> 2.9.1+cu128" in capsys.readouterr().out
    assert builds(store) != [old] and len(builds(store)) == 1


def test_in_place_of_a_foreign_one_asks_first(tmp_path: Path, store: Path, server: IndexServer, capsys: Output) -> None:
    env = ill(tmp_path)
    before = digest(env.path)
    assert fix(env, server, "--in-place") == 2
    assert "add --yes" in capsys.readouterr().err
    assert digest(env.path) == before


def test_a_foreign_one_is_mended_by_its_own_installer(tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    SIX.write(wheels)
    env = ill(tmp_path)
    way = Fix(
        text="", commands=("envsolve install --name NAME", f"pip install --no-index --find-links {wheels} -U six")
    )
    found = Finding(code="companion-mismatch", headline="six is old", certainty="high", fixes=(way,))
    (ran,) = mend(env.interpreter, found, load_settings(), yes=True)
    assert "six" in ran and says(env.path, "import importlib.metadata as m; print(m.version('six'))") == "1.17.0"


def test_in_place_what_is_missing_is_unpacked_again(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    works = gpus((8, 9), targets="sm_80 sm_86 sm_90") + PRODUCT
    serve(server, torch=cuda_torch(more=works))
    env = ill(tmp_path, "2.9.1+cu128", "12.8", works)
    (env.site / "torch" / "version.py").unlink()
    assert fix(env, server, "--in-place", "--yes", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["finding"], said["fix"]["before"], said["fix"]["made"]) == ("ok", "damaged-install", None)
    (ran,) = said["fix"]["ran"]
    assert "torch==2.9.1+cu128" in ran and f"{server.whl}/cu128" in ran
    assert (env.site / "torch" / "version.py").is_file() and builds(store) == []


def test_in_place_what_torch_needs_comes_from_a_mirror_too(
    tmp_path: Path, store: Path, server: IndexServer, capsys: Output
) -> None:
    works = gpus((8, 9), targets="sm_80 sm_86 sm_90") + PRODUCT
    server.add_wheel("cu128", StubWheel(name="nvidia-cudnn-cu12", version="9.10.2.21"))  # on no other index
    env = stub_environment(
        tmp_path / ".venv", version="2.9.1+cu128", cuda="12.8", more=works, requires=("nvidia-cudnn-cu12==9.10.2.21",)
    )
    assert fix(env, server, "--in-place", "--yes", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["finding"], said["fix"]["before"]) == ("ok", "damaged-install")
    (ran,) = said["fix"]["ran"]
    assert "nvidia-cudnn-cu12==9.10.2.21" in ran and server.whl not in ran  # it may hold a password


@pytest.mark.parametrize(
    "commands", [(), ("sudo apt purge x",), ("pip install NAME",), ("pip install six", "unset LD_LIBRARY_PATH")]
)
def test_what_no_installer_can_do_is_not_done(commands: tuple[str, ...], tmp_path: Path) -> None:
    found = Finding(code="cpu-build", headline="x", certainty="high", fixes=(Fix(text="", commands=commands),))
    with pytest.raises(RefusedError, match="nothing was changed in place"):
        mend(tmp_path / "python", found, load_settings(), yes=True)
