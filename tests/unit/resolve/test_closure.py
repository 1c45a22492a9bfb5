"""The closure of a plan: what is taken, from where, and why not something else."""

from __future__ import annotations

import pytest

from envsolve.errors import OutsideError, RefusedError
from envsolve.resolve.closure import ClosedPackage, Closure, close
from envsolve.resolve.sources import CompanionWanted, PlannedFileMissing
from envsolve.resolve.via import ASKED
from fakes.memory_index import MemoryIndex
from fakes.plans import LINUX_312, a_machine, a_plan
from fakes.stub_wheels import StubSdist, StubWheel, stub_companion, stub_family, stub_torch


def an_index(*, requires: tuple[str, ...] = (), variant: str = "cu128") -> MemoryIndex:
    """The PyTorch index with the trio of 2.11.0 and a few packages of the default index."""
    index = MemoryIndex()
    family = stub_family(
        variant, tag=LINUX_312, torch="2.11.0", torchvision="0.26.0", torchaudio="2.11.0", requires=requires
    )
    index.add(variant, *family)
    return index


def package(closure: Closure, name: str) -> ClosedPackage:
    return next(package for package in closure.packages if package.name == name)


def pins(closure: Closure) -> dict[str, str]:
    return {package.name: str(package.version) for package in closure.packages}


def test_the_family_comes_from_the_variant_with_its_label() -> None:
    index = an_index()
    index.add_default(stub_torch("2.99.0", tag=LINUX_312))
    closure = close(a_plan(), index)
    assert pins(closure) == {"torch": "2.11.0+cu128", "torchaudio": "2.11.0+cu128", "torchvision": "0.26.0+cu128"}
    assert all(package.direct for package in closure.packages)
    assert {variant for _, variant in index.asked} == {"cu128"}


def test_edges_tell_who_asks() -> None:
    index = an_index(requires=("filelock", "sympy>=1.13"))
    index.add_default(StubWheel(name="filelock", version="3.20"), StubWheel(name="sympy", version="1.14"))
    closure = close(a_plan(), index)
    assert package(closure, "torch").via == (ASKED, "torchaudio", "torchvision")
    assert package(closure, "torch").requires == ("filelock", "sympy")
    assert package(closure, "sympy").via == ("torch",)
    assert not package(closure, "sympy").direct


def test_the_newest_that_fits_is_taken() -> None:
    index = an_index()
    for version in ("1.9", "1.10", "2.0"):
        index.add_default(StubWheel(name="pkg", version=version))
    index.add_default(StubWheel(name="pkg", version="3.0", tag="cp312-cp312-win_amd64"))
    index.add_default(StubWheel(name="pkg", version="4.0", requires_python=">=3.13"))
    assert pins(close(a_plan("torch", "pkg<2"), index))["pkg"] == "1.10"
    assert pins(close(a_plan("torch", "pkg"), index))["pkg"] == "2.0"


def test_requires_python_in_metadata_counts_where_the_page_is_silent() -> None:
    index = an_index()
    index.add_default(StubWheel(name="app", version="1", requires=("helper",)))
    index.add_default(StubWheel(name="helper", version="1.0"))
    index.add("cu128", StubWheel(name="triton", version="3.6.0", requires_python=">=3.13"))
    index.add("cu128", StubWheel(name="triton", version="3.5.0"))
    assert pins(close(a_plan("torch", "triton"), index))["triton"] == "3.5.0"


def test_yanked_versions_only_when_pinned_exactly() -> None:
    index = an_index()
    index.add_default(StubWheel(name="pkg", version="1.0"))
    index.add_default(StubWheel(name="pkg", version="1.1"), yanked="broken")
    assert pins(close(a_plan("torch", "pkg"), index))["pkg"] == "1.0"
    assert pins(close(a_plan("torch", "pkg>=1"), index))["pkg"] == "1.0"
    assert pins(close(a_plan("torch", "pkg==1.1"), index))["pkg"] == "1.1"
    with pytest.raises(RefusedError, match="pkg"):
        close(a_plan("torch", "pkg==1.1.*"), index)


def test_pre_releases_only_when_asked_or_when_there_is_nothing_else() -> None:
    index = an_index()
    index.add_default(StubWheel(name="pkg", version="1.0"), StubWheel(name="pkg", version="2.0rc1"))
    index.add_default(StubWheel(name="young", version="0.1a1"))
    assert pins(close(a_plan("torch", "pkg", "young"), index)) == {
        "pkg": "1.0",
        "torch": "2.11.0+cu128",
        "young": "0.1a1",
    }
    assert pins(close(a_plan("torch", "pkg>=2.0rc1"), index))["pkg"] == "2.0rc1"


