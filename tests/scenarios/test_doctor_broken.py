"""envsolve doctor on environments that are broken: half-gone installs, a Python that is gone, files in the way."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envsolve.cli.app import run
from envsolve.dotted import Dotted
from envsolve.machine.machine import Machine
from fakes.plans import a_machine
from fakes.stub_torch import StubEnvironment, empty_environment, stub_environment

Output = pytest.CaptureFixture[str]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the folders are those of POSIX")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Machine(os="linux", arch="x86_64", vendor="none"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")


def use(monkeypatch: pytest.MonkeyPatch, machine: Machine, *, container: bool = False) -> None:
    """A machine in place of what detection sees."""
    monkeypatch.setattr("envsolve.machine.detect.detect", lambda *_: machine)
    monkeypatch.setattr("envsolve.machine.probe_kernel.is_container", lambda _: container)


@pytest.fixture
def env(tmp_path: Path) -> StubEnvironment:
    """A sound one: the CPU build on a machine without a GPU."""
    return stub_environment(tmp_path / "env")


def doctor(capsys: Output, *arguments: str, code: int = 1) -> dict[str, Any]:
    assert run(["doctor", *arguments, "--json"]) == code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def of(env: StubEnvironment, capsys: Output, code: int = 1) -> dict[str, Any]:
    return doctor(capsys, "--path", str(env.path), code=code)


def commands(found: dict[str, Any]) -> list[str]:
    """What to type; the stubs have no pip, so that uv is told of their interpreter, whichever environment is active."""
    typed = [command for fix in found["fixes"] for command in fix["commands"]]
    return [
        re.sub(r"^uv pip (un)?install --python \S+/bin/python ", r"uv pip \1install ", command) for command in typed
    ]


def test_the_sound_one_is_healthy(env: StubEnvironment, capsys: Output) -> None:
    assert of(env, capsys, code=0)["finding"] == "ok"


def test_a_file_that_is_missing_is_named(env: StubEnvironment, capsys: Output) -> None:
    (env.site / "torch" / "version.py").unlink()
    found = of(env, capsys)
    assert (found["finding"], found["status"]) == ("damaged-install", "ill")
    assert "torch/version.py is missing" in found["headline"]
    assert commands(found)[0] == (
        "uv pip install --force-reinstall --no-deps torch==2.11.0+cpu --index-url https://download.pytorch.org/whl/cpu"
    )
    assert f"envsolve doctor --path {env.path} --fix" in commands(found)


def test_a_library_that_is_cut_off_kills_the_import(tmp_path: Path, capsys: Output) -> None:
    dies = "import os, signal\nos.kill(os.getpid(), signal.SIGBUS)\n"
    env = empty_environment(tmp_path / "env")
    files = {"torch/__init__.py": dies, "torch/version.py": "__version__ = '2.11.0+cpu'\ncuda = None\nhip = None\n"}
    env.add("torch", "2.11.0+cpu", {**files, "torch/lib/libc10.so": "x" * 1000})
    (env.site / "torch/lib/libc10.so").write_text("x" * 10)
    assert "torch/lib/libc10.so has 10 of 1000 bytes" in of(env, capsys)["headline"]


@pytest.mark.parametrize("end", ["import os; os._exit(3)", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"])
def test_a_torch_that_ends_the_program_is_never_healthy(tmp_path: Path, capsys: Output, end: str) -> None:
    env = stub_environment(tmp_path / "env", more=end)
    assert of(env, capsys)["finding"] != "ok"


def test_a_package_that_torch_requires_is_missing(tmp_path: Path, capsys: Output) -> None:
    env = stub_environment(tmp_path / "env", more="import typing_extensionz\n", requires=["typing-extensionz>=4"])
    found = of(env, capsys)
    assert found["headline"] == "torch 2.11.0+cpu requires typing-extensionz, which is not installed"
    assert commands(found)[0] == "uv pip install 'typing-extensionz>=4'"


NO_CUDNN = "raise ImportError('libcudnn.so.9: cannot open shared object file: No such file or directory')\n"


@pytest.fixture
def no_cudnn(tmp_path: Path) -> StubEnvironment:
    """A torch whose libraries come by another package's extra, as those of CUDA 13 do."""
    env = stub_environment(
        tmp_path / "env", version="2.13.0+cu130", cuda="13.0", more=NO_CUDNN, requires=["cuda-toolkit[cudnn]==13.0.3"]
    )
    extra = "nvidia-cudnn-cu13==9.20.*; extra == 'cudnn'"
    env.add("cuda-toolkit", "13.0.3", {}, requires=[extra, "nvidia-nccl-cu13; extra == 'nccl'"])
    return env


