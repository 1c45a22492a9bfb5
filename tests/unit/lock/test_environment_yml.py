"""environment.yml: what conda reads."""

from __future__ import annotations

import yaml
from hypothesis import given
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envsolve.lock import environment_yml
from envsolve.lock.lock import Lock
from fakes.locks import SOME, locks


@SOME
@given(locks())
def test_conda_finds_python_pip_and_the_pinned_packages(lock: Lock) -> None:
    document = yaml.safe_load(environment_yml.write(lock, name="pytorch_new"))
    assert list(document) == ["name", "channels", "dependencies"]
    assert document["name"] == "pytorch_new"
    assert document["channels"] == ["conda-forge", "nodefaults"]
    python, pip, section = document["dependencies"]
    assert (python, pip, list(section)) == (f"python={lock.python}", "pip", ["pip"])
    assert len(section["pip"]) == len(lock.packages)
    for entry, package in zip(section["pip"], lock.packages, strict=True):
        requirement = Requirement(entry)
        assert canonicalize_name(requirement.name) == package.name
        if package.direct:
            assert requirement.url == f"{package.files[0].url}#sha256={package.files[0].sha256}"
        else:
            assert str(requirement.specifier) == f"=={package.version}"


@SOME
@given(locks())
def test_no_line_of_the_pip_section_is_an_option(lock: Lock) -> None:
    document = yaml.safe_load(environment_yml.write(lock))
    assert not [entry for entry in document["dependencies"][2]["pip"] if entry.startswith("-")]
