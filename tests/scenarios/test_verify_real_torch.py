"""A real torch is verified, on the CPU and as if there were GPUs; and it is caught when it computes wrongly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from filelock import FileLock

from envsolve.cli.app import run
from envsolve.verify import probes
from envsolve.verify.expected import Expected
from envsolve.verify.report import Report
from envsolve.verify.run import verify
from fakes.plain_companions import TORCHAUDIO, TORCHVISION
from fakes.pretend_gpu import sitecustomize
from fakes.stub_torch import StubEnvironment, empty_environment

pytestmark = [pytest.mark.slow, pytest.mark.network]

TORCH = "2.13.0"


@pytest.fixture(scope="session")
def torch_environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the torch that pip's configuration finds; ENVSOLVE_TEST_TORCH names one that is there."""
    ready = os.environ.get("ENVSOLVE_TEST_TORCH")
    if ready:
        return Path(ready)
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if os.environ.get("PYTEST_XDIST_WORKER") else shared
    path, why_not = shared / "torch-environment", shared / "torch-environment.failed"
    with FileLock(shared / "torch-environment.lock"):
        if not path.exists() and not why_not.exists():
            venv.create(path, with_pip=True, symlinks=os.name != "nt")
            command = [str(path / "bin" / "python"), "-m", "pip", "install", "-q", f"torch=={TORCH}"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                why_not.write_text(done.stderr)
    if why_not.exists():
        pytest.skip(f"pip finds no torch {TORCH} here: {why_not.read_text().strip().splitlines()[-1]}")
    return path


@pytest.fixture
def environment(torch_environment: Path, tmp_path: Path) -> StubEnvironment:
    """A fresh environment that sees the real torch; the test puts more into it."""
    fresh = empty_environment(tmp_path / "env")
    site = StubEnvironment(torch_environment).site
    (fresh.site / "torch.pth").write_text(f"{site}\n")
    return fresh


def pretend(environment: StubEnvironment, text: str) -> StubEnvironment:
    (environment.site / "sitecustomize.py").write_text(text)
    return environment


def expected(*codes: str, **versions: str) -> Expected:
    """Promises for a pretended GPU."""
    return Expected(versions={"torch": TORCH, **versions}, device="cuda", cuda="13.0", gpu_codes=codes)


def outcomes(report: Report, prefix: str) -> dict[str, str]:
    return {c.name.removeprefix(prefix): c.outcome for c in report.checks if c.name.startswith(prefix)}


def test_the_cpu_computes_rightly(torch_environment: Path) -> None:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    promised = Expected(versions={"torch": TORCH}, device="cpu", python=here)
    heard: list[str] = []
    report = verify(StubEnvironment(torch_environment).interpreter, promised, progress=heard.append)
    assert report.verified, report
    assert report.torch.startswith(TORCH)
    results = outcomes(report, "compute cpu ")
    skipped = {name for name, outcome in results.items() if outcome == "skipped"}
    assert skipped == {"matmul tf32", "matmul fp8", "pinned copies"}
    assert len(results) == 14
    assert "cpu: fft" in heard


def test_companions_compute_rightly(environment: StubEnvironment) -> None:
    environment.add("torchvision", "0.28.0", TORCHVISION)
    environment.add("torchaudio", "2.11.0", TORCHAUDIO)
    all_three = {"torch": TORCH, "torchvision": "0.28.0", "torchaudio": "2.11.0"}
    report = verify(environment.interpreter, Expected(versions=all_three, device="cpu"))
    assert report.verified, report
    assert set(outcomes(report, "compute cpu torch").values()) == {"passed"}
    assert len(outcomes(report, "compute cpu torch")) == 5


def test_a_gpu_that_computes_wrongly(environment: StubEnvironment) -> None:
    faults = {
        "matmul fp32": "torch.matmul = lambda a, b, f=torch.matmul: f(a, b) * (1.001 if a.dtype.itemsize == 4 else 1)",
        "conv2d": "torch.nn.functional.conv2d = lambda *a, f=torch.nn.functional.conv2d, **k: f(*a, **k) + 1e-3",
        "sort": "torch.sort = lambda x, f=torch.sort: tuple(t.flip(0) for t in f(x))",
        "indexing": "torch.Tensor.index_add_ = lambda self, *args: self",
        "fft": "torch.fft.rfft = lambda x, f=torch.fft.rfft: f(x).conj().resolve_conj()",
        "linear solve": "torch.linalg.solve = lambda a, b: b / 30",
        "autograd step": "torch.Tensor.backward = lambda self, f=torch.Tensor.backward: f(self * 1.01)",
        "pinned copies": "torch.Tensor.pin_memory = lambda self: self + 1",
    }
    pretend(environment, sitecustomize((9, 0), more="\n    ".join(faults.values())))
    report = verify(environment.interpreter, expected("sm_90"))
    results = outcomes(report, "compute cuda:0 ")
    assert {name for name, outcome in results.items() if outcome == "failed"} == set(faults)
    assert not report.verified


def test_two_gpus_every_check_and_an_all_reduce(environment: StubEnvironment) -> None:
    pretend(environment, sitecustomize((8, 6), (9, 0)))
    report = verify(environment.interpreter, expected("sm_80", "sm_90"))
    assert report.failed == ()
    assert report.verified
    for device in ("cuda:0 ", "cuda:1 "):
        results = outcomes(report, f"compute {device}")
        assert [name for name, outcome in results.items() if outcome == "skipped"] in ([], ["matmul fp8"])
    assert outcomes(report, "native code ") == {"cuda:0": "passed", "cuda:1": "passed"}
    assert outcomes(report, "nccl ") == {"all-reduce": "passed"}
    assert set(outcomes(report, "torch.compile ")) == {"cuda:0", "cuda:1"}


def test_an_all_reduce_that_adds_wrongly(environment: StubEnvironment) -> None:
    wrong = "distributed.all_reduce = lambda x, f=distributed.all_reduce: (f(x), x.mul_(1.1))"
    pretend(environment, sitecustomize((9, 0), (9, 0), more=wrong))
    report = verify(environment.interpreter, expected("sm_90", "sm_90"))
    assert report.failed == ("nccl all-reduce",)


def test_the_proof_of_jit(environment: StubEnvironment) -> None:
    pretend(environment, sitecustomize((10, 3), only_ptx=True))
    interpreter = environment.interpreter
    promised_jit = verify(interpreter, expected("compute_90"))
    assert promised_jit.verified, promised_jit
    promised_native = verify(interpreter, expected("sm_100"))
    assert promised_native.failed == ("targets", "native code cuda:0")


def test_a_benchmark_on_the_cpu(
    torch_environment: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("envsolve.verify.bench.run._ON_CPU", {"runs": 2, "size": 128, "side": 32, "batches": [2]})
    plot = tmp_path / "bench.svg"
    assert run(["verify", "--path", str(torch_environment), "--bench", "--json", "--plot", str(plot)]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["bench"]["measured"]}
    assert len(rows["first kernel"]["values"]) == 3
    assert {"matmul fp32", "ResNet-50 inference fp32, batch 2", "ResNet-50 training fp32, batch 2"} <= set(rows)
    assert plot.read_text().startswith("<svg")


def test_the_network_of_the_benchmark_is_resnet_50(torch_environment: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(Path(probes.__file__).parent.parent)!r}); import torch\n"
    code += "from probes.resnet import resnet50; network = resnet50(torch)\n"
    code += "print(sum(p.numel() for p in network.parameters()), tuple(network(torch.randn(2, 3, 224, 224)).shape))"
    command = [str(StubEnvironment(torch_environment).interpreter), "-c", code]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.split(maxsplit=1) == ["25557032", "(2, 1000)\n"]
