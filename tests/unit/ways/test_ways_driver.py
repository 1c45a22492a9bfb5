"""The driver: enough, last, forward compatibility, commands."""

from __future__ import annotations

import pytest

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.machine.target import read_target
from envsolve.rulebook.load import load
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.driver import DriverAdvice, advice, branch_to_install
from envsolve.ways.driver_json import as_json
from envsolve.ways.driver_text import as_text
from envsolve.ways.kernel_modules import module_kind

HOST = "python=3.12,os=linux,arch=x86_64,glibc=2.35"


def told(spec: str) -> DriverAdvice:
    found = advice(read_target(f"{spec},{HOST}" if "os=" not in spec else spec), load())
    assert found is not None
    return found


def test_an_old_driver_is_updated_to_a_branch_that_knows_the_card() -> None:
    found = told("RTX 5090,driver=550.54.14")
    assert found.action == "update" and found.first == 570 and found.last is None
    assert found.enough == Dotted.parse("580.65.06") and found.branch is not None and found.branch >= 580


def test_a_driver_that_has_dropped_the_card_is_taken_back_and_never_updated() -> None:
    found = told("GTX 1080 Ti,driver=590.44.01")
    assert (found.action, found.branch, found.last) == ("downgrade", 580, 580)
    assert any("never past R580" in note for note in found.notes)


@pytest.mark.parametrize("gpu", ["GTX 1080 Ti", "GTX 980", "Tesla V100", "Tesla K80"])
@pytest.mark.parametrize("driver", ["390.46", "470.82.01", "535.54", "590.44.01", "620.70.06"])
def test_the_advice_never_leads_past_the_last_branch_of_a_card(gpu: str, driver: str) -> None:
    found = told(f"{gpu},driver={driver},python=3.10,os=linux,arch=x86_64")
    assert found.last is not None and (found.branch is None or found.branch <= found.last)


def test_a_driver_that_is_enough_stays() -> None:
    found = told("RTX 4090,driver=580.65.06")
    assert found.action == "keep" and not found.steps and found.branch is None


def test_no_driver_drives_a_kepler_and_a_blackwell_card_together() -> None:
    found = told("Tesla K80 + RTX 5090,driver=550.54.14")
    assert found.action == "impossible" and "R570" in found.reason and "R470" in found.reason


def test_a_gpu_that_is_not_known_is_said_to_be_so() -> None:
    assert told("Voodoo 9,driver=550.54.14,vendor=nvidia").action == "unknown"


def test_a_jetson_gets_its_driver_with_jetpack() -> None:
    assert "JetPack" in told("Jetson AGX Orin,os=linux,arch=aarch64,python=3.10").reason


@pytest.mark.parametrize("spec", ["cpu", "Apple M2,os=macos,arch=arm64", "Arc A770", "Radeon RX 7900 XTX"])
def test_other_vendors_drivers_are_not_judged(spec: str) -> None:
    assert advice(read_target(f"{spec},python=3.12"), load()) is None


def test_forward_compatibility_is_for_data_centre_cards_on_listed_branches() -> None:
    found = told("H100,driver=550.54.14").compat
    assert found is not None and found.package == "cuda-compat-13-0" and found.build.variant == "cu130"
    assert any("LD_LIBRARY_PATH=/usr/local/cuda-13.0/compat" in line for _, lines in found.lines for line in lines)
    assert told("RTX 4090,driver=550.54.14").compat is None
    assert told("RTX A6000,driver=550.54.14").compat is None
    assert told("H100,driver=560.35.03").compat is None  # a branch that is on no list
    assert told("A100,driver=550.54.14,wsl=true,python=3.12,os=linux").compat is None


def test_forward_compatibility_does_not_teach_a_driver_a_new_card() -> None:
    assert told("B200,driver=550.54.14").compat is None


def test_commands_are_those_of_the_system_that_has_the_driver() -> None:
    assert [s.system for s in told("RTX 4090,driver=470.82").steps] == ["ubuntu", "debian", "rhel"]
    assert [s.system for s in told("RTX 4090,driver=470.82,os=windows,python=3.12").steps] == ["windows"]
    (wsl,) = told("RTX 4090,driver=470.82,wsl=true,os=linux,python=3.12").steps
    assert wsl.system == "wsl" and "Windows side" in wsl.title and "wsl --update" in wsl.lines
    assert not any("apt" in line for line in wsl.lines) and "never a Linux driver" in wsl.note


def test_the_branch_is_held_before_the_restart() -> None:
    ubuntu = told("GTX 1080 Ti,driver=590.44.01").steps[0]
    assert ubuntu.lines == (
        "sudo apt update",
        "sudo apt install nvidia-driver-580",
        "sudo apt-mark hold nvidia-driver-580",
        "sudo reboot",
    )


