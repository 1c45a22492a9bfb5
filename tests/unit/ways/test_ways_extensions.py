"""Libraries with CUDA code: which torch builds they leave over."""

from __future__ import annotations

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.capability import Capability
from envsolve.judge.fit import Note, Refusal
from envsolve.machine.machine import Gpu
from envsolve.rulebook.load import load, load_document
from envsolve.rulebook.tables import Build
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.extensions import constraint, known
from fakes.plans import a_machine

WAYS = load_ways()


def build(torch: str, variant: str, platform: str = "linux_x86_64") -> Build:
    found = load().build(Version(torch), variant, platform)
    assert found is not None
    return found


def said(
    text: str, torch: str, variant: str, *, python: str = "3.12", cc: str = "8.9", **rest: object
) -> Refusal | Note | None:
    gpus = (Gpu(name="a GPU", compute_capability=Capability.parse(cc)),)
    machine = a_machine(python=python, gpus=gpus, **rest)
    return constraint(Requirement(text), build(torch, variant, machine.platform), machine, WAYS)


def test_a_wheel_that_goes_with_the_build_is_named_with_its_address_and_source() -> None:
    note = said("flash-attn", "2.8.0", "cu128")
    assert isinstance(note, Note) and note.code == "extension"
    assert (
        "https://github.com/Dao-AILab/flash-attention/releases/download/v2.8.3.post1/"
        "flash_attn-2.8.3.post1+cu12torch2.8cxx11abiTRUE-cp312-cp312-linux_x86_64.whl" in note.text
    )
    assert "publish.yml" in note.text


@pytest.mark.parametrize(
    ("requirement", "torch", "variant", "words"),
    [
        (
            "flash-attn",
            "2.11.0",
            "cu130",
            "has no wheel for it: flash-attn 2.8.3.post1 goes with torch",
        ),
        ("flash-attn", "2.8.0", "cu129", ""),
        ("xformers", "2.9.1", "cu130", ""),
        ("xformers==0.0.34", "2.9.1", "cu130", "goes with torch==2.10.0 cu126 cu128 cu130"),
        ("vllm==0.19.1", "2.10.0", "cu130", "goes with torch==2.10.0 cu128 cu129"),
        ("torchcodec==0.9.1", "2.10.0", "cu128", "goes with torch==2.9.*"),
        ("bitsandbytes", "2.13.0", "cu132", ""),
        ("natten", "2.8.0", "cu129", ""),
        ("natten", "2.13.0", "cu130", "has no wheel"),
        ("torch-scatter", "2.11.0", "cu128", ""),
        ("torch-scatter", "2.14.1", "cu132", ""),
        ("mamba-ssm", "2.10.0", "cu130", ""),
        ("mamba-ssm", "2.8.0", "cu129", ""),
        ("triton==3.2.0", "2.6.0", "cu126", ""),
        ("triton==3.2.0", "2.7.0", "cu126", "goes with torch==2.6.0"),
    ],
)
def test_builds_are_taken_or_refused(requirement: str, torch: str, variant: str, words: str) -> None:
    answer = said(requirement, torch, variant)
    if words:
        assert isinstance(answer, Refusal) and answer.code == "companion-mismatch"
        assert words in answer.text and "source: " in answer.text
    else:
        assert isinstance(answer, Note) and answer.code == "extension", answer


def test_the_gpu_is_what_stands_in_the_way() -> None:
    refusal = said("flash-attn", "2.8.0", "cu128", cc="7.5")
    assert isinstance(refusal, Refusal) and refusal.blames == ("extension", "gpu")
    assert "has no code for 7.5 (8.0 to 12.1)" in refusal.text


def test_blackwell_needs_the_flash_attn_that_was_built_with_cuda_12_9() -> None:
    assert isinstance(said("flash-attn<2.8", "2.6.0", "cu126", cc="12.0"), Refusal)
    assert isinstance(said("flash-attn", "2.7.1", "cu128", cc="12.0"), Note)


def test_the_python_is_what_stands_in_the_way() -> None:
    refusal = said("flash-attn", "2.8.0", "cu128", python="3.14")
    assert isinstance(refusal, Refusal) and refusal.blames == ("extension", "python")


def test_a_platform_without_any_wheel_is_refused_and_an_unread_one_is_named() -> None:
    refusal = said("flash-attn", "2.8.0", "cu128", os="windows", glibc=None)
    assert isinstance(refusal, Refusal) and "no wheel for windows_amd64 at all" in refusal.text
    note = said("xformers", "2.8.0", "cu128", os="windows", glibc=None)
    assert isinstance(note, Note) and note.code == "extension-unverified"


@pytest.mark.parametrize("requirement", ["deepspeed", "sageattention", "flash-attn==9.9", "torchcodec==0.17.0"])
def test_what_the_rules_do_not_know_is_named_as_unverified(requirement: str) -> None:
    note = said(requirement, "2.8.0", "cu128")
    assert isinstance(note, Note) and note.code == "extension-unverified" and requirement in note.text


def test_torchao_goes_on_without_its_compiled_part() -> None:
    note = said("torchao==0.15.0", "2.8.0", "cu128")
    assert isinstance(note, Note) and note.code == "extension-missing" and "Python API goes on" in note.text


@pytest.mark.parametrize("requirement", ["numpy", "requests>=2", "flash-attn @ https://x.example/flash_attn-1.whl"])
def test_other_packages_and_named_files_are_left_alone(requirement: str) -> None:
    assert said(requirement, "2.8.0", "cu128") is None


def test_a_cpu_build_is_never_refused_for_a_cuda_library() -> None:
    answer = said("flash-attn", "2.8.0", "cpu")
    assert isinstance(answer, Note) and answer.code == "extension-unverified"
    assert isinstance(said("pyg-lib", "2.8.0", "cpu"), Note)


def test_the_abi_of_an_asset_is_that_of_the_torch_wheel() -> None:
    for torch, variant, abi in (("2.5.1", "cu124", "FALSE"), ("2.6.0", "cu126", "TRUE"), ("2.6.0", "cu124", "FALSE")):
        note = said("flash-attn==2.7.4.post1", torch, variant)
        assert isinstance(note, Note) and f"cxx11abi{abi}-cp312" in note.text


def test_torch_goes_down_to_the_newest_that_has_the_wheel() -> None:
    """What the planner does with it: of all rows, the newest that is not refused."""
    machine = a_machine()
    rows = [b for b in load().builds_on("linux_x86_64") if b.accelerator == "cuda" and b.advertised]
    left = [b for b in rows if not isinstance(constraint(Requirement("flash-attn"), b, machine, WAYS), Refusal)]
    assert max(b.torch for b in left) == Version("2.8.0")


def test_known_picks_the_libraries() -> None:
    wanted = [Requirement(text) for text in ("numpy", "Flash_Attn>=2", "deepspeed")]
    assert [r.name for r in known(wanted, WAYS)] == ["Flash_Attn", "deepspeed"]


def test_every_package_with_wheels_is_a_known_package() -> None:
    assert set(WAYS.extension_wheels) <= set(WAYS.extension_packages)


@pytest.mark.parametrize("package", ["xformers", "vllm"])
def test_the_torch_of_a_wheel_is_that_of_its_metadata(package: str) -> None:
    """The table that decides and the list that was read say the same."""
    document = load_document("ways")["extensions"][package]["releases"]
    read = {row["version"]: Requirement(row["torch"][0]).specifier for row in document if row["torch"]}
    for wheel in WAYS.extension_wheels[package]:
        assert read[str(wheel.version)] == wheel.torch
