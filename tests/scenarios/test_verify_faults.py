"""Every fault that an environment can have is reported as what it is: a failed check, never a traceback."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from envsolve.verify.expected import Expected
from envsolve.verify.report import Check, Report
from envsolve.verify.run import verify
from fakes.stub_torch import StubEnvironment, empty_environment, gpus, stub_environment

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stubs are laid out as on POSIX")

CPU = Expected(versions={"torch": "2.11.0+cpu"}, device="cpu")
CUDA = Expected(
    versions={"torch": "2.11.0+cu130"},
    device="cuda",
    cuda="13.0",
    targets=("sm_80", "sm_90", "compute_90"),
    gpu_codes=("sm_90",),
)


def prove(environment: StubEnvironment, expected: Expected = CPU, *, timeout_s: float = 60) -> Report:
    return verify(environment.interpreter, expected, timeout_s=timeout_s)


def check(report: Report, name: str) -> Check:
    return next(check for check in report.checks if check.name == name)


def cuda_stub(path: Path, more: str) -> StubEnvironment:
    return stub_environment(path, version="2.11.0+cu130", cuda="13.0", more=more)


# The import -----------------------------------------------------------------------------------------------------------


def test_a_torch_that_crashes_when_imported(tmp_path: Path) -> None:
    report = prove(stub_environment(tmp_path / "env", more="\nsys.stderr.write('boom\\n'); os.abort()\n"))
    failed = check(report, "import torch")
    assert failed.outcome == "failed"
    assert failed.seen == "crashed: the process was killed by SIGABRT: boom"
    assert not report.verified
    assert not [c for c in report.checks if c.name.startswith("compute")]


def test_a_torch_whose_import_never_ends(tmp_path: Path) -> None:
    report = prove(stub_environment(tmp_path / "env", more="\nimport time; time.sleep(600)\n"), timeout_s=1.5)
    failed = check(report, "import torch")
    assert failed.outcome == "failed"
    assert failed.seen.startswith("hung: no answer within 1.5 s")
    assert "--timeout" in failed.hint


@pytest.mark.parametrize(
    ("code", "seen", "hint"),
    [
        ("raise ImportError('libcudart.so.13: cannot open shared object file')", "libcudart.so.13", "belongs together"),
        ("raise ImportError('x.so: undefined symbol: _ZN3c10')", "undefined symbol", "belongs together"),
        ('raise OSError("libc.so.6: version `GLIBC_2.28\' not found")', "GLIBC_2.28", "C library is too old"),
        ("import numpy_that_is_not_there", "No module named 'numpy_that_is_not_there'", "belongs together"),
        ("sys.exit(7)", "SystemExit: 7", ""),
        ("os._exit(7)", "ended with exit code 7", ""),
        ("os.kill(os.getpid(), 4)", "SIGILL", "lacks instructions"),
    ],
)
def test_a_torch_that_can_not_be_imported(tmp_path: Path, code: str, seen: str, hint: str) -> None:
    failed = check(prove(stub_environment(tmp_path / "env", more=f"\n{code}\n")), "import torch")
    assert failed.outcome == "failed"
    assert seen in failed.seen
    assert hint in failed.hint


def test_chatter_on_stdout_does_no_harm(tmp_path: Path) -> None:
    noise = "\nprint('@envsolve {not json'); os.write(1, b'half a line'); print('\\udcff' * 0 + '\\x00' * 70000)\n"
    report = prove(stub_environment(tmp_path / "env", more=noise))
    assert check(report, "compute cpu matmul fp32").outcome == "passed"


def test_what_torch_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    more = f"\nimport subprocess\nopen({str(pid)!r}, 'w').write(str(subprocess.Popen(['sleep', '600']).pid))\n"
    assert check(prove(stub_environment(tmp_path / "env", more=more)), "build").outcome == "passed"
    while _runs(int(pid.read_text())):  # the signal is sent; it may not have arrived yet
        time.sleep(0.01)


def _runs(pid: int) -> bool:
    """A process that is neither gone nor waiting to be collected."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


# The computation ------------------------------------------------------------------------------------------------------

_WORSE = """
right = matmul
def matmul(a, b):
    product = right(a, b)
    {}
    return product
"""


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("product.rows = [[v * 1.001 for v in row] for row in product.rows]", "fp32: relative error 1.0e-03"),
        ("product.rows[0][0] = float('nan')", "fp32: relative error nan"),
        ("product.rows[0][0] = float('inf')", "fp32: relative error inf"),
        ("raise RuntimeError('CUDA out of memory')", "RuntimeError: CUDA out of memory"),
    ],
)
def test_wrong_results(tmp_path: Path, fault: str, seen: str) -> None:
    fault = "if not getattr(b, 'seen', False):\n        b.seen = True\n        " + fault
    report = prove(stub_environment(tmp_path / "env", more=_WORSE.format(fault)))
    failed = check(report, "compute cpu matmul fp32")
    assert failed.outcome == "failed"
    assert failed.seen == seen
    assert failed.hint