def test_a_constraint_on_one_version_admits_it_as_a_requirement_does() -> None:
    index = an_index()
    index.add_default(StubWheel(name="pkg", version="1.0"), StubWheel(name="pkg", version="2.0rc1"))
    index.add_default(StubWheel(name="gone", version="1.0"))
    index.add_default(StubWheel(name="gone", version="1.1"), yanked="broken")
    plan = a_plan("torch", "pkg", "gone", constraints=("pkg==2.0rc1", "gone==1.1"))
    assert pins(close(plan, index)) == {"gone": "1.1", "pkg": "2.0rc1", "torch": "2.11.0+cu128"}
    loose = a_plan("torch", "pkg", "gone", constraints=("pkg!=2.0rc2", "gone>=1"))
    assert pins(close(loose, index)) == {"gone": "1.0", "pkg": "1.0", "torch": "2.11.0+cu128"}


def test_an_old_pre_release_does_not_stand_in_for_releases_without_wheels() -> None:
    index = an_index()
    index.add_default(StubWheel(name="deepspeed", version="0.3.1.dev5"), StubSdist(name="deepspeed", version="0.18.2"))
    with pytest.raises(RefusedError) as caught:
        close(a_plan("torch", "deepspeed"), index)
    assert "deepspeed has only a pre-release for this target: 0.3.1.dev5 (1 source archive)" in caught.value.message
    assert pins(close(a_plan("torch", "deepspeed>=0.3.1.dev5"), index))["deepspeed"] == "0.3.1.dev5"


def test_markers_are_those_of_the_target() -> None:
    index = an_index(
        requires=(
            'winonly; sys_platform == "win32"',
            'linuxonly; platform_system == "Linux" and platform_machine == "x86_64"',
            'older; python_version < "3.12"',
            'patched; python_full_version < "3.12.3"',
        )
    )
    index.add_default(*(StubWheel(name=name, version="1") for name in ("winonly", "linuxonly", "older", "patched")))
    found = pins(close(a_plan("torch"), index))
    assert {"linuxonly", "patched"} <= found.keys() and not {"winonly", "older"} & found.keys()
    known = pins(close(a_plan("torch", machine=a_machine(python="3.12.5")), index))
    assert "patched" not in known


def test_extras_bring_their_requirements() -> None:
    index = an_index()
    wheel = StubWheel(
        name="app", version="1", extras=("gpu", "docs"), requires=('idna>=2; extra == "gpu"', 'mkdocs; extra == "docs"')
    )
    index.add_default(wheel, StubWheel(name="idna", version="3"), StubWheel(name="mkdocs", version="1"))
    closure = close(a_plan("torch", "app[gpu]"), index)
    assert pins(closure) == {"app": "1", "idna": "3", "torch": "2.11.0+cu128"}
    assert package(closure, "app").requires == ("idna",)
    assert package(closure, "idna").via == ("app",)


def test_an_extra_backtracks_with_its_package() -> None:
    index = an_index()
    for version, limit in (("1", "<3"), ("2", "<2")):
        wheel = StubWheel(name="app", version=version, extras=("x",), requires=(f'idna{limit}; extra == "x"',))
        index.add_default(wheel)
    index.add_default(StubWheel(name="idna", version="2.5"))
    assert pins(close(a_plan("torch", "app[x]"), index))["app"] == "1"


def test_constraints_bind_only_what_is_needed() -> None:
    index = an_index()
    index.add_default(*(StubWheel(name="pkg", version=version) for version in ("1", "2")))
    closure = close(a_plan("torch", "pkg", constraints=("pkg<2", "absent==1")), index)
    assert pins(closure) == {"pkg": "1", "torch": "2.11.0+cu128"}


def test_the_planners_cap_binds_numpy_and_does_not_ask_for_it() -> None:
    index = an_index()
    index.add_default(StubWheel(name="app", version="1", requires=("numpy",)))
    index.add_default(*(StubWheel(name="numpy", version=version) for version in ("1.26.4", "2.3.0")))
    assert "numpy" not in pins(close(a_plan("torch", caps=("numpy<2",)), index))
    assert pins(close(a_plan("torch", "app", caps=("numpy<2",)), index))["numpy"] == "1.26.4"


def test_a_companion_that_pins_another_torch_gives_way_to_the_plan() -> None:
    index = an_index()
    index.add("cu128", stub_companion("torchvision", "0.27.0+cu128", torch="2.12.0", tag=LINUX_312))
    closure = close(a_plan("torch", "torchvision", torchvision="0.27.0"), index)
    assert pins(closure) == {"torch": "2.11.0+cu128", "torchvision": "0.27.0+cu128"}
    assert package(closure, "torch").via == (ASKED, "torchvision")