def test_a_library_whose_package_is_not_there(no_cudnn: StubEnvironment, capsys: Output) -> None:
    found = of(no_cudnn, capsys)
    assert found["headline"] == "cuda-toolkit 13.0.3 requires nvidia-cudnn-cu13, which is not installed"
    assert commands(found)[0] == "uv pip install 'nvidia-cudnn-cu13==9.20.*'"


def test_a_library_that_its_package_has_lost(no_cudnn: StubEnvironment, capsys: Output) -> None:
    no_cudnn.add("nvidia-cudnn-cu13", "9.20.0", {"nvidia/cudnn/lib/libcudnn.so.9": "code"})
    (no_cudnn.site / "nvidia/cudnn/lib/libcudnn.so.9").unlink()
    found = of(no_cudnn, capsys)
    assert "nvidia-cudnn-cu13 9.20.0 is not whole: nvidia/cudnn/lib/libcudnn.so.9 is missing" in found["headline"]
    assert commands(found)[0] == "uv pip install --force-reinstall --no-deps nvidia-cudnn-cu13==9.20.0"


def test_another_missing_module_is_not_torchs_fault(tmp_path: Path, capsys: Output) -> None:
    env = stub_environment(tmp_path / "env", more="import mine\n")
    assert of(env, capsys)["finding"] == "not-torch"


def test_two_records_of_torch_in_one_folder(env: StubEnvironment, capsys: Output) -> None:
    env.add("torch", "2.5.1", {})
    found = of(env, capsys)
    assert found["finding"] == "damaged-install" and "2 records of torch (" in found["headline"]
    assert commands(found)[:2] == ["uv pip uninstall torch"] * 2


def test_what_pip_left_when_it_was_interrupted(env: StubEnvironment, capsys: Output) -> None:
    env.add("six", "1.17.0", {"six.py": ""})
    for name in ("torch", "torch-2.11.0+cpu.dist-info"):
        (env.site / name).rename(env.site / f"~{name[1:]}")
    found = of(env, capsys)
    assert found["finding"] == "damaged-install" and "was interrupted" in found["headline"]


@pytest.mark.parametrize("text", [None, b"", bytes(range(256))])
def test_metadata_that_is_gone_or_garbage_hides_no_package(
    env: StubEnvironment, capsys: Output, text: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = env.site / "torch-2.11.0+cpu.dist-info" / "METADATA"
    metadata.unlink() if text is None else metadata.write_bytes(text)
    use(monkeypatch, a_machine())
    assert of(env, capsys)["finding"] == "cpu-build"


def break_link(env: StubEnvironment) -> None:
    env.interpreter.unlink()
    env.interpreter.symlink_to("/nowhere/bin/python3")


def forbid(env: StubEnvironment) -> None:
    env.interpreter.unlink()
    env.interpreter.write_text("#!/bin/sh\nexit 7\n")
    env.interpreter.chmod(0o644)


def fail(env: StubEnvironment) -> None:
    forbid(env)
    env.interpreter.chmod(0o755)


def remove(env: StubEnvironment) -> None:
    shutil.rmtree(env.path / "bin")


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (break_link, "was made from is gone"),
        (forbid, "may not be run by this user"),
        (fail, "it ended with status 7"),
        (remove, "its Python is gone"),
    ],
)
def test_a_python_that_is_gone(
    env: StubEnvironment, capsys: Output, harm: Callable[[StubEnvironment], None], told: str
) -> None:
    harm(env)
    found = of(env, capsys)
    assert found["finding"] == "damaged-install" and told in found["headline"]
    assert any("torch 2.11.0+cpu" in line for line in found["evidence"])  # the files are still read
    assert commands(found) == [f"envsolve doctor --path {env.path} --fix"]


