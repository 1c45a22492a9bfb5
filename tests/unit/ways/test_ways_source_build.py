"""Source builds: what goes with what, what is refused, and what the nearest is that can be compiled."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.machine.target import read_target
from envsolve.rulebook.load import load, load_document
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.build_cost import cost_of
from envsolve.ways.build_targets import Targets, targets
from envsolve.ways.source_build import NoRecipe, Recipe, newest_recipe, recipe
from envsolve.ways.source_text import as_json, as_text

HOST = "python=3.10,os=linux,arch=x86_64"


def made(spec: str, torch: str, cuda: str | None = None) -> Recipe | NoRecipe:
    machine = read_target(f"{spec},{HOST}")
    return recipe(machine, Version(torch), load(), cuda=Dotted.parse(cuda) if cuda else None)


def good(spec: str, torch: str, cuda: str | None = None) -> Recipe:
    found = made(spec, torch, cuda)
    assert isinstance(found, Recipe), found
    return found


def bad(spec: str, torch: str, cuda: str | None = None) -> NoRecipe:
    found = made(spec, torch, cuda)
    assert isinstance(found, NoRecipe), found
    return found


def test_a_kepler_card_with_the_torch_that_no_longer_has_a_wheel_for_it() -> None:
    found = good("Tesla K40c,driver=470.82", "1.13.1")
    assert (str(found.toolkit.cuda), found.toolkit.image.cudnn, found.toolkit.gcc) == ("11.7", 8, (11, 10, 9))
    assert found.toolkit.targets.torch == "3.5" and "+PTX" not in found.toolkit.targets.extensions
    assert {name: str(v) for name, v in found.companions.items()} == {"torchvision": "0.14.1", "torchaudio": "0.13.1"}
    assert str(found.python) == "3.10" and found.label == "cu117.source"


def test_gcc_12_is_kept_from_torches_whose_gloo_it_does_not_compile() -> None:
    assert 12 not in good("Tesla K80,driver=470.82", "1.13.1").toolkit.gcc
    assert 12 in good("RTX 3090,driver=535.54.03", "2.3.1").toolkit.gcc


@pytest.mark.parametrize(
    ("spec", "torch", "cuda", "reason", "nearest"),
    [
        ("RTX 5090,driver=580.65.06", "2.7.1", "12.6", "5.0 to 9.0, not for 12.0", ("2.7.1", "12.8")),
        ("cc=3.5,driver=470.82", "2.7.1", "12.1", "5.0 to 9.0, not for 3.5", ("2.7.1", "11.8")),
        ("Tesla V100,driver=580.65.06", "2.11.0", "13.0", "7.5 to 12.1, not for 7.0", ("2.11.0", "12.9")),
        ("RTX 5090,driver=580.65.06", "1.13.1", None, "can't name a capability of 10.0", ("2.7.0", "12.8")),
        ("RTX 5090,driver=580.65.06", "2.6.0", None, "lacks the changes for Blackwell", ("2.7.0", "12.8")),
        ("RTX 3090,driver=580.65.06", "2.3.1", "12.4", "thrust::swap", ("2.3.1", "12.1")),
        ("RTX 3090,driver=580.65.06", "2.4.1", "12.9", "nvToolsExt", ("2.4.1", "12.4")),
        ("RTX 3090,driver=580.65.06", "2.9.1", "11.8", "needs CUDA 12", ("2.9.1", "13.0")),
        ("RTX 3090,driver=580.65.06", "1.9.1", "11.4", "needs an upstream change", ("1.9.1", "11.1")),
        ("RTX 3090,driver=470.82", "2.9.1", "12.8", "CUDA 12.8 needs driver 525.60.13", None),
        ("RTX 3090,driver=580.65.06", "2.7.1", "9.2", "know no image with the toolkit of CUDA 9.2", ("2.7.1", "12.8")),
    ],
)  # fmt: skip
def test_what_can_not_be_compiled_is_refused_with_the_nearest_that_can(
    spec: str, torch: str, cuda: str | None, reason: str, nearest: tuple[str, str] | None
) -> None:
    found = bad(spec, torch, cuda)
    assert reason in found.reason
    if nearest is not None:
        assert found.nearest is not None
        assert (str(found.nearest.torch), str(found.nearest.toolkit.cuda)) == nearest


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("GTX 680,driver=470.82", "its lowest is 3.5"),
        ("Arc A770", "NVIDIA GPUs"),
        ("cpu", "NVIDIA GPUs"),
        ("GTX 1080 Ti,driver=590.44.01", "ends with driver branch R580"),
        ("Voodoo 9,vendor=nvidia", "not known"),
    ],
)
def test_a_machine_for_which_nothing_can_be_compiled(spec: str, reason: str) -> None:
    found = bad(spec, "1.13.1")
    assert reason in found.reason and found.nearest is None


def test_other_platforms_and_jetsons_are_refused() -> None:
    jetson = recipe(read_target("cc=8.7,tegra=true,os=linux,arch=aarch64,python=3.10"), Version("2.7.1"), load())
    assert isinstance(jetson, NoRecipe) and "x86_64" in jetson.reason
    unknown = recipe(read_target(f"RTX 3090,driver=580.65.06,{HOST}"), Version("9.9"), load())
    assert isinstance(unknown, NoRecipe) and "don't hold" in unknown.reason


def test_a_card_newer_than_the_number_list_runs_the_code_of_its_major() -> None:
    found = good("RTX 4090,driver=535.54.03", "1.13.1")
    assert found.toolkit.targets.torch == "8.6"
    assert any("8.9 runs the code for 8.6" in note for note in found.notes)


def test_a_major_that_the_extension_builder_lacks_gets_ptx_there_and_says_why() -> None:
    lists = good("H100,driver=535.54.03", "1.13.1").toolkit.targets
    assert (lists.torch, lists.extensions) == ("9.0", "8.6+PTX") and "PTX for the extensions alone" in lists.why


def test_several_cards_are_all_in_the_list() -> None:
    found = good("Tesla K80 + RTX 3090,driver=470.82", "1.13.1")
    assert found.toolkit.targets.torch == "3.7;8.6" and found.gpu_count == 2


def test_a_python_that_the_torch_was_not_made_for_is_replaced_and_told() -> None:
    machine = read_target("Tesla K80,driver=470.82,python=3.13,os=linux,arch=x86_64")
    found = recipe(machine, Version("1.13.1"), load())
    assert isinstance(found, Recipe) and str(found.python) == "3.10"
    assert found.notes[0] == "for Python 3.10: this torch was made for 3.7 to 3.10, not 3.13"


def test_toolkits_of_upstream_come_first() -> None:
    assert good("RTX 4090,driver=580.65.06", "2.9.1").toolkit.built_upstream
    other = good("H100,driver=535.54.03", "1.13.1")
    assert not other.toolkit.built_upstream and any("is not proven" in note for note in other.notes)


def test_jobs_are_bounded_by_cores_and_by_memory() -> None:
    flash = cost_of(Version("2.7.1"), (Capability(8, 9),), load_ways())
    plain = cost_of(Version("2.7.1"), (Capability(6, 1),), load_ways())
    assert flash.flash and not plain.flash and flash.job_mib > plain.job_mib
    assert flash.jobs(cores=32, memory_mib=32 * 1024) == 5  # as reported for 32 GB
    assert plain.jobs(cores=8, memory_mib=512 * 1024) == 8
    assert flash.jobs(cores=64, memory_mib=1024) == 1


@given(cores=st.integers(1, 512), memory=st.integers(256, 4 << 20))
def test_jobs_never_want_more_than_there_is(cores: int, memory: int) -> None:
    cost = cost_of(Version("2.7.1"), (Capability(8, 9),), load_ways())
    jobs = cost.jobs(cores, memory)
    assert 1 <= jobs <= cores and (jobs == 1 or jobs * cost.job_mib <= memory)


_CAPABILITIES = [c for row in load().toolkit_ranges.values() for c in (row.first, row.last)]


@given(
    found=st.lists(st.sampled_from(_CAPABILITIES), min_size=1, max_size=4, unique=True),
    cuda=st.sampled_from(sorted(load().toolkit_ranges, key=lambda c: c.parts)),
    torch=st.sampled_from([r for r in load_ways().source_releases.values() if r.numbers]),
)
def test_every_number_in_a_list_is_one_that_nvcc_makes_and_that_a_card_runs(found, cuda, torch) -> None:  # type: ignore[no-untyped-def]
    reach = load().toolkit_ranges[cuda]
    lists = targets(found, reach, torch, load().tegra_capabilities)
    if not isinstance(lists, Targets):
        return
    numbers = [Capability.parse(n) for n in lists.torch.split(";")]
    assert all(reach.covers(n) for n in numbers)
    for gpu in found:
        assert any(n.major == gpu.major and n <= gpu for n in numbers)


def test_every_gpu_of_the_rules_gets_a_recipe_or_a_reason_for_every_torch() -> None:
    ways = load_ways()
    for capability in sorted({c for row in load().toolkit_ranges.values() for c in (row.first, row.last)}):
        for torch in ("1.7.1", "1.13.1", "2.3.1", "2.7.1", "2.14.1", "2.15.0"):
            machine = read_target(f"cc={capability},vendor=nvidia,{HOST}")
            found = recipe(machine, Version(torch), load(), ways, nearest=False)
            if isinstance(found, NoRecipe):
                assert found.reason
            else:
                assert load().toolkit_ranges[found.toolkit.cuda].first <= capability


def test_the_newest_recipe_of_an_old_card() -> None:
    found = newest_recipe(read_target(f"GTX 1080 Ti,driver=580.65.06,{HOST}"), load())
    assert found is not None and found.toolkit.cuda < Dotted.parse("13")
    assert newest_recipe(read_target(f"GTX 680,driver=470.82,{HOST}"), load()) is None


def test_text_and_json() -> None:
    found = good("RTX 5090,driver=580.65.06", "2.7.1")
    text = as_text(found, cores=16, memory_mib=64 * 1024)
    assert "MAX_JOBS=11 here (16 cores, 64 GiB of memory)" in text and "gcc 11, 10, 9, 12" in text
    data = as_json(found)
    assert (data["cuda"], data["arch_list"], data["companions"]["torchvision"]) == ("12.8", "12.0", "0.22.1")
    assert "some 16 hours of one core" in as_text(found)


def test_the_obstacles_are_those_of_the_list_that_was_read() -> None:
    """The table that decides has no torch of its own: each obstacle's reference is in ways/source_build.yaml."""
    read = " ".join(row["reference"] for row in load_document("ways")["source_build"]["patches"])
    for obstacle in load_ways().obstacles:
        issues = [word.strip(",").split("#")[1] for word in obstacle.source.split() if "#" in word]
        assert not issues or any(issue in read for issue in issues), obstacle.name