@pytest.mark.parametrize(
    ("cards", "branch", "kind"),
    [
        (["6.1"], 580, "proprietary"),
        (["12.0"], 580, "open"),
        (["8.9"], 580, "open"),
        (["8.9"], 535, "open"),
        (["7.0", "8.0"], 580, "proprietary"),
    ],
)
def test_kernel_modules_are_those_that_drive_every_card(cards: list[str], branch: int, kind: str) -> None:
    found = tuple(map(Capability.parse, cards))
    assert module_kind(found, branch, load_ways()) == ("proprietary" if branch < 560 and kind == "open" else kind)


def test_long_term_branches_come_first_and_the_newest_of_them() -> None:
    kinds = load().branches
    branch = branch_to_install(Dotted.parse("525.60.13"), None, None, load())
    assert branch is not None and kinds[branch].kind == "LTS"
    assert branch_to_install(Dotted.parse("450.80.02"), None, 470, load()) == 470
    assert branch_to_install(Dotted.parse("9999"), None, None, load()) is None


def test_text_and_json_say_the_same() -> None:
    found = told("H100,driver=550.54.14")
    data, text = as_json(found), as_text(found)
    assert data["action"] == "update" and data["compat"]["package"] in text
    assert all(line in text for steps in data["steps"] for line in steps["lines"])
    assert data["driver"] == {"version": "550.54.14", "branch": 550, "cuda": "12.4"}


@pytest.mark.parametrize("host", ["os=linux", "os=linux,wsl=true", "os=windows"])
@pytest.mark.parametrize("old", ["GTX 1080 Ti", "Tesla V100", "GTX 980"])
def test_no_kernel_modules_drive_both_an_old_and_a_blackwell_card_on_linux(old: str, host: str) -> None:
    found = told(f"{old} + RTX 5090,driver=580.65.06,python=3.12,{host}")
    clash = "needs the proprietary ones, 12.0 the open ones" in found.reason
    assert clash == (host == "os=linux")
    assert not clash or (found.action == "impossible" and not found.steps)


def test_turing_to_hopper_go_together_with_either_side() -> None:
    for pair in ("Tesla V100 + H100", "Tesla T4 + RTX 5090", "RTX 3090 + GTX 980"):
        found = told(f"{pair},driver=580.65.06")
        assert "kernel modules" not in found.reason


def test_a_driver_that_dropped_a_card_is_taken_back_even_where_the_card_has_no_build() -> None:
    found = told("Tesla K40c,driver=550.54.14,python=3.10,os=linux,arch=x86_64")
    assert (found.action, found.branch) == ("downgrade", 470) and "ends with driver branch R470" in found.reason
    assert any("can be compiled for these cards" in note for note in found.notes)
    stays = told("Tesla K40c,driver=470.82,python=3.10,os=linux,arch=x86_64")
    assert stays.action == "impossible" and not stays.steps and any("can be compiled" in n for n in stays.notes)
    fermi = told("GeForce GTX 580,driver=550.54.14,python=3.8,os=linux,arch=x86_64")
    assert fermi.action == "impossible" and not fermi.notes


@pytest.mark.parametrize(
    ("spec", "package"),
    [
        ("Tesla V100,driver=450.80.02,python=3.10", None),  # cu118 runs there by minor-version compatibility already
        ("Tesla T4,driver=450.119.03,python=3.10", None),
        ("H100,driver=525.147.05,python=3.12", None),
        ("A100,driver=470.256.02,python=3.11", "cuda-compat-12-6"),
        ("A100,driver=535.183.01,python=3.12", "cuda-compat-13-0"),
    ],
)
def test_forward_compatibility_is_offered_only_where_it_brings_a_newer_torch(spec: str, package: str | None) -> None:
    compat = told(f"{spec},os=linux,arch=x86_64").compat
    assert (compat.package if compat else None) == package


def test_forward_compatibility_says_whose_repository_the_package_is_in() -> None:
    assert "from NVIDIA's CUDA repository" in as_text(told("H100,driver=550.54.14"))


def test_debian_has_the_last_branch_of_kepler_by_another_name() -> None:
    debian = next(s for s in told("Tesla K80,driver=535.54,python=3.10,os=linux").steps if s.system == "debian")
    assert "sudo apt install nvidia-tesla-470-driver" in debian.lines and "Debian 11 and 12" in debian.title
    newer = next(s for s in told("GTX 1080 Ti,driver=590.44.01").steps if s.system == "debian")
    assert "sudo apt install nvidia-driver-pinning-580" in newer.lines


@pytest.mark.parametrize("spec", ["GTX 1080 Ti,driver=590.44.01", "RTX 5090,driver=550.54.14", "RTX 4090"])
def test_a_module_stream_is_reset_before_another_is_enabled(spec: str) -> None:
    lines = next(s for s in told(spec).steps if s.system == "rhel").lines
    assert lines[0] == "sudo dnf module reset nvidia-driver" and lines[1].startswith("sudo dnf module enable ")
