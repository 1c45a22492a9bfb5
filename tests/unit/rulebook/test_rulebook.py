"""The rulebook: typed rows and look-ups over the project's own rules."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from envsolve.capability import Capability, Target
from envsolve.dotted import Dotted
from envsolve.errors import OutsideError
from envsolve.rulebook import cells
from envsolve.rulebook.load import load, load_document, rules_dir
from envsolve.rulebook.rulebook import Rulebook


@pytest.fixture(scope="module")
def rules() -> Rulebook:
    return load()


def test_the_releases_span_what_was_promised(rules: Rulebook) -> None:
    assert rules.torch_versions[0] == Version("1.7.0")
    assert rules.torch_versions[-1] == Version("2.15.0")
    assert list(rules.torch_versions) == sorted(rules.torch_versions)
    assert rules.releases[Version("2.9.1")].date == "2025-11-12"


def test_a_cuda_build(rules: Rulebook) -> None:
    build = rules.build(Version("2.11.0"), "cu128", "linux_x86_64")
    assert build is not None
    assert build.accelerator == "cuda"
    assert build.cuda == Dotted.parse("12.8")
    assert Target.parse("sm_120") in build.sm
    assert Target.parse("sm_70") not in build.sm
    assert build.python == (Dotted.parse("3.10"), Dotted.parse("3.14"))
    assert build.glibc_min == Dotted.parse("2.28")
    assert build.folder == "cu128"
    assert build.local_tag


def test_windows_lists_differ_from_linux(rules: Rulebook) -> None:
    linux, windows = (rules.build(Version("2.6.0"), "cu126", p) for p in ("linux_x86_64", "windows_amd64"))
    assert linux is not None
    assert windows is not None
    assert Target.parse("sm_61") in windows.sm
    assert Target.parse("sm_61") not in linux.sm


def test_builds_without_cuda(rules: Rulebook) -> None:
    mac = rules.build(Version("2.15.0"), "cpu", "macos_arm64")
    assert mac is not None
    assert (mac.accelerator, mac.local_tag, mac.cuda, mac.sm) == ("mps", False, None, ())
    rocm = rules.build(Version("2.9.1"), "rocm6.4", "linux_x86_64")
    assert rocm is not None
    assert rocm.accelerator == "rocm"
    arm = rules.build(Version("2.5.1"), "cpu", "linux_aarch64")
    assert arm is not None
    assert not arm.local_tag
    lts = rules.build(Version("1.8.2"), "cu111", "linux_x86_64")
    assert lts is not None
    assert lts.folder == "lts/1.8/cu111"
    assert rules.build(Version("2.3.0"), "cpu", "macos_x86_64") is None


def test_builds_on_a_platform_come_oldest_first_and_only_once(rules: Rulebook) -> None:
    for platform in rules.platforms:
        builds = rules.builds_on(platform)
        assert [b.torch for b in builds] == sorted(b.torch for b in builds)
        assert len({(b.torch, b.variant) for b in builds}) == len(builds)
        assert rules.builds_on(platform) is builds
    assert sum(len(rules.builds_on(p)) for p in rules.platforms) == len(rules.builds)
    assert rules.builds_on("plan9_z80") == ()


def test_companions(rules: Rulebook) -> None:
    row = rules.companions[Version("2.14.1")]
    assert row.versions["torchvision"] == (Version("0.29.1"), Version("0.29.2"))
    assert {(pin.package, str(pin.version)) for pin in rules.open_pins} >= {("torchaudio", "2.11.0")}


def test_companion_builds_know_labels_pythons_and_absence(rules: Rulebook) -> None:
    vision = rules.companion_builds("torchvision", Version("0.24.1"), "cu130", "linux_aarch64")
    assert vision is not None
    assert not vision.local_tag
    assert Dotted.parse("3.14") in vision.freethreaded
    assert rules.companion_builds("torchvision", Version("0.24.1"), "cu118", "linux_x86_64") is None
    assert rules.companion_listing_complete("torchvision", Version("0.24.1"))
    assert not rules.companion_listing_complete("torchvision", Version("0.29.2"))
    assert Version("2.11.0") in rules.companion_versions("torchaudio")


def test_files_of_the_index_root_serve_every_variant(rules: Rulebook) -> None:
    audio = rules.companion_builds("torchaudio", Version("0.8.1"), "cu111", "linux_x86_64")
    assert audio is not None
    assert audio.variant == "cu111"
    assert not audio.local_tag


def test_drivers(rules: Rulebook) -> None:
    assert rules.driver_floors[12].linux == Dotted.parse("525.60.13")
    assert rules.driver_floors[13].linux == Dotted.parse("580.65.06")
    assert rules.driver_floors[10].linux is None
    toolkit = rules.toolkit_driver(Dotted.parse("12.0"))
    assert toolkit is not None
    assert toolkit.windows == Dotted.parse("527.41")  # that of 12.0.0, not of 12.0.1
    assert rules.toolkit_driver(Dotted.parse("12.7")) is None
    assert rules.branches[580].cuda == Dotted.parse("13.0")
    assert rules.branches[580].end_of_life == "2028-06"
    assert list(rules.branches) == sorted(rules.branches)


def test_the_ends_of_branches_and_of_pythons_say_how_sure_they_are(rules: Rulebook) -> None:
    assert (rules.branches[535].end_of_life, rules.branches[535].end_certainty) == ("2026-06", "high")
    unknown_month = rules.branches[550]
    assert unknown_month.ended and unknown_month.end_of_life == ""
    assert rules.branches[470].end_certainty == "medium" and rules.branches[470].certainty == "high"
    assert not rules.branches[620].ended
    python = rules.python_ends["3.10"]
    assert (python.end_of_life, python.certainty) == ("2026-10", "high") and "PEP 619" in python.source
    assert "3.99" not in rules.python_ends


def test_architectures(rules: Rulebook) -> None:
    kepler, pascal, ultra = (rules.architecture(Capability(*c)) for c in ((3, 5), (6, 1), (10, 3)))
    assert kepler is not None and kepler.last_branch == 470
    assert pascal is not None and pascal.last_branch == 580
    assert ultra is not None and ultra.first_branch == 575
    ampere = rules.architecture(Capability(8, 6))
    assert ampere is not None and ampere.branches[Capability(8, 6)] == (455, None)
    assert rules.architecture(Capability(42, 0)) is None
    assert rules.tegra_capabilities >= {Capability(5, 3), Capability(6, 2), Capability(7, 2), Capability(8, 7)}


def test_toolkit_ranges_have_holes(rules: Rulebook) -> None:
    ranges = rules.toolkit_ranges
    assert ranges[Dotted.parse("12.8")].covers(Capability(12, 0))
    assert not ranges[Dotted.parse("12.8")].covers(Capability(10, 3))
    assert ranges[Dotted.parse("12.9")].covers(Capability(10, 3))
    assert not ranges[Dotted.parse("12.9")].covers(Capability(11, 0))
    assert not ranges[Dotted.parse("13.0")].covers(Capability(7, 0))
    assert not ranges[Dotted.parse("11.8")].covers(Capability(12, 0))


def test_numpy_rules(rules: Rulebook) -> None:
    old = rules.numpy_rule(Version("2.2.2"), "macos_x86_64")
    assert old is not None and old.requires == "numpy<2"
    assert rules.numpy_rule(Version("2.3.0"), "linux_x86_64") is None
    assert rules.numpy_rule(Version("2.4.0"), "windows_amd64") is not None
    assert rules.numpy_rule(Version("2.4.1"), "windows_amd64") is None


def test_pypi_and_what_is_not_published(rules: Rulebook) -> None:
    assert rules.pypi_defaults[Version("2.15.0")].variants["linux_x86_64"] == "cu132"
    assert rules.pypi_defaults[Version("2.3.0")].variants["macos_x86_64"] is None
    assert any(row.variant == "cu126" and row.torch.contains("2.15.0") for row in rules.not_published)


def test_gfx_targets(rules: Rulebook) -> None:
    row = rules.gfx_targets(Version("2.9.1"), "rocm6.4")
    assert row is not None and row.gfx is not None
    assert {"gfx1100", "gfx942"} <= set(row.gfx)
    unread = rules.gfx_targets(Version("2.14.0"), "rocm7.14")
    assert unread is not None and unread.gfx is None
    assert rules.gfx_targets(Version("2.9.1"), "rocm5.0") is None
    assert any(bad.gfx == "gfx906" and bad.first == Dotted.parse("6.4") for bad in rules.gfx_unusable)
    assert rules.amd_products["AMD Radeon PRO W6800"].gfx == "gfx1030"


def test_the_other_compiled_files() -> None:
    assert {"containers", "source_build", "extensions", "beliefs"} <= set(load_document("ways"))
    assert len(load_document("pypi_wheels")["torch"]) > 90
    assert load_document("details")["builds"]["2.9.1"]["cu128"]["linux_x86_64"]["evidence"] == "wheel"


def test_cuda_of_a_variant() -> None:
    assert str(cells.cuda_of("cu92")) == "9.2"
    assert str(cells.cuda_of("cu118")) == "11.8"
    assert cells.cuda_of("rocm6.4") is None


def test_rules_that_are_not_there_or_damaged(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="can't be read"):
        load(tmp_path)
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled/core.json").write_text('{"format": 0}')
    with pytest.raises(OutsideError, match="damaged"):
        load(tmp_path)


def test_the_rules_of_this_checkout_are_found() -> None:
    assert (rules_dir() / "torch/builds.yaml").is_file()