@pytest.mark.parametrize(
    ("libc", "image", "image_only"),
    [
        ("glibc=2.39", "22.04", ""),
        ("glibc=2.35", "22.04", ""),
        ("glibc=2.31", "20.04", ""),
        ("glibc=2.28", "18.04", ""),
        ("glibc=2.17", "22.04", "need glibc 2.35 or newer, the target has 2.17"),
        ("libc=musl", "22.04", "need glibc, and the target has musl"),
    ],
)  # fmt: skip
def test_the_image_is_one_whose_result_runs_beside_the_c_library_of_the_target(
    libc: str, image: str, image_only: str
) -> None:
    found = good(f"Tesla K80,driver=470.82,{libc}", "1.13.1")
    assert (str(found.toolkit.image.ubuntu), found.here) == (image, libc != "libc=musl")
    assert image_only in found.image_only and bool(image_only) == bool(found.image_only)


def test_wheels_compiled_in_an_image_are_none_for_windows() -> None:
    machine = read_target("RTX 3090,driver=580.88,os=windows,arch=x86_64,python=3.10")
    found = recipe(machine, Version("2.7.1"), load())
    assert isinstance(found, Recipe) and "in WSL" in found.image_only and not found.here


def test_cards_that_no_one_kernel_module_drives_get_no_recipe() -> None:
    assert "kernel module" in bad("GTX 1080 Ti + RTX 5090,driver=580.65.06", "2.7.1").reason