def test_a_python_that_is_none_and_lies_nowhere(tmp_path: Path, capsys: Output) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    assert run(["doctor", "--python", str(program)]) == 3
    assert "does not run: it ended with status 7" in capsys.readouterr().err


def closed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Permissions as somebody else than root meets them."""
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != folder and access(path, mode))


def test_an_environment_in_a_folder_of_another_user(
    env: StubEnvironment, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(monkeypatch, env.path.parent)
    for option, value in (("--path", env.path), ("--python", env.interpreter)):
        assert run(["doctor", option, str(value)]) == 2
        assert f"{env.path.parent} may not be looked into by this user" in capsys.readouterr().err


def test_packages_that_may_not_be_read_are_not_called_missing(
    env: StubEnvironment, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed(monkeypatch, env.site)
    found = of(env, capsys)
    assert found["finding"] == "damaged-install" and "may not be read by this user" in found["headline"]
    assert commands(found) == [f"chmod -R a+rX {env.site}"]
    assert run(["doctor", "--path", str(env.path), "--fix"]) == 1  # what was asked for of it is not known
    assert "none was made" in capsys.readouterr().err


def test_a_torch_that_may_not_be_read(env: StubEnvironment, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    (env.site / "torch" / "version.py").unlink()
    closed(monkeypatch, env.site / "torch")
    assert commands(of(env, capsys))[0] == f"chmod -R a+rX {env.site / 'torch'}"


@pytest.mark.parametrize("stray", ["torch.py", "torch/__init__.py", "torchvision.py"])
def test_a_file_in_the_working_folder_is_in_the_way(
    env: StubEnvironment, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, stray: str
) -> None:
    env.add("torchvision", "0.26.0+cpu", {"torchvision/__init__.py": "import torch\n"})
    file = tmp_path / "work" / stray
    file.parent.mkdir(parents=True)
    file.touch()
    monkeypatch.chdir(tmp_path / "work")
    found = of(env, capsys)
    assert found["finding"] == "shadowed-torch"
    assert str(tmp_path / "work" / stray.split("/")[0]) in found["headline"]


def test_a_checkout_that_is_installed_is_not_in_the_way(
    env: StubEnvironment, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    (work / "torchvision").mkdir(parents=True)
    (work / "torchvision" / "__init__.py").touch()
    env.add("torchvision", "0.26.0+cpu", {"linked.pth": f"{work}\n"})
    direct = {"url": work.as_uri(), "dir_info": {"editable": True}}
    (env.site / "torchvision-0.26.0+cpu.dist-info" / "direct_url.json").write_text(json.dumps(direct))
    monkeypatch.chdir(work)
    assert of(env, capsys, code=0)["finding"] == "ok"


def test_pythonpath_is_blamed_only_where_it_leads_to_the_torch(
    env: StubEnvironment, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "unrelated"))
    assert of(env, capsys, code=0)["finding"] == "ok"
    other = stub_environment(tmp_path / "other", version="2.1.0+cpu")
    monkeypatch.setenv("PYTHONPATH", str(other.site))
    found = of(env, capsys)
    assert found["finding"] == "shadowed-torch" and "unset PYTHONPATH" in commands(found)


def test_a_library_of_ld_library_path(tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cuda" / "lib64"
    broken = f"raise ImportError('{folder}/libc10.so: invalid ELF header')\n"
    env = stub_environment(tmp_path / "env", more=broken)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/opt/x/lib:{folder}")
    found = of(env, capsys)
    assert found["finding"] == "variant-mismatch" and "unset LD_LIBRARY_PATH" in commands(found)


def test_why_the_gpu_is_not_available_is_asked_of_torch(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "\nDEVICES, WHY = [], 'Found no NVIDIA driver on your system.'\n"
    env = stub_environment(tmp_path / "env", version="2.11.0+cu128", cuda="12.8", more=why)
    nothing = Machine(os="linux", arch="x86_64", vendor="none")
    use(monkeypatch, nothing, container=True)
    found = of(env, capsys)
    assert (found["finding"], found["certainty"]) == ("gpu-not-passed-through", "medium")
    assert any("Found no NVIDIA driver" in line for line in found["evidence"])
    use(monkeypatch, nothing)
    assert of(env, capsys)["finding"] == "wrong-accelerator"


def test_a_live_unknown_asks_for_nothing_that_is_seen_here(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = stub_environment(tmp_path / "env", more="raise ValueError('never heard of')\n")
    (missing,) = of(env, capsys)["missing"]
    assert missing["field"] == "error" and "import torch" in missing["how"]
    nobody = "\nDEVICES, WHY = [], 'never heard of'\n"
    env = stub_environment(tmp_path / "other", version="2.11.0+cu128", cuda="12.8", more=nobody)
    use(monkeypatch, a_machine(driver=Dotted.parse("580.65.06"), cuda_max=Dotted.parse("13.0")))
    assert not any("CUDA_VISIBLE_DEVICES" in m["field"] for m in of(env, capsys)["missing"])


def test_an_import_that_does_not_end_is_told_with_its_limit(tmp_path: Path, capsys: Output) -> None:
    env = stub_environment(tmp_path / "env", more="import time; time.sleep(60)\n")
    found = doctor(capsys, "--path", str(env.path), "--timeout", "0.5")
    assert (found["finding"], found["evidence"][0]) == ("unknown", "no answer within 0.5 s to: import torch")
    assert "--timeout 600" in found["missing"][0]["how"]


def test_a_program_that_ends_without_a_word_is_told_by_its_signal(tmp_path: Path, capsys: Output) -> None:
    env = stub_environment(tmp_path / "env", more="import os, signal; os.kill(os.getpid(), signal.SIGBUS)\n")
    assert "Bus error (core dumped)" in of(env, capsys)["evidence"]


def test_a_wrong_companion_keeps_torch_where_it_can(
    env: StubEnvironment, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    env.add("torchvision", "0.20.1", {"torchvision/__init__.py": "import torch\n"})
    use(monkeypatch, a_machine(driver=Dotted.parse("580.65.06"), cuda_max=Dotted.parse("13.0")))
    found = of(env, capsys)
    assert found["finding"] == "companion-mismatch"
    assert "torch==2.11.0" in commands(found)[0] and "--variant cu" in commands(found)[0]


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("env/bin/python", "--python "),
        ("env/bin", "--path {env}"),
        (".", "--path {env}"),
    ],
)
def test_a_near_miss_names_the_right_words(tmp_path: Path, capsys: Output, given: str, hint: str) -> None:
    env = empty_environment(tmp_path / "env")
    assert run(["doctor", "--path", str(tmp_path / given)]) == 2
    assert f"envsolve doctor {hint.format(env=env.path)}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "asks"), [("Pipfile", "pipenv --venv"), ("poetry.lock", "poetry env info --path"), ("hatch.toml", "hatch")]
)
def test_a_tool_that_keeps_environments_elsewhere_is_to_be_asked(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, file: str, asks: str
) -> None:
    (tmp_path / file).touch()
    monkeypatch.chdir(tmp_path)
    assert run(["doctor"]) == 2
    assert asks in capsys.readouterr().err


@pytest.mark.parametrize("folder", [".venv", "venv", ".conda", "env", ".pixi/envs/default"])
def test_the_projects_own_environment(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    stub_environment(tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    assert doctor(capsys, code=0)["finding"] == "ok"


def test_an_active_environment_that_was_removed_is_named(
    tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    assert run(["doctor"]) == 2
    assert f"VIRTUAL_ENV says {tmp_path / 'gone'}" in capsys.readouterr().err


def test_nothing_is_written_into_it(env: StubEnvironment, capsys: Output) -> None:
    subprocess.run(["chmod", "-R", "a-w", env.path], check=True)
    before = sorted(env.path.rglob("*"))
    try:
        of(env, capsys, code=0)
        assert sorted(env.path.rglob("*")) == before
    finally:
        subprocess.run(["chmod", "-R", "u+w", env.path], check=True)