def test_any_other_package_that_needs_another_torch_is_a_conflict() -> None:
    index = an_index()
    index.add_default(StubWheel(name="app", version="1", requires=("torch==2.9.0",)))
    with pytest.raises(RefusedError) as caught:
        close(a_plan("torch", "app"), index)
    assert "app 1 needs torch==2.9.0" in caught.value.message


def test_the_label_satisfies_a_requirement_without_one() -> None:
    index = an_index()
    index.add_default(StubWheel(name="app", version="1", requires=("torch==2.11.0", "torch<=2.11.0")))
    assert pins(close(a_plan("torch", "app"), index))["torch"] == "2.11.0+cu128"


def test_a_file_without_label_is_taken_from_the_variants_folder_before_the_root() -> None:
    index = MemoryIndex()
    index.add("", *stub_family("cu124", tag="cp312-cp312-manylinux_2_28_x86_64", torch="2.5.0", label=False))
    index.add("cu124", *stub_family("cu124", tag="cp312-cp312-linux_x86_64", torch="2.5.0", label=False))
    closure = close(a_plan("torch", torch="2.5.0", variant="cu124", local_tag=False), index)
    (file,) = package(closure, "torch").files
    assert "/whl/cu124/" in file.url
    assert str(file.version) == "2.5.0"


def test_a_labelled_file_does_not_stand_for_an_unlabelled_one_nor_the_other_way_round() -> None:
    index = an_index()
    with pytest.raises(PlannedFileMissing):
        close(a_plan("torch", local_tag=False), index)
    plain = MemoryIndex()
    plain.add("cu128", *stub_family("cu128", tag=LINUX_312, torch="2.11.0", label=False))
    with pytest.raises(PlannedFileMissing):
        close(a_plan("torch"), plain)


def test_a_planned_file_that_is_not_there_names_its_row() -> None:
    index = MemoryIndex()
    index.add("cu128", *stub_family("cu128", tag="cp313-cp313-manylinux_2_28_x86_64", torch="2.11.0"))
    with pytest.raises(PlannedFileMissing) as caught:
        close(a_plan("torch"), index)
    assert caught.value.row == ("torch", "2.11.0", "cu128")
    assert caught.value.message == (
        "torch 2.11.0+cu128 is not on the index for this target (1 wheel for another platform or Python)"
    )


def test_a_companion_that_nobody_planned_is_wanted_and_not_picked() -> None:
    index = an_index()
    index.add_default(StubWheel(name="timm", version="1", requires=("torchvision>=0.20",)))
    index.add_default(stub_companion("torchvision", "0.99.0", tag=LINUX_312))
    with pytest.raises(CompanionWanted) as caught:
        close(a_plan("torch", "timm"), index)
    assert str(caught.value.requirement) == "torchvision>=0.20"


def test_the_plain_wheels_of_the_default_index_are_not_direct() -> None:
    index = MemoryIndex()
    index.add_default(stub_torch("2.11.0", tag=LINUX_312), stub_torch("2.12.0", tag=LINUX_312))
    closure = close(a_plan("torch", local_tag=False, source="pypi"), index)
    assert pins(closure) == {"torch": "2.11.0"}
    assert not package(closure, "torch").direct
    assert index.asked == [("torch", None)]


def test_triton_comes_from_the_default_index_or_else_from_the_variants_page() -> None:
    index = an_index(requires=("triton==3.6.0", "pytorch-triton-xpu==3.4.0"))
    triton = StubWheel(name="triton", version="3.6.0", tag=LINUX_312)
    index.add_default(triton, StubWheel(name="triton", version="3.7.0", tag=LINUX_312))
    index.add("", StubWheel(name="pytorch-triton-xpu", version="3.4.0", tag="cp312-cp312-linux_x86_64"))
    closure = close(a_plan("torch"), index)
    assert pins(closure)["triton"] == "3.6.0"
    assert not package(closure, "triton").direct
    assert package(closure, "pytorch-triton-xpu").direct


def test_a_hostile_default_index_cannot_supply_the_family() -> None:
    index = an_index()
    for name in ("torch", "torchvision", "torchaudio"):
        index.add_default(StubWheel(name=name, version="99.0", tag="py3-none-any"))
        index.add_default(StubWheel(name=name, version="2.11.0+cu128", tag="py3-none-any", build="9"))
    assert {f.source for p in close(a_plan(), index).packages for f in p.files} == {
        "https://download.pytorch.org/whl/cu128"
    }


