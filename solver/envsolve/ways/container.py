"""Container: the files of an image that holds exactly a lock and checks itself. A slim Python is enough as its base:
the wheels bring CUDA along, the host brings the driver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files as resource_files
from typing import Literal

from envsolve.dotted import Dotted
from envsolve.record import record
from envsolve.regex import regex
from envsolve.rulebook.ways_rows import PythonImage

LOCK = "requirements.lock.txt"
FILES = ("Dockerfile", ".dockerignore", LOCK, "check_torch.py", "expected.json")
UV_IMAGE = "ghcr.io/astral-sh/uv:0.9.5"
_RUN = {
    "cuda": "--gpus all",
    "rocm": "--device=/dev/kfd --device=/dev/dri --group-add video",
    "xpu": "--device=/dev/dri",
    "cpu": "",
}
_LINE_BREAKS = regex(r"\s+")


@record
class ContainerSpec:
    """What the image holds: the lock's text, what is promised of it, and for whom it is.

    `versions` of the torch family as the files have them, `codes` the code targets that the GPUs will use ("sm_86"),
    `cuda` the wheel's CUDA or "", `driver` the lowest driver of the host (None: none is needed, or not known).
    `index` is the Python index to install from, without credentials ("" = the default one).
    """

    base: PythonImage
    lock_text: str
    versions: Mapping[str, str]
    device: Literal["cuda", "rocm", "xpu", "cpu"]
    cuda: str
    codes: tuple[str, ...]
    gpus: tuple[str, ...]
    driver: Dotted | None
    command: str
    version: str
    installer: Literal["pip", "uv"] = "pip"
    index: str = ""


def container_files(spec: ContainerSpec) -> dict[str, str]:
    """The files by name, all to lie in one folder: it is the build context."""
    return {
        "Dockerfile": dockerfile(spec),
        ".dockerignore": "\n".join(["*", f"!{LOCK}", "!check_torch.py", "!expected.json", ""]),
        LOCK: spec.lock_text,
        "check_torch.py": check_script(),
        "expected.json": expected(spec),
    }


def run_options(device: str) -> str:
    """What `docker run` needs so that the container sees the GPUs."""
    return _RUN[device]


def check_script() -> str:
    """The script that checks the image, when it is built and whenever it starts."""
    return resource_files("envsolve.ways").joinpath("files", "check_torch.py").read_text(encoding="utf-8")


def expected(spec: ContainerSpec) -> str:
    """What the script compares with."""
    content = {
        "versions": dict(spec.versions),
        "device": spec.device,
        "cuda": spec.cuda,
        "codes": list(spec.codes),
        "run": f"docker run {run_options(spec.device)}".rstrip(),
    }
    return json.dumps(content, indent=2, sort_keys=True) + "\n"


def dockerfile(spec: ContainerSpec) -> str:
    """The text of the Dockerfile."""
    return "\n".join([*_head(spec), "", *_build_stage(spec), "", *_final_stage(spec), ""])


def _head(spec: ContainerSpec) -> Iterator[str]:
    yield "# syntax=docker/dockerfile:1"
    yield f"# made by envsolve {spec.version}; to change it, run this again:"
    yield f"#     {_one_line(spec.command)}"
    for gpu in spec.gpus:
        yield f"# gpu: {_one_line(gpu)}"
    if spec.device == "cuda":
        driver = f"NVIDIA driver {spec.driver} or newer" if spec.driver else "an NVIDIA driver"
        yield f"# host: {driver} and the NVIDIA Container Toolkit; no CUDA toolkit"
    yield "# build: docker build -t my-torch ."
    yield f"# run:   docker run --rm {run_options(spec.device)}".rstrip() + " my-torch python my_script.py"


def _build_stage(spec: ContainerSpec) -> Iterator[str]:
    uv = spec.installer == "uv"
    yield f"FROM {spec.base.tag} AS build"
    if uv:
        yield f"COPY --from={UV_IMAGE} /uv /usr/local/bin/uv"
    # An argument, not a value in the image: a mirror may be given at build time, and without credentials.
    variable = "UV_DEFAULT_INDEX" if uv else "PIP_INDEX_URL"
    yield f"ARG {variable}={spec.index}" if spec.index else f"ARG {variable}"
    if uv:
        yield "ENV UV_NO_CACHE=1 UV_PYTHON_DOWNLOADS=never"
    else:
        yield "ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1"
    yield f"COPY {LOCK} /opt/lock/{LOCK}"
    yield "RUN python -m venv /opt/venv \\"
    yield f"    && {_install(spec)} --require-hashes --no-deps --only-binary=:all: \\"
    yield f"        -r /opt/lock/{LOCK}"


def _install(spec: ContainerSpec) -> str:
    if spec.installer == "uv":
        return "uv pip install --python /opt/venv/bin/python"
    return "/opt/venv/bin/python -m pip install"


def _final_stage(spec: ContainerSpec) -> Iterator[str]:
    yield f"FROM {spec.base.tag}"
    yield "RUN groupadd --gid 10001 app && useradd --uid 10001 --gid 10001 --create-home app"
    yield "COPY --from=build /opt/venv /opt/venv"
    yield "COPY check_torch.py expected.json /opt/check/"
    yield "ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1"
    if spec.device == "cuda":
        yield "ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility"
    yield "USER 10001:10001"
    yield "WORKDIR /home/app"
    yield 'RUN ["python", "/opt/check/check_torch.py", "--static"]'
    yield 'ENTRYPOINT ["python", "/opt/check/check_torch.py", "--"]'
    yield 'CMD ["python"]'


def _one_line(text: str) -> str:
    """Text for a comment: a line break would begin an instruction, and a trailing backslash join the next line."""
    return _LINE_BREAKS.sub(" ", text).rstrip("\\ ")
