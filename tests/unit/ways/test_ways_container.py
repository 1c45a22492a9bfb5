"""The files of an image: what parsers, a linter and the script inside make of them."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.target import read_target
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.container import FILES, ContainerSpec, container_files, dockerfile
from envsolve.ways.container_target import base_image, inside
from fakes.stub_torch import StubEnvironment, gpus, stub_environment

SPEC = ContainerSpec(
    base=load_ways().python_images[Dotted.parse("3.12")],
    lock_text="# made by envsolve\n",
    versions={"torch": "2.11.0+cu128"},
    device="cuda",
    cuda="12.8",
    codes=("sm_86",),
    gpus=("NVIDIA GeForce RTX 4090: compatible sm_86",),
    driver=Dotted.parse("525.60.13"),
    command="envsolve container torch --target 'RTX 4090,driver=550.54.14'",
    version="0.1.0",
)


def instructions(text: str) -> list[tuple[str, str]]:
    parser = pytest.importorskip("dockerfile_parse").DockerfileParser(fileobj=io.BytesIO(text.encode()))
    return [(step["instruction"], step["value"]) for step in parser.structure if step["instruction"] != "COMMENT"]


@pytest.mark.parametrize("installer", ["pip", "uv"])
@pytest.mark.parametrize("device", ["cuda", "rocm", "xpu", "cpu"])
@pytest.mark.parametrize("index", ["", "https://mirror.example/simple"])
def test_hadolint_has_nothing_to_say(installer: str, device: str, index: str, tmp_path: Path) -> None:
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    text = dockerfile(replace(SPEC, installer=installer, device=device, index=index))  # type: ignore[arg-type]
    (tmp_path / "Dockerfile").write_text(text)
    done = subprocess.run([hadolint, "--no-color", str(tmp_path / "Dockerfile")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_slim_hashed_not_root_and_checks_itself() -> None:
    steps = instructions(dockerfile(SPEC))
    assert [value for name, value in steps if name == "FROM"] == [
        "python:3.12-slim-bookworm AS build",
        "python:3.12-slim-bookworm",
    ]
    install = next(value for name, value in steps if name == "RUN" and "venv" in value)
    for flag in ("--require-hashes", "--no-deps", "--only-binary=:all:"):
        assert flag in install
    names = [name for name, _ in steps]
    last_user = len(names) - 1 - names[::-1].index("USER")
    assert steps[last_user] == ("USER", "10001:10001")
    build_check = next(i for i, (n, v) in enumerate(steps) if n == "RUN" and "check_torch.py" in v)
    assert "--static" in steps[build_check][1] and last_user < build_check  # also readable for that user
    assert steps[-2] == ("ENTRYPOINT", '["python", "/opt/check/check_torch.py", "--"]')


def test_the_build_context_holds_what_is_copied_and_nothing_else() -> None:
    files = container_files(SPEC)
    assert tuple(files) == FILES
    allowed = {line[1:] for line in files[".dockerignore"].splitlines() if line.startswith("!")}
    copied = {
        word
        for name, value in instructions(files["Dockerfile"])
        if name == "COPY" and "--from" not in value
        for word in value.split()[:-1]
    }
    assert copied == allowed and allowed < set(files)
    assert files[".dockerignore"].splitlines()[0] == "*"


def test_the_head_says_what_the_host_needs() -> None:
    head = dockerfile(SPEC).split("FROM")[0]
    assert "# host: NVIDIA driver 525.60.13 or newer and the NVIDIA Container Toolkit; no CUDA toolkit" in head
    assert "--gpus all" in head
    assert "NVIDIA" not in dockerfile(replace(SPEC, device="cpu", gpus=())).replace("envsolve", "")


def test_an_index_is_an_argument_of_the_build() -> None:
    assert "\nARG PIP_INDEX_URL=https://mirror.example/simple\n" in dockerfile(
        replace(SPEC, index="https://mirror.example/simple")
    )
    assert "\nARG UV_DEFAULT_INDEX\n" in dockerfile(replace(SPEC, installer="uv"))


@given(text=st.text(min_size=0, max_size=60))
def test_no_text_of_the_user_becomes_an_instruction(text: str) -> None:
    plain = [line for line in dockerfile(SPEC).split("\n") if not line.startswith("#")]
    odd = dockerfile(replace(SPEC, command=f"envsolve container {text}", gpus=(f"{text}: native sm_86",)))
    assert [line for line in odd.split("\n") if not line.startswith("#")] == plain


# The script inside -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> StubEnvironment:
    more = gpus((8, 9), targets="sm_80 sm_86 compute_90")
    return stub_environment(tmp_path_factory.mktemp("image") / "venv", version="2.11.0+cu128", cuda="12.8", more=more)


def check(
    image: StubEnvironment, folder: Path, *words: str, spec: ContainerSpec = SPEC, **environ: str
) -> tuple[int, str]:
    for name in ("check_torch.py", "expected.json"):
        (folder / name).write_text(container_files(spec)[name])
    command = [str(image.interpreter), str(folder / "check_torch.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environ)
    return done.returncode, done.stdout + done.stderr


def test_the_check_passes_when_the_image_is_what_was_locked(image: StubEnvironment, tmp_path: Path) -> None:
    assert check(image, tmp_path, "--static") == (0, "check_torch: torch 2.11.0+cu128 is what was locked\n")
    assert check(image, tmp_path) == (0, "check_torch: torch 2.11.0+cu128 works\n")


def test_the_command_takes_over_after_the_check(image: StubEnvironment, tmp_path: Path) -> None:
    script = "import sys; print(sys.argv[1]); sys.exit(7)"
    assert check(image, tmp_path, "--", str(image.interpreter), "-c", script, "a b") == (7, "a b\n")
    assert check(image, tmp_path, "--", "/no/such/command")[0] == 127


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"versions": {"torch": "2.11.0+cu130"}}, "torch is 2.11.0+cu128, locked was 2.11.0+cu130"),
        ({"versions": {"torch": "2.11.0+cu128", "torchvision": "0.26.0"}}, "torchvision is not importable"),
        ({"cuda": "13.0"}, "torch was built with CUDA 12.8, locked was 13.0"),
        ({"codes": ("sm_120",)}, "torch has no sm_120 (has sm_80 sm_86 compute_90)"),
    ],
)
def test_the_check_fails_when_the_image_is_something_else(
    change: dict[str, object], words: str, image: StubEnvironment, tmp_path: Path
) -> None:
    code, said = check(image, tmp_path, "--static", spec=replace(SPEC, **change))  # type: ignore[arg-type]
    assert code == 1 and words in said


def test_without_a_gpu_the_container_says_how_to_start_it(tmp_path: Path) -> None:
    blind = stub_environment(tmp_path / "venv", version="2.11.0+cu128", cuda="12.8")
    assert check(blind, tmp_path, "--static")[0] == 0
    code, said = check(blind, tmp_path, "--", "true")
    assert code == 1 and "start the container with docker run --gpus all" in said
    assert check(blind, tmp_path, SKIP_GPU_CHECK="1")[0] == 0


def test_the_script_is_python_3_6() -> None:
    import ast

    ast.parse(container_files(SPEC)["check_torch.py"], feature_version=(3, 6))


def test_expected_is_json() -> None:
    assert json.loads(container_files(SPEC)["expected.json"])["codes"] == ["sm_86"]


# The machine inside ------------------------------------------------------------------------------------------------


def test_inside_a_container_the_image_has_its_own_c_library() -> None:
    machine = inside(read_target("RTX 4090,driver=550.54.14,glibc=2.17,python=3.12,os=linux"), load_ways())
    assert machine.libc is not None and str(machine.libc.version) == "2.36" and not machine.wsl


def test_a_windows_host_keeps_its_driver_numbers() -> None:
    machine = inside(read_target("RTX 4090,driver=551.23,python=3.12,os=windows"), load_ways())
    assert (machine.os, machine.wsl, machine.platform) == ("linux", True, "linux_x86_64")


def test_a_mac_has_no_gpu_inside() -> None:
    with pytest.raises(InputError, match="sees no GPU"):
        inside(read_target("Apple M2,os=macos,arch=arm64,python=3.12"), load_ways())


@pytest.mark.parametrize("python", ["", "3.5", "3.13t", "3.99"])
def test_a_python_without_an_image_is_an_error_that_names_those_with_one(python: str) -> None:
    with pytest.raises(InputError) as error:
        base_image(python, load_ways())
    assert "3.12" in error.value.hint