def test_the_highest_build_tag_wins() -> None:
    index = MemoryIndex()
    for build in ("", "1", "2"):
        index.add("cpu", StubWheel(name="torch", version="2.10.0", tag="cp312-none-macosx_11_0_arm64", build=build))
    machine = a_machine(os="macos", arch="arm64", glibc=None, gpus=(), vendor="apple")
    closure = close(a_plan("torch", torch="2.10.0", variant="cpu", local_tag=False, machine=machine), index)
    assert package(closure, "torch").files[0].filename == "torch-2.10.0-2-cp312-none-macosx_11_0_arm64.whl"


def test_an_address_is_taken_as_it_is() -> None:
    index = an_index()
    wheel = StubWheel(name="app", version="7", requires=("idna",))
    index.add("elsewhere", wheel)
    index.add_default(StubWheel(name="app", version="9"), StubWheel(name="idna", version="3"))
    url = f"https://download.pytorch.org/whl/elsewhere/{wheel.filename}"
    closure = close(a_plan("torch", f"app @ {url}#sha256={wheel.sha256}"), index)
    assert pins(closure)["app"] == "7"
    assert package(closure, "app").direct
    assert package(closure, "app").files[0].sha256 == wheel.sha256
    assert package(closure, "idna").via == ("app",)


def test_an_address_inside_metadata_is_not_followed() -> None:
    index = an_index()
    index.add_default(
        StubWheel(name="app", version="2", requires=("idna @ https://evil.example/idna-9-py3-none-any.whl",))
    )
    index.add_default(StubWheel(name="app", version="1", requires=("idna",)), StubWheel(name="idna", version="3"))
    assert pins(close(a_plan("torch", "app"), index)) == {"app": "1", "idna": "3", "torch": "2.11.0+cu128"}


def test_what_has_source_archives_only_is_named() -> None:
    index = an_index()
    index.add_default(StubSdist(name="flash-attn", version="2.8"))
    with pytest.raises(RefusedError) as caught:
        close(a_plan("torch", "flash-attn"), index)
    assert "flash-attn has no wheel for this target (1 source archive)" in caught.value.message


def test_a_name_that_no_index_has() -> None:
    with pytest.raises(RefusedError, match="no index here has tranformers"):
        close(a_plan("torch", "tranformers"), an_index())


def test_a_conflict_names_the_fewest_requirements_in_the_users_words() -> None:
    index = an_index()
    index.add_default(StubWheel(name="old", version="1", requires=("numpy<2",)))
    index.add_default(StubWheel(name="new", version="1", requires=("numpy>=2",)))
    index.add_default(*(StubWheel(name="numpy", version=version) for version in ("1.26", "2.3")))
    index.add_default(*(StubWheel(name=name, version="1") for name in ("apple", "pear", "plum")))
    with pytest.raises(RefusedError) as caught:
        close(a_plan("torch", "apple", "old>=1", "pear", "new", "plum"), index)
    message = caught.value.message
    assert "you ask for old>=1" in message and "you ask for new" in message
    assert "old 1 needs numpy<2" in message and "new 1 needs numpy>=2" in message
    assert not any(name in message for name in ("apple", "pear", "plum"))


def test_the_solver_backtracks_to_an_older_version() -> None:
    index = an_index()
    index.add_default(StubWheel(name="app", version="2", requires=("lib>=3",)))
    index.add_default(StubWheel(name="app", version="1", requires=("lib<3",)))
    index.add_default(StubWheel(name="lib", version="2"))
    assert pins(close(a_plan("torch", "app"), index))["app"] == "1"


def test_an_address_that_cannot_be_reached_is_an_outside_error() -> None:
    index = an_index()
    index.unreachable = True
    with pytest.raises(OutsideError):
        close(a_plan("torch"), index)


def test_one_metadata_for_each_package_and_each_name_hinted_once() -> None:
    index = an_index(requires=("filelock", "sympy"))
    index.add_default(StubWheel(name="sympy", version="1", requires=("mpmath", "filelock")))
    index.add_default(*(StubWheel(name=name, version="1", tag="py3-none-any") for name in ("filelock", "mpmath")))
    closure = close(a_plan(), index)
    assert sorted(index.metadata_asked) == sorted(package.files[0].filename for package in closure.packages)
    assert sorted(index.prefetched) == ["filelock", "mpmath", "sympy"]
    assert set(index.prefetched_metadata) == set(index.metadata_asked)


def test_optional_companions_are_taken_only_if_needed() -> None:
    index = an_index()
    index.add_default(StubWheel(name="timm", version="1", requires=("torchvision>=0.20",)))
    alone = close(a_plan("torch", "torchvision"), index, optional=frozenset(("torchvision",)))
    assert pins(alone) == {"torch": "2.11.0+cu128"}
    needed = close(a_plan("torch", "timm", "torchvision"), index, optional=frozenset(("torchvision",)))
    assert package(needed, "torchvision").via == ("timm",)
