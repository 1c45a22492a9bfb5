"""The Dockerfile of a source build: toolkit, build, wheels, and a small image that runs them."""

from __future__ import annotations

from collections.abc import Iterator

from envsolve.ways.build_script import NAME
from envsolve.ways.container import UV_IMAGE
from envsolve.ways.source_build import Recipe

FILES = ("Dockerfile", ".dockerignore", NAME)


def build_files(recipe: Recipe, script: str, *, command: str, version: str) -> dict[str, str]:
    """The files by name, all to lie in one folder: it is the build context."""
    return {
        "Dockerfile": "\n".join([*_lines(recipe, command, version), ""]),
        ".dockerignore": f"*\n!{NAME}\n",
        NAME: script,
    }


def _lines(recipe: Recipe, command: str, version: str) -> Iterator[str]:
    yield "# syntax=docker/dockerfile:1"
    yield f"# made by envsolve {version}; to change it, run this again:"
    yield f"#     {' '.join(command.split())}".rstrip("\\ ")
    yield f"# PyTorch {recipe.torch} with CUDA {recipe.toolkit.cuda} for {' '.join(recipe.cards.split())}".rstrip("\\ ")
    if recipe.image_only:
        yield f"# no wheels for the target itself: {recipe.image_only}"
    else:
        glibc = recipe.toolkit.image.glibc
        yield f"# the wheels alone: docker build --target wheels --output wheels .   (for glibc {glibc} or newer)"
    yield "# an image:         docker build -t my-torch . && docker run --rm --gpus all my-torch python my_script.py"
    yield ""
    yield from _toolkit(recipe)
    yield ""
    yield "FROM toolkit AS build"
    yield "ARG MAX_JOBS"
    yield f"COPY {NAME} /build/{NAME}"
    yield f"RUN bash /build/{NAME} /build/made"
    yield ""
    yield "FROM scratch AS wheels"
    yield "COPY --from=build /build/made/wheels /"
    yield ""
    yield from _runtime(recipe)


def _toolkit(recipe: Recipe) -> Iterator[str]:
    gcc = recipe.toolkit.gcc[0]
    packages = [
        "ca-certificates",
        "curl",
        f"g++-{gcc}",
        f"gcc-{gcc}",
        "git",
        "libjpeg-dev",
        "libopenblas-dev",
        "libpng-dev",
    ]
    yield f"FROM {recipe.toolkit.image.tag} AS toolkit"
    yield f"COPY --from={UV_IMAGE} /uv /usr/local/bin/uv"
    yield "ENV DEBIAN_FRONTEND=noninteractive"
    yield "# hadolint ignore=DL3008"
    yield "RUN apt-get update \\"
    yield f"    && apt-get install -y --no-install-recommends {' '.join(packages)} \\"
    yield "    && rm -rf /var/lib/apt/lists/*"


def _runtime(recipe: Recipe) -> Iterator[str]:
    """The wheels link to the toolkit's libraries, so that the runtime image of the same toolkit is the base."""
    numpy = f"numpy{recipe.release.numpy}"
    yield f"FROM {recipe.toolkit.image.tag.replace('-devel-', '-runtime-')}"
    yield f"COPY --from={UV_IMAGE} /uv /usr/local/bin/uv"
    yield "ENV UV_PYTHON_INSTALL_DIR=/opt/python UV_NO_CACHE=1"
    yield "COPY --from=wheels / /opt/wheels/"
    yield f"RUN uv venv --python {recipe.python} /opt/venv \\"
    yield f"    && uv pip install --python /opt/venv/bin/python '{numpy}' /opt/wheels/*.whl \\"
    yield "    && useradd --uid 10001 --create-home app"
    yield "ENV PATH=/opt/venv/bin:$PATH NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility"
    yield "USER 10001"
    yield "WORKDIR /home/app"
    yield """RUN ["python", "-c", "import torch; print(torch.__version__, torch._C._cuda_getArchFlags())"]"""
    yield 'CMD ["python"]'
