"""The driver: enough, last, forward compatibility, commands."""

from __future__ import annotations

import pytest

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.machine.target import read_target
from envsolve.rulebook.load import load
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.driver import DriverAdvice, advice, branch_to_install
from envsolve.ways.driver_commands import module_kind
from envsolve.ways.driver_json import as_json
from envsolve.ways.driver_text import as_text

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
