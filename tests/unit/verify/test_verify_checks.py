"""Judging what the probes saw: facts in, checks out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from envsolve.capability import Capability
from envsolve.errors import RefusedError
from envsolve.verify.checks import build, driver, extras, native, packages
from envsolve.verify.checks.compute import compute
from envsolve.verify.child import Ended
from envsolve.verify.expected import Expected
from envsolve.verify.facts import BuildFacts, Device, Dist, DriverFacts, FileState, Survey
from envsolve.verify.hints import hint_for
from envsolve.verify.unlocked import of_survey

H200 = Device(device="cuda:0", model="NVIDIA H200", capability=Capability(9, 0))
GTX = Device(device="cuda:1", model="NVIDIA GeForce GTX 1080 Ti", capability=Capability(6, 1))
CUDA = Expected(versions={"torch": "2.11.0+cu130"}, device="cuda", cuda="13.0", gpu_codes=("sm_90",))
BUILD = BuildFacts(
    version="2.11.0+cu130", file="/e/torch/__init__.py", cuda="13.0", hip="", xpu="", targets=("sm_90",), cudnn="91002"
)


def survey(*dists: Dist, **changes: str) -> Survey:
    markers = {"sys_platform": "linux", "platform_machine": "x86_64", "python_version": "3.12", "extra": ""}
    known = {"cuda": "", "hip": "", "xpu": "", **changes}
    return Survey(python="3.12.4", prefix="/e", markers=markers, dists=dists, files=(), **known)


def dist(name: str, version: str, *requires: str) -> Dist:
    return Dist(name=name, version=version, requires=requires, info="")


def drivers(*devices: Device, **changes: str | None) -> DriverFacts:
    return DriverFacts(devices=devices, **{"why": "", "libcuda": "", "visible": None, **changes})  # type: ignore[arg-type]


# Packages -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("promised", "seen", "same"),
    [
        ("2.11.0+cu130", "2.11.0+cu130", True),
        ("2.11.0+cu130", "2.11.0", False),
        ("2.11.0+cu130", "2.11.0+cu128", False),
        ("2.11.0", "2.11.0+cu130", True),
        ("2.11", "2.11.0", True),
        ("2.11.0", "2.10.0", False),
        ("2.11.0", "", False),
        ("not a version", "not a version", True),
    ],
)
def test_a_local_label_counts_where_one_was_promised(promised: str, seen: str, same: bool) -> None:
    assert packages.same_version(promised, seen) is same


def test_versions_are_looked_up_by_canonical_name() -> None:
    found = survey(dist("typing-extensions", "4.16.0"))
    expected = Expected(versions={"typing_extensions": "4.16.0"}, device="cpu")
    assert packages.versions(found, expected).outcome == "passed"


def test_requirements_follow_the_markers_of_the_environment() -> None:
    found = survey(
        dist("torch", "2.11.0", "sympy>=1.13", "colorama; sys_platform == 'win32'", "nonsense === ;"),
        dist("sympy", "1.12"),
        dist("unrelated", "1.0", "nowhere>=3"),
    )
    seen = packages.requirements(found, CUDA)
    assert (seen.outcome, seen.seen) == ("failed", "torch 2.11.0 needs sympy>=1.13, but 1.12 is installed")


def test_files_without_a_record_are_said_to_be_unchecked() -> None:
    conda = FileState(name="torch", version="2.5.1", record=False, checked=0, wrong=())
    seen = packages.torch_files(replace(survey(), files=(conda,)), CUDA)
    assert (seen.outcome, seen.seen) == ("passed", "torch: no RECORD to compare with")


def test_a_library_that_torch_requires_counts_as_its_own() -> None:
    torch = FileState(name="torch", version="2.11.0", record=True, checked=9, wrong=())
    cudnn = FileState(name="nvidia-cudnn-cu13", version="9.19", record=True, checked=8, wrong=())
    seen = packages.torch_files(replace(survey(), files=(torch, cudnn)), CUDA)
    assert (seen.outcome, seen.seen) == ("passed", "torch 9 files; 8 libraries that they require")
    gone = replace(cudnn, wrong=("nvidia/cudnn/lib/libcudnn.so.9: missing",))
    seen = packages.torch_files(replace(survey(), files=(torch, gone)), CUDA)
    assert (seen.outcome, seen.seen) == ("failed", "nvidia-cudnn-cu13: nvidia/cudnn/lib/libcudnn.so.9: missing")


def test_what_an_unlocked_environment_says_of_itself() -> None:
    found = survey(dist("torch", "2.5.1+cu124"), dist("torchaudio", "2.5.1"), dist("six", "1.0"), cuda="12.4")
    expected = of_survey(found, where="/e")
    assert expected.versions == {"torch": "2.5.1+cu124", "torchaudio": "2.5.1"}
    assert (expected.device, expected.cuda, expected.python, expected.locked) == ("cuda", "12.4", "3.12", False)
    assert packages.versions(found, expected).outcome == "skipped"
    assert of_survey(survey(dist("torch", "2.5.1"), hip="6.2"), where="/e").device == "rocm"
    assert of_survey(survey(dist("torch", "2.5.1")), where="/e").device == "cpu"
    with pytest.raises(RefusedError, match="torch is not installed in /e"):
        of_survey(survey(), where="/e")


# Build ----------------------------------------------------------------------------------------------------------------


def test_the_promised_build() -> None:
    check = build.build(BUILD, CUDA)
    assert (check.outcome, check.seen) == ("passed", "torch 2.11.0+cu130, a CUDA 13.0 build, cuDNN 91002")


FOREIGN = (
    "unreadable: cuDNN version incompatibility: PyTorch was compiled  against (9, 19, 0) but found runtime version "
    "(9, 14, 0). PyTorch already comes bundled with cuDNN. One option to resolving this error is …"
)


def test_a_cudnn_from_elsewhere_is_a_fault_though_torch_computes() -> None:
    check = build.build(replace(BUILD, cudnn=FOREIGN), CUDA)
    assert (check.outcome, check.seen) == (
        "failed",
        "a cuDNN from elsewhere is loaded: cuDNN version incompatibility: PyTorch was compiled  against (9, 19, 0) but "
        "found runtime version (9, 14, 0)",
    )
    assert "LD_LIBRARY_PATH" in check.hint
    assert build.build(replace(BUILD, cudnn="unreadable: no such thing"), CUDA).outcome == "passed"


@pytest.mark.parametrize(
    ("facts", "expected", "outcome"),
    [
        (replace(BUILD, cuda=""), CUDA, "failed"),
        (replace(BUILD, cuda="12.6"), CUDA, "failed"),
        (replace(BUILD, cuda="", hip="6.4"), replace(CUDA, device="rocm", cuda=""), "passed"),
        (replace(BUILD, cuda="", xpu="2025"), replace(CUDA, device="xpu", cuda=""), "passed"),
        (replace(BUILD, cuda=""), replace(CUDA, device="mps", cuda=""), "passed"),
        (BUILD, replace(CUDA, device="cpu", cuda=""), "failed"),
        (BUILD, replace(CUDA, versions={}), "passed"),
        # The metadata of an unlabelled wheel may be all there is.
        (BUILD, replace(CUDA, versions={"torch": "2.11.0"}), "passed"),
        (BUILD, replace(CUDA, versions={"torch": "2.10.0"}), "failed"),
    ],
)
def test_the_accelerator_of_the_build(facts: BuildFacts, expected: Expected, outcome: str) -> None:
    assert build.build(facts, expected).outcome == outcome


def test_a_target_that_no_promised_gpu_needs_may_differ_from_the_rules() -> None:
    check = build.targets(BUILD, replace(CUDA, targets=("sm_75", "sm_90")))
    assert check.outcome == "passed"
    assert check.seen == "the binary has sm_90 (the rules say sm_75 sm_90)"


def test_without_gpus_all_targets_of_the_rules_are_needed() -> None:
    check = build.targets(BUILD, replace(CUDA, gpu_codes=(), targets=("sm_75", "sm_90")))
    assert check.outcome == "failed"
    assert "not sm_75" in check.seen


# Driver ---------------------------------------------------------------------------------------------------------------


def test_devices_are_matched_by_capability() -> None:
    expected = replace(CUDA, gpu_codes=("sm_60", "sm_86", "compute_90"))
    codes = {"6.1": "sm_60", "8.6": "sm_86", "8.9": "sm_86", "9.0": "compute_90", "12.0": "compute_90"}
    for text, code in codes.items():
        device = replace(H200, capability=Capability.parse(text))
        assert driver.promised_code(device, expected) == code
    assert driver.promised_code(replace(H200, capability=Capability(7, 5)), expected) is None
    assert driver.promised_code(replace(H200, capability=Capability(8, 0)), expected) is None
    assert driver.promised_code(replace(H200, capability=None), expected) == ""
    assert driver.promised_code(GTX, replace(CUDA, gpu_codes=())) == ""


def test_fewer_devices_than_promised() -> None:
    check = driver.driver(drivers(H200, visible="0"), replace(CUDA, gpu_codes=("sm_90", "sm_90")))
    assert check.outcome == "failed"
    assert check.seen == "cuda:0 NVIDIA H200 (9.0) (CUDA_VISIBLE_DEVICES='0')"
    assert "unset CUDA_VISIBLE_DEVICES" in check.hint


def test_only_devices_that_the_plan_leaves_out() -> None:
    check = driver.driver(drivers(GTX), CUDA)
    assert check.outcome == "failed"
    assert check.seen.endswith("which the plan leaves out")


@pytest.mark.parametrize("visible", ["", "-1", "-1,0", " "])
def test_visible_devices_that_show_none(visible: str) -> None:
    facts = drivers(why="No CUDA GPUs are available", libcuda="cuInit fails with X (100)", visible=visible)
    check = driver.driver(facts, CUDA)
    assert check.seen == f"no device: CUDA_VISIBLE_DEVICES={visible!r} hides every GPU"
    assert check.hint.startswith("unset CUDA_VISIBLE_DEVICES")


def test_hidden_devices_and_no_driver_either() -> None:
    missing = "libcuda.so.1: cannot open shared object file"
    check = driver.driver(drivers(why="Found no NVIDIA driver", libcuda=missing, visible=""), CUDA)
    assert check.seen == f"no device: CUDA_VISIBLE_DEVICES='' hides every GPU; libcuda: {missing}"
    assert "can't be loaded" in check.hint


def test_no_device_in_the_words_of_torch_and_of_the_driver() -> None:
    facts = drivers(why="The NVIDIA driver on your system is too old", libcuda="cuInit succeeds, 1 device(s)")
    check = driver.driver(facts, CUDA)
    assert check.seen.startswith("no device: The NVIDIA driver on your system is too old; libcuda: cuInit succeeds")


# Computation ----------------------------------------------------------------------------------------------------------


def value(*errors: tuple[str, object, float], step: str = "matmul fp16") -> Ended:
    listed = [{"what": what, "error": error, "tolerance": tolerance} for what, error, tolerance in errors]
    return Ended(step=step, end="value", value={"errors": listed}, seconds=0.5)


def test_the_worst_comparison_is_shown() -> None:
    check = compute("cuda:0", value(("sum", 1e-6, 1e-5), ("mean", 9e-6, 1e-5), ("max", 0, 0)))
    assert (check.name, check.outcome) == ("compute cuda:0 matmul fp16", "passed")
    assert (check.seen, check.expected) == ("mean: relative error 9.0e-06", "mean: relative error up to 1e-05")


@pytest.mark.parametrize("error", [math.nan, math.inf, 2e-5])
def test_one_comparison_that_is_off_fails_the_step(error: float) -> None:
    check = compute("cpu", value(("sum", 1e-6, 1e-5), ("mean", error, 1e-5)))
    assert check.outcome == "failed"
    assert check.seen.startswith("mean: relative error")


def test_wrong_elements_are_counted() -> None:
    check = compute("cpu", value(("sorted values", 3, 0)))
    assert (check.seen, check.expected) == ("sorted values: 3 wrong elements", "sorted values: exactly the reference")


@pytest.mark.parametrize(
    "answer",
    [{}, {"errors": []}, {"errors": [{"what": "x"}]}, {"errors": 3}, {"errors": ["x"]}, {"errors": [{"error": "a"}]}],
)
def test_an_answer_that_can_not_be_read_fails(answer: dict[str, object]) -> None:
    check = compute("cpu", Ended(step="sort", end="value", value=answer))
    assert check.outcome == "failed"
    assert "can't be read" in check.seen


# Native, torch.compile, NCCL ------------------------------------------------------------------------------------------

NO_IMAGE = Ended(step="own kernels", end="raised", text="AcceleratorError: CUDA error: no kernel image is available")
RUNS = value(("own kernels", 1e-7, 1e-4), step="own kernels")


@pytest.mark.parametrize(
    ("ended", "promised", "outcome"),
    [
        (RUNS, "sm_90", "passed"),
        (RUNS, "", "passed"),
        (RUNS, "compute_90", "failed"),
        (NO_IMAGE, "compute_90", "passed"),
        (NO_IMAGE, "", "passed"),
        (NO_IMAGE, "sm_90", "failed"),
        (replace(NO_IMAGE, text="CUDA error: an illegal memory access was encountered"), "compute_90", "failed"),
        (replace(NO_IMAGE, end="crashed"), "compute_90", "failed"),
        (replace(NO_IMAGE, step="import torch"), "compute_90", "failed"),
        (value(("own kernels", 0.5, 1e-4), step="own kernels"), "sm_90", "failed"),
    ],
)
def test_the_proof_must_match_the_promise(ended: Ended, promised: str, outcome: str) -> None:
    assert native.native("cuda:0", ended, promised).outcome == outcome


def test_jit_in_torchvision_is_told_and_does_not_fail() -> None:
    check = native.companion("cuda:0", replace(NO_IMAGE, step="torchvision kernels"))
    assert check.outcome == "skipped"
    assert check.seen.startswith("JIT-compiled: ")
    assert native.companion("cuda:0", RUNS).outcome == "passed"
    assert native.companion("cuda:0", replace(NO_IMAGE, text="ImportError: x")).outcome == "failed"


def test_torch_compile_fails_only_by_a_wrong_result() -> None:
    assert extras.compiled("cuda:0", RUNS).outcome == "passed"
    assert extras.compiled("cuda:0", value(("compiled", 1.0, 1e-4))).outcome == "failed"
    for end in ("raised", "crashed", "hung", "skipped"):
        check = extras.compiled("cuda:0", Ended(step="torch.compile", end=end, text="no C compiler"))  # type: ignore[arg-type]
        assert check.outcome == "skipped"
        assert "no C compiler" in check.seen


def test_an_all_reduce_fails_when_a_process_does() -> None:
    assert extras.nccl(Ended(step="nccl", end="raised", text="1 of 2 processes came through")).outcome == "failed"
    assert extras.nccl(Ended(step="nccl", end="skipped", text="built without NCCL")).outcome == "skipped"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("CUDA error: no kernel image is available for execution on the device", "envsolve plan"),
        ("CUDA out of memory. Tried to allocate", "nvidia-smi"),
        ("A module that was compiled using NumPy 1.x cannot be run in", "numpy<2"),
        ("the process was killed by SIGKILL", "lack of memory"),
        ("something nobody has seen", "fallback"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert hint in hint_for(text, "fallback")
