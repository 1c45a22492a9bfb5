"""environment.yml as an input: conda's way of writing versions, CUDA, and the pip section with its lines."""

from __future__ import annotations

from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from envsolve.errors import InputError
from envsolve.lock import environment_in, requirements_in
from envsolve.lock.conda_names import pip_name
from envsolve.lock.conda_spec import conda_spec

ENVIRONMENT = """\
name: x
channels: [pytorch, nvidia, conda-forge]
dependencies:
  - python=3.11
  - pip
  - pytorch=2.1
  - pytorch-cuda=12.1
  - conda-forge::scikit-learn>=1.3,<2
  - libstdcxx-ng
  - pip:
      - transformers[torch]>=4.40
      - six = 1
"""


def test_conda_packages_become_requirements() -> None:
    wishes = environment_in.parse(ENVIRONMENT, origin="e.yml")
    assert [str(r) for r in wishes.requirements] == ["torch==2.1.*", "scikit-learn<2,>=1.3"]
    assert [(place, str(spec)) for place, spec in wishes.pythons] == [("e.yml:4", "==3.11.*")]
    assert wishes.variants == (("e.yml:7", "cu121"),)
    assert wishes.left_out == ("e.yml:9: libstdcxx-ng",)


def test_the_pip_section_keeps_its_lines() -> None:
    text = environment_in.pip_text(ENVIRONMENT, origin="e.yml")
    with pytest.raises(InputError, match=r"^e\.yml:12: 'six = 1' is not a requirement"):
        requirements_in.parse(text, origin=PurePath("e.yml"), read=lambda path: "")


def test_an_environment_without_a_pip_section() -> None:
    assert environment_in.pip_text("dependencies:\n  - python\n", origin="e.yml") == ""


@pytest.mark.parametrize(
    ("text", "name", "version", "build"),
    [
        ("numpy", "numpy", "", ""),
        ("numpy=1.26", "numpy", "==1.26.*", ""),
        ("numpy==1.26.4", "numpy", "==1.26.4", ""),
        ("numpy 1.26.*", "numpy", "==1.26.*", ""),
        ("numpy=1.26.4=py311h64a7726_0", "numpy", "==1.26.4", "py311h64a7726_0"),
        ("numpy>=1.26,<2", "numpy", "<2,>=1.26", ""),
        ("numpy >=1.26,<2", "numpy", "<2,>=1.26", ""),
        ("numpy[version='>=1.26,<2']", "numpy", "<2,>=1.26", ""),
        ("numpy!=2.0", "numpy", "!=2.0", ""),
        ("numpy~=1.26", "numpy", "~=1.26", ""),
        ("conda-forge::PyTorch=2.5.1=cuda126_py312h1763f6d_306", "pytorch", "==2.5.1", "cuda126_py312h1763f6d_306"),
        ("pytorch 2.5.1 py3.12_cuda12.4_cudnn9.1.0_0", "pytorch", "==2.5.1", "py3.12_cuda12.4_cudnn9.1.0_0"),
    ],
)
def test_conda_specs(text: str, name: str, version: str, build: str) -> None:
    spec = conda_spec(text, "e.yml:1")
    assert (spec.name, spec.version, spec.build) == (name, SpecifierSet(version), build)


@pytest.mark.parametrize("text", ["numpy=1.26|1.27", "numpy>=abc", "", "num py py py"])
def test_what_pip_can_not_say_is_an_error_with_its_place(text: str) -> None:
    with pytest.raises(InputError, match=r"^e\.yml:3: "):
        conda_spec(text, "e.yml:3")


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99))
def test_a_single_sign_takes_every_patch(major: int, minor: int, patch: int) -> None:
    spec = conda_spec(f"x={major}.{minor}", "e.yml:1")
    assert spec.version.contains(f"{major}.{minor}.{patch}")
    assert not spec.version.contains(f"{major}.{minor + 1}.{patch}")


@pytest.mark.parametrize(
    ("entry", "variant"),
    [
        ("pytorch-cuda=12.4", "cu124"),
        ("cudatoolkit=11.3", "cu113"),
        ("cuda-version=12.6", "cu126"),
        ("pytorch=2.5.1=cuda126_py312h1763f6d_306", "cu126"),
        ("pytorch=2.1.0=py3.10_cuda12.1_cudnn8.9.2_0", "cu121"),
        ("pytorch=2.5.1=cpu_generic_py312_0", "cpu"),
        ("cpuonly", "cpu"),
        ("pytorch-cpu=2.5", "cpu"),
    ],
)
def test_the_cuda_that_an_entry_names(entry: str, variant: str) -> None:
    wishes = environment_in.parse(f"dependencies:\n  - {entry}\n", origin="e.yml")
    assert wishes.variants == (("e.yml:2", variant),)


def test_names_for_pip() -> None:
    assert pip_name("pytorch") == "torch"
    assert pip_name("librosa") == "librosa"
    assert pip_name("libgcc-ng") is None and pip_name("_libgcc_mutex") is None and pip_name("ffmpeg") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\n", "e.yml has no list of dependencies"),
        ("dependencies: [\n", "e.yml:2: not YAML"),
        ("- a\n", "e.yml has no list of dependencies"),
        ("dependencies:\n  - [a]\n", "e.yml:2: not a package"),
        ("dependencies:\n  - npm: [a]\n", "e.yml:2: not a package: 'npm'"),
        ("dependencies:\n  - pip: six\n", "e.yml:2: the pip section is not a list of requirements"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        environment_in.parse(text, origin="e.yml")
        environment_in.pip_text(text, origin="e.yml")
    assert caught.value.message.startswith(message)