def test_a_crash_is_pinned_to_its_step_and_the_others_still_run(tmp_path: Path) -> None:
    more = "\ndef randint(*args): os.abort()\n"
    report = prove(stub_environment(tmp_path / "env", more=more))
    names = [c.name for c in report.checks if c.name.startswith("compute")]
    assert names == sorted(names, key=names.index)
    assert len(names) == len(set(names))
    assert check(report, "compute cpu matmul fp32").outcome == "passed"
    assert check(report, "compute cpu indexing").seen.startswith("crashed: the process was killed by SIGABRT")
    assert check(report, "compute cpu sort").seen.startswith("TypeError: randn()")
    assert check(report, "compute cpu pinned copies").seen == "pinned copies are made on CUDA devices"


def test_a_hang_is_pinned_to_its_step_and_the_rest_is_not_tried(tmp_path: Path) -> None:
    more = _WORSE.format("import time; time.sleep(600)")
    report = prove(stub_environment(tmp_path / "env", more=more), timeout_s=2)
    assert check(report, "compute cpu matmul fp32").seen.startswith("hung: no answer within 2 s")
    after = check(report, "compute cpu sort")
    assert (after.outcome, after.seen) == ("skipped", "not run: matmul fp32 hung")


# The build and the driver ---------------------------------------------------------------------------------------------


def test_a_cpu_build_where_cuda_was_promised(tmp_path: Path) -> None:
    report = prove(stub_environment(tmp_path / "env"), CUDA)
    assert check(report, "versions").seen == "torch 2.11.0+cpu (promised 2.11.0+cu130)"
    assert "this is a CPU build of torch where a CUDA 13.0 build was promised" in check(report, "build").seen
    assert check(report, "driver").outcome == "skipped"
    assert not report.verified


def test_a_build_for_another_cuda(tmp_path: Path) -> None:
    env = stub_environment(tmp_path / "env", version="2.11.0+cu130", cuda="12.6", more=gpus((9, 0)))
    failed = check(prove(env, CUDA), "build")
    assert failed.outcome == "failed"
    assert failed.seen == "this is a CUDA 12.6 build of torch where a CUDA 13.0 build was promised"


def test_an_arch_list_without_the_promised_code(tmp_path: Path) -> None:
    report = prove(cuda_stub(tmp_path / "env", gpus((9, 0), targets="sm_75 sm_80 compute_80")), CUDA)
    failed = check(report, "targets")
    assert failed.outcome == "failed"
    assert failed.seen.startswith("the binary has sm_75 sm_80 compute_80; not sm_90")


def test_hidden_devices_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    failed = check(prove(cuda_stub(tmp_path / "env", gpus()), CUDA), "driver")
    assert failed.outcome == "failed"
    assert failed.seen.startswith("no device: CUDA_VISIBLE_DEVICES='' hides every GPU")


def test_a_driver_library_that_can_not_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcuda.so.1").write_text("not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "lib"))
    failed = check(prove(cuda_stub(tmp_path / "env", gpus()), CUDA), "driver")
    assert failed.outcome == "failed"
    assert "libcuda.so.1: file too short" in failed.seen
    assert "can't be loaded" in failed.hint


def test_a_missing_gpu_fails_though_the_others_work(tmp_path: Path) -> None:
    two = Expected(versions=CUDA.versions, device="cuda", cuda="13.0", gpu_codes=("sm_90", "sm_90"))
    report = prove(cuda_stub(tmp_path / "env", gpus((9, 0))), two)
    assert check(report, "driver").outcome == "failed"
    assert check(report, "compute cuda:0 matmul fp32").outcome == "passed"
    assert not report.verified


def test_a_gpu_that_the_plan_leaves_out_is_not_tried(tmp_path: Path) -> None:
    report = prove(cuda_stub(tmp_path / "env", gpus((6, 1), (9, 0))), CUDA)
    assert "cuda:0 NVIDIA Stub 61 (6.1), which the plan leaves out" in check(report, "driver").seen
    assert {c.name.split()[1] for c in report.checks if c.name.startswith("compute")} == {"cuda:1"}


# Native or JIT --------------------------------------------------------------------------------------------------------

_ONLY_PTX = """
if os.environ.get("CUDA_DISABLE_PTX_JIT"):
    def randperm(n): raise RuntimeError("CUDA error: PTX JIT compilation was disabled")
"""


