"""The rules checked against each other: no table may say what another one excludes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.judge import driver
from envsolve.rulebook.facts import Fact, facts
from envsolve.rulebook.load import load, load_document
from envsolve.rulebook.tables import Build

RULES = load()
FACTS = tuple(facts(RULES, load_document("details")))

# Real holes of the index: these torch builds were published without the companion (read from whole pages).
HOLES = {
    ("torchvision", "windows_amd64"): {"cu92", "cu111", "cu129"},
    ("torchaudio", "windows_amd64"): {"cu129"},
    ("torchvision", "linux_aarch64"): {"cpu", "cu124"},
    ("torchaudio", "linux_aarch64"): {"cpu", "cu124"},
    ("torchvision", "linux_x86_64"): {"rocm3.7", "rocm3.8", "rocm3.10", "rocm4.0.1"},
    ("torchaudio", "linux_x86_64"): {"rocm4.0.1", "rocm4.2"},
    ("torchvision", "macos_arm64"): {"cpu"},
    ("torchaudio", "macos_arm64"): {"cpu"},
    ("torchvision", "windows_arm64"): {"cpu"},
    ("torchaudio", "windows_arm64"): {"cpu"},
}


def cuda_builds() -> Iterator[Build]:
    return (build for build in RULES.builds if build.accelerator == "cuda")


def told(build: Build) -> str:
    return f"{build.torch}+{build.variant} on {build.platform}"


def test_no_build_has_code_that_its_nvcc_cannot_make() -> None:
    for build in cuda_builds():
        assert build.cuda is not None
        nvcc = RULES.toolkit_ranges[build.cuda]
        wrong = [str(target) for target in (*build.sm, *build.ptx) if not nvcc.covers(target.capability)]
        assert not wrong, f"{told(build)}: {wrong}, nvcc {build.cuda} makes {nvcc.first} to {nvcc.last}"


def test_the_check_would_notice() -> None:
    assert not RULES.toolkit_ranges[Dotted.parse("11.8")].covers(Capability(12, 0))
    assert not RULES.toolkit_ranges[Dotted.parse("13.0")].covers(Capability(6, 1))


def test_every_cuda_build_has_code_and_never_tegras() -> None:
    for build in cuda_builds():
        assert build.sm and build.targets_known, told(build)
        assert not {target.capability for target in build.sm} & RULES.tegra_capabilities, told(build)


def test_only_linux_builds_have_a_glibc() -> None:
    for build in RULES.builds:
        assert (build.glibc_min is not None) == build.platform.startswith("linux"), told(build)


def test_labels_and_pythons_are_plausible() -> None:
    for build in RULES.builds:
        first, last = build.python
        assert Dotted.parse("3.6") <= first <= last <= Dotted.parse("3.15"), told(build)
        assert all(first <= minor <= last for minor in build.freethreaded), told(build)
        assert not (build.platform.startswith("macos") and build.local_tag), told(build)


def test_newer_patches_never_lose_the_newest_python() -> None:
    for platform in ("linux_x86_64", "windows_amd64"):
        stable = [build for build in RULES.builds_on(platform) if build.folder == build.variant]  # no LTS
        for build in stable:
            later = (b for b in stable if b.variant == build.variant and b.torch > build.torch)
            assert all(b.python[1] >= build.python[1] for b in later), told(build)


def test_every_release_has_companions_that_are_known_or_beyond_the_listing() -> None:
    assert set(RULES.companions) == set(RULES.torch_versions)
    for torch, row in RULES.companions.items():
        for package, versions in row.versions.items():
            known = set(RULES.companion_versions(package))
            for version in versions:
                listed = version in known or not RULES.companion_listing_complete(package, version)
                assert listed, f"torch {torch}: {package} {version} is nowhere"


def test_companions_exist_for_each_variant_but_the_known_holes() -> None:
    for build in RULES.builds:
        if build.folder != build.variant:
            continue  # LTS and test folders have pages of their own
        for package, versions in RULES.companions[build.torch].versions.items():
            listed = all(RULES.companion_listing_complete(package, version) for version in versions)
            found = any(RULES.companion_builds(package, v, build.variant, build.platform) for v in versions)
            hole = build.variant in HOLES.get((package, build.platform), ())
            assert found or not listed or hole, f"{told(build)} has no {package}"


def test_pypi_wheels_are_builds_that_the_index_has_too() -> None:
    for torch, row in RULES.pypi_defaults.items():
        for platform, variant in row.variants.items():
            assert variant is None or RULES.build(torch, variant, platform), f"{torch} {platform} {variant}"


def test_what_is_not_published_is_no_build() -> None:
    for row in RULES.not_published:
        clash = [told(b) for b in RULES.builds if b.variant == row.variant and row.torch.contains(b.torch)]
        assert not clash, f"{row.torch} {row.variant}: {clash}"


def test_every_release_has_a_linux_build_and_every_build_a_release() -> None:
    assert {build.torch for build in RULES.builds_on("linux_x86_64")} == set(RULES.torch_versions)
    assert {build.torch for build in RULES.builds} == set(RULES.torch_versions)


def test_drivers_toolkits_and_branches_agree() -> None:
    cudas = [row.cuda for row in RULES.branches.values()]
    assert cudas == sorted(cudas)
    for row in RULES.toolkit_drivers:
        spoken = RULES.branches[row.branch].cuda
        assert (*spoken.parts, 0)[:2] == (*row.cuda.parts, 0)[:2], f"CUDA {row.cuda} and R{row.branch}"
        assert row.linux is None or row.linux.major == row.branch, f"CUDA {row.cuda}"
    for major, floor in RULES.driver_floors.items():
        first = RULES.toolkit_driver(Dotted.parse(f"{major}.0"))
        if floor.linux is not None:
            assert first is not None and first.linux is not None
            assert first.linux <= floor.linux and first.branch == floor.linux.major


def test_architectures_do_not_overlap_and_cover_every_capability() -> None:
    rows = sorted(RULES.architectures, key=lambda row: row.first)
    assert all(one.last < other.first for one, other in pairwise(rows))
    named = {capability for row in RULES.gpu_names.all() for capability in row.capabilities}
    coded = {target.capability for build in cuda_builds() for target in build.sm}
    for capability in named | coded | RULES.tegra_capabilities:
        assert RULES.architecture(capability) is not None, capability


def test_the_first_driver_is_that_of_the_first_toolkit() -> None:
    for row in RULES.architectures:
        first = {row.first: row.first_branch} | {one: branches[0] for one, branches in row.branches.items()}
        for capability, branch in first.items():
            able = [cuda for cuda, nvcc in RULES.toolkit_ranges.items() if nvcc.covers(capability)]
            if branch is not None:
                toolkit = RULES.toolkit_driver(min(able))
                assert toolkit is not None and toolkit.branch == branch, f"{row.name} {capability}"
        assert row.last_branch is None or row.last_branch in RULES.branches


def test_every_row_has_a_source_and_a_certainty() -> None:
    assert len(FACTS) > 2500
    for fact in FACTS:
        assert fact.certainty in ("high", "medium", "low"), fact.place
        assert len(fact.source) > 4, fact.place
    assert len({fact.place for fact in FACTS}) == len(FACTS)


def test_rows_of_low_certainty_are_listed_and_few(record_property: Callable[[str, object], None]) -> None:
    low = [fact for fact in FACTS if fact.certainty == "low"]
    record_property("low", "\n".join(fact.place for fact in low))
    assert {fact.file for fact in low} >= {"torch/builds.yaml", "backends/rocm.yaml"}
    assert len(low) < 0.03 * len(FACTS)
    assert all(_says_why(fact) for fact in low if fact.table == "builds")


def _says_why(fact: Fact) -> bool:
    """A doubtful build says what is doubtful: in a note, or by evidence that is no wheel."""
    return bool(fact.note) or dict(fact.fields)["evidence"] in ("inferred", "issue", "build_script")


def test_unadvertised_cuda_129_is_low() -> None:
    for build in cuda_builds():
        if not build.advertised and build.variant == "cu129":
            assert build.certainty == "low", told(build)


def test_amd_targets_speak_of_builds_that_exist() -> None:
    built = {(b.variant, f"{b.torch.major}.{b.torch.minor}") for b in RULES.builds if b.accelerator == "rocm"}
    told = {(fact.keys[0], fact.keys[1]) for fact in FACTS if fact.table == "gfx_targets"}
    assert told <= built
    assert {variant for variant, _ in built} == {variant for variant, _ in told}


def test_amd_targets_only_grow_within_a_torch_minor() -> None:
    """A newer ROCm of one torch never has fewer targets in its list; what fails there is in `unusable`."""
    for torch in {b.torch for b in RULES.builds if b.accelerator == "rocm"}:
        builds = [b for b in RULES.builds if b.torch == torch and b.accelerator == "rocm" and b.gfx]
        ordered = sorted(builds, key=lambda b: Dotted.parse(b.variant.removeprefix("rocm")))
        for older, newer in pairwise(ordered):
            assert set(older.gfx) <= set(newer.gfx), f"{told(older)} and {newer.variant}"


def test_intel_products_are_served_by_builds_that_exist() -> None:
    minors = {Dotted.parse(f"{b.torch.major}.{b.torch.minor}") for b in RULES.builds if b.accelerator == "xpu"}
    for product in RULES.xpu_products:
        assert product.first is None or product.first in minors, product.words


def test_every_cuda_of_a_build_has_a_driver_floor() -> None:
    for cuda in {b.cuda for b in cuda_builds() if b.cuda is not None}:
        for windows in (False, True):
            here = [b for b in cuda_builds() if b.cuda == cuda and b.platform.startswith("windows") == windows]
            assert not here or driver.floor(cuda, RULES, windows=windows) is not None, f"CUDA {cuda}"


def test_no_gpu_of_the_rules_is_newer_than_every_driver_and_toolkit() -> None:
    newest = max(RULES.toolkit_ranges)
    for row in RULES.architectures:
        if row.last_branch is None:
            assert any(nvcc.covers(row.first) for nvcc in RULES.toolkit_ranges.values()), row.name
            assert RULES.toolkit_ranges[newest].covers(row.first), row.name
        first, last = row.first_branch or 0, row.last_branch or max(RULES.branches)
        assert first <= last, row.name
