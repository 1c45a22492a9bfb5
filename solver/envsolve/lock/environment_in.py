"""environment.yml as an input: what a conda environment asks for, as pip would ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from envsolve.errors import InputError
from envsolve.lock.conda_names import pip_name
from envsolve.lock.conda_spec import CondaSpec, conda_spec
from envsolve.lock.wishes import Wishes
from envsolve.regex import regex

# Packages that say which CUDA the torch beside them is built for.
_CUDA_NAMES = ("pytorch-cuda", "cudatoolkit", "cuda-version")
_CUDA = regex(r"==(?P<major>\d+)\.(?P<minor>\d+)(\.\d+)*(\.\*)?")


def parse(text: str, *, origin: str) -> Wishes:
    """What an environment.yml asks for but for its pip section, which `pip_text` gives.

    Raises InputError with file and line for what is not an environment or can't be read.
    """
    collected = Wishes()
    for entry in _entries(text, origin):
        if isinstance(entry, yaml.ScalarNode):
            where = _where(entry, origin)
            collected += _wish(conda_spec(entry.value, where), where)
    return collected


def pip_text(text: str, *, origin: str) -> str:
    """The pip section as the text of a requirements file, each requirement on the line that it has in the whole."""
    lines: dict[int, str] = {}
    for entry in _entries(text, origin):
        for node in _pip_nodes(entry, origin) if isinstance(entry, yaml.MappingNode) else ():
            lines[node.start_mark.line] = node.value
    return "\n".join(lines.get(number, "") for number in range(max(lines, default=-1) + 1))


def _pip_nodes(entry: yaml.MappingNode, origin: str) -> Iterator[yaml.ScalarNode]:
    for key, value in entry.value:
        if key.value != "pip":
            raise InputError(f"{_where(key, origin)}: not a package: {key.value!r}")
        if not isinstance(value, yaml.SequenceNode):
            raise InputError(f"{_where(value, origin)}: the pip section is not a list of requirements")
        for node in value.value:
            if not isinstance(node, yaml.ScalarNode):
                raise InputError(f"{_where(node, origin)}: not a requirement")
            yield node


def _entries(text: str, origin: str) -> Iterator[yaml.ScalarNode | yaml.MappingNode]:
    """The entries of `dependencies`, with their places in the text."""
    try:
        document = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{origin}:{mark.line + 1}" if mark else origin
        raise InputError(f"{place}: not YAML: {getattr(error, 'problem', None) or error}") from error
    pairs = document.value if isinstance(document, yaml.MappingNode) else []
    entries = next((value for key, value in pairs if key.value == "dependencies"), None)
    if not isinstance(entries, yaml.SequenceNode):
        raise InputError(f"{origin} has no list of dependencies", hint="a conda environment.yml has 'dependencies:'")
    for entry in entries.value:
        if not isinstance(entry, (yaml.ScalarNode, yaml.MappingNode)):
            raise InputError(f"{_where(entry, origin)}: not a package")
        yield entry


def _where(node: yaml.Node, origin: str) -> str:
    return f"{origin}:{node.start_mark.line + 1}"


def _wish(spec: CondaSpec, where: str) -> Wishes:
    if spec.name == "python":
        return Wishes(pythons=((where, spec.version),)) if spec.version else Wishes()
    variant = _variant(spec)
    name = pip_name(spec.name)
    if name is None:
        told = () if variant or spec.name in ("pip", "python-freethreading") else (f"{where}: {spec.name}",)
        return Wishes(variants=((where, variant),) if variant else (), left_out=told)
    return Wishes(requirements=(Requirement(f"{name}{spec.version}"),), variants=((where, variant),) if variant else ())


def _variant(spec: CondaSpec) -> str:
    """The variant that an entry names, "" for none: pytorch-cuda=12.1, pytorch=2.5.1=cuda126_…, cpuonly."""
    if spec.name in ("cpuonly", "pytorch-cpu"):
        return "cpu"
    if spec.name in _CUDA_NAMES and (cuda := _CUDA.fullmatch(str(spec.version))):
        return f"cu{cuda['major']}{cuda['minor']}"
    if spec.name == "pytorch" and spec.build:
        return variant_of_build(spec.build)
    return ""


def variant_of_build(build: str) -> str:
    """conda-forge writes cuda126_…, the pytorch channel py3.10_cuda12.1_cudnn8…, both cpu_…"""
    if found := re.search(r"cuda_?(\d{2})\.?(\d)", build):
        return f"cu{found[1]}{found[2]}"
    return "cpu" if re.search(r"(^|_)cpu", build) else ""


def python_of(specifier: SpecifierSet) -> str | None:
    """The one Python minor that a specifier such as ==3.11.* names; None where it leaves a choice."""
    found = re.fullmatch(r"==(\d+\.\d+)(\.\d+)*(\.\*)?", str(specifier))
    return found[1] if found else None