def test_native_code_where_it_was_promised(tmp_path: Path) -> None:
    proof = check(prove(cuda_stub(tmp_path / "env", gpus((9, 0))), CUDA), "native code cuda:0")
    assert (proof.outcome, proof.seen) == ("passed", "native: it runs without JIT")


def test_jit_where_native_code_was_promised(tmp_path: Path) -> None:
    proof = check(prove(cuda_stub(tmp_path / "env", gpus((9, 0)) + _ONLY_PTX), CUDA), "native code cuda:0")
    assert proof.outcome == "failed"
    assert "JIT-compiled: without JIT, RuntimeError: CUDA error: PTX JIT compilation was disabled" in proof.seen


def test_jit_where_jit_was_promised(tmp_path: Path) -> None:
    jit = Expected(versions=CUDA.versions, device="cuda", cuda="13.0", gpu_codes=("compute_90",))
    proof = check(prove(cuda_stub(tmp_path / "env", gpus((10, 0)) + _ONLY_PTX), jit), "native code cuda:0")
    assert proof.outcome == "passed"
    assert "JIT-compiled" in proof.seen


# The interpreter and the files ----------------------------------------------------------------------------------------


def test_an_interpreter_that_is_something_else(tmp_path: Path) -> None:
    env = stub_environment(tmp_path / "env")
    env.interpreter.unlink()
    env.interpreter.write_text("#!/bin/sh\necho Hello, I am no Python\n")
    env.interpreter.chmod(0o755)
    report = prove(env)
    assert [c.name for c in report.checks] == ["interpreter"]
    assert report.checks[0].seen == "crashed: the process ended with exit code 0: Hello, I am no Python"


def test_an_interpreter_that_is_gone(tmp_path: Path) -> None:
    env = stub_environment(tmp_path / "env")
    env.interpreter.unlink()
    report = prove(env)
    assert report.checks[0].outcome == "failed"
    assert "No such file or directory" in report.checks[0].seen


def test_another_python_than_promised(tmp_path: Path) -> None:
    other = Expected(versions=CPU.versions, device="cpu", python="3.6")
    assert check(prove(stub_environment(tmp_path / "env"), other), "interpreter").outcome == "failed"


def test_a_package_that_overwrote_torch(tmp_path: Path) -> None:
    env = stub_environment(tmp_path / "env")
    version = env.site / "torch" / "version.py"
    version.write_text(version.read_text().replace("2.11.0+cpu", "2.99.0+cpu"))
    (env.site / "torch" / "__init__.py").write_text("from torch.version import __version__\n")
    report = prove(env)
    seen = check(report, "files").seen
    assert "torch/version.py: its hash is not RECORD's" in seen
    assert "torch/__init__.py: 38 bytes, RECORD says" in seen


def test_a_torch_that_is_not_the_one_that_was_installed(tmp_path: Path) -> None:
    env = stub_environment(tmp_path / "env", more="\n__version__ = '2.99.0+cpu'\n")
    assert "import torch gives 2.99.0+cpu from " in check(prove(env), "build").seen


def test_two_torches_and_a_companion_for_another_one(tmp_path: Path) -> None:
    env = stub_environment(tmp_path / "env")
    env.add("torch", "2.10.0", {})
    env.add("torchvision", "0.26.0", {"torchvision/__init__.py": ""}, requires=["torch==2.9.0", "absent; extra == 'x'"])
    report = prove(env)
    assert "torch is installed 2 times: 2.10.0, 2.11.0+cpu" in check(report, "files").seen
    assert "torchvision 0.26.0 needs torch==2.9.0" in check(report, "requirements").seen
    assert "absent" not in check(report, "requirements").seen


def test_a_companion_that_does_not_load(tmp_path: Path) -> None:
    env = stub_environment(tmp_path / "env")
    broken = "raise RuntimeError('operator torchvision::nms does not exist')\n"
    env.add("torchvision", "0.26.0", {"torchvision/__init__.py": broken})
    both = Expected(versions={**CPU.versions, "torchvision": "0.26.0"}, device="cpu")
    report = prove(env, both)
    failed = check(report, "compute cpu torchvision nms")
    assert (failed.outcome, failed.seen) == ("failed", "RuntimeError: operator torchvision::nms does not exist")
    assert "belongs together" in failed.hint
    assert check(report, "compute cpu torchvision resize").outcome == "skipped"


def test_an_environment_without_torch(tmp_path: Path) -> None:
    report = prove(empty_environment(tmp_path / "env"))
    assert check(report, "versions").seen == "torch missing (promised 2.11.0+cpu)"
    assert check(report, "import torch").seen == "ModuleNotFoundError: No module named 'torch'"
