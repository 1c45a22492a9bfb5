"""One-line specs: the grammar, its errors, and that what is written reads back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Gpu, Libc, Machine
from envsolve.machine.merge import merge
from envsolve.machine.spec import format_spec, parse_gpus, parse_spec
from envsolve.machine.target import read_target

HOST = Machine(os="linux", arch="x86_64", python="3.12")


def names(text: str) -> list[str | None]:
    return [gpu.name for gpu in read_target(text, host=HOST).gpus]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2x RTX 3090 + GTX 1080 Ti,driver=550.54.14,python=3.11", ["RTX 3090", "RTX 3090", "GTX 1080 Ti"]),
        ("2x RTX 3090; GTX 1080 Ti,driver=550.54.14", ["RTX 3090", "RTX 3090", "GTX 1080 Ti"]),
        ("RTX 3090 & GTX 1080 Ti", ["RTX 3090", "GTX 1080 Ti"]),
        ("RTX 4090", ["RTX 4090"]),
        ("4090", ["4090"]),
        ("2x4090", ["4090", "4090"]),
        ("3 x Tesla T4", ["Tesla T4"] * 3),
        ("RTX 3090 x2", ["RTX 3090"] * 2),
        ("RTX 3090, RTX 3080 , driver=535.104.05", ["RTX 3090", "RTX 3080"]),
        ("A100-SXM4-80GB+H100 PCIe", ["A100-SXM4-80GB", "H100 PCIe"]),
        ("NVIDIA GeForce RTX 208...,driver=470.82", ["NVIDIA GeForce RTX 208..."]),
    ],
)
def test_gpus(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_all_keys() -> None:
    machine = read_target(
        "RTX 4090,driver=550.54.14,cuda=12.4,python=3.11,os=linux,arch=amd64,glibc=2.35,wsl=yes,tegra=no,vendor=nvidia",
        host=Machine(os="macos", arch="arm64", python="3.9"),
    )
    assert (str(machine.driver), str(machine.cuda_max), machine.python) == ("550.54.14", "12.4", "3.11")
    assert (machine.os, machine.arch, machine.libc) == (
        "linux",
        "x86_64",
        Libc(name="glibc", version=Dotted.parse("2.35")),
    )
    assert (machine.wsl, machine.tegra, machine.vendor, machine.assumed) == (True, False, "nvidia", ())


def test_what_is_left_out_is_unknown_but_for_os_arch_and_python() -> None:
    machine = read_target("RTX 4090", host=HOST)
    assert (machine.os, machine.arch, machine.python) == ("linux", "x86_64", "3.12")
    assert machine.assumed == ("os", "arch", "python")
    assert machine.driver is machine.cuda_max is machine.libc is machine.gpus[0].compute_capability is None


def test_capabilities_in_place_of_names_and_beside_them() -> None:
    assert [g.compute_capability for g in read_target("cc=8.6", host=HOST).gpus] == [Capability(8, 6)]
    several = read_target("cc=2x 8.6 + sm_120,driver=580.65.06", host=HOST).gpus
    assert [g.compute_capability for g in several] == [Capability(8, 6), Capability(8, 6), Capability(12, 0)]
    assert several[0].name is None
    named = read_target("GTX 860M + GT 1030,cc=5.0+6.1", host=HOST).gpus
    assert [(g.name, str(g.compute_capability)) for g in named] == [("GTX 860M", "5.0"), ("GT 1030", "6.1")]
    assert {g.compute_capability for g in read_target("2x GTX 860M,cc=3.0", host=HOST).gpus} == {Capability(3, 0)}


@pytest.mark.parametrize("text", ["driver=550.54.14", "cuda=12.4,python=3.10", "vendor=nvidia"])
def test_a_driver_without_a_name_is_a_gpu_of_which_nothing_is_known(text: str) -> None:
    machine = read_target(text, host=HOST)
    assert (machine.gpus, machine.vendor) == ((Gpu(),), "nvidia")


@pytest.mark.parametrize("text", ["vendor=none", "none", "cpu,python=3.11", "no gpu,os=windows"])
def test_no_gpu_has_to_be_said(text: str) -> None:
    assert (read_target(text, host=HOST).vendor, read_target(text, host=HOST).gpus) == ("none", ())


def test_a_spec_of_the_host_alone_says_nothing_of_gpus() -> None:
    machine = read_target("python=3.11,glibc=2.31", host=HOST)
    assert (machine.vendor, machine.gpus) == (None, ())


@pytest.mark.parametrize(
    ("text", "vendor", "gfx"),
    [
        ("RX 7900 XTX,vendor=amd", "amd", None),
        ("AMD Radeon RX 6800", "amd", None),
        ("2x gfx1100", "amd", "gfx1100"),
        ("Intel Arc A770", "intel", None),
        ("Apple M2,os=macos", "apple", None),
    ],
)
def test_other_vendors(text: str, vendor: str, gfx: str | None) -> None:
    machine = read_target(text, host=HOST)
    assert (machine.vendor, machine.gpus[0].gfx) == (vendor, gfx)


@pytest.mark.parametrize(
    ("text", "vendor", "names"),
    [
        ("Intel Iris Xe + RTX 3060", "nvidia", ["RTX 3060"]),
        ("AMD Radeon(TM) Graphics + GeForce RTX 4070 Laptop GPU", "nvidia", ["GeForce RTX 4070 Laptop GPU"]),
        ("AMD Radeon Graphics + RX 7900 XTX", "amd", ["RX 7900 XTX"]),
        ("Intel UHD Graphics 770 + RX 6800 XT", "amd", ["RX 6800 XT"]),
        ("Intel UHD Graphics 770 + Intel Arc A770", "intel", ["Intel Arc A770"]),
        ("AMD Radeon Graphics + Intel Arc A770", "intel", ["Intel Arc A770"]),
        ("RX 7900 XTX + RTX 3090", "nvidia", ["RTX 3090"]),
        ("Intel UHD Graphics 770", "intel", ["Intel UHD Graphics 770"]),
        ("AMD Radeon Graphics", "amd", ["AMD Radeon Graphics"]),
    ],
)
def test_the_second_card_of_a_laptop_is_no_other_choice(text: str, vendor: str, names: list[str]) -> None:
    machine = read_target(text, host=HOST)
    assert (machine.vendor, [gpu.name for gpu in machine.gpus]) == (vendor, names)
    assert len(machine.problems) == text.count("+") and all(p.code == "other-card" for p in machine.problems)


@pytest.mark.parametrize("text", ["3090 x2", "3090x2", "2x3090", "3090 * 2", "2 x 3090", "RTX 3090 x2"])
def test_a_number_of_cards_and_the_number_in_their_name(text: str) -> None:
    machine = read_target(text, host=HOST)
    assert [(gpu.name or "").removeprefix("RTX ") for gpu in machine.gpus] == ["3090", "3090"]


@pytest.mark.parametrize(
    "text", ["GeForce GTX 1650 Mobile / Max-Q", "TU117M [GeForce GTX 1650 Mobile / Max-Q]", "Quadro RTX 6000/8000"]
)
def test_a_slash_in_a_name_is_no_path(text: str) -> None:
    assert [gpu.name for gpu in read_target(f"{text},driver=550.54.14", host=HOST).gpus] == [text]


@pytest.mark.parametrize(
    "text", ["cards/a", "cards/a.json,driver=550.54.14", "./a,driver=550.54.14", "~/a,python=3.11"]
)
def test_a_path_is_still_a_path(text: str) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_target(text, host=HOST)


@pytest.mark.parametrize("name", ["Jetson Orin", "AGX Orin", "Xavier NX", "TX2", "NVIDIA Thor", "Orin (nvgpu)"])
def test_a_board_by_its_own_name(name: str) -> None:
    machine = read_target(f"{name},driver=540.4.0", host=Machine(os="windows", arch="x86_64", python="3.12"))
    assert (machine.tegra, machine.os, machine.arch) == (True, "linux", "aarch64")


def test_boards_and_systems_that_speak_for_themselves() -> None:
    host = Machine(os="windows", arch="x86_64", python="3.12")
    jetson = read_target("Jetson Orin,driver=540.4.0", host=host)
    assert (jetson.tegra, jetson.os, jetson.arch, jetson.assumed) == (True, "linux", "aarch64", ("python",))
    wsl = read_target("RTX 3060,driver=546.80,wsl=true", host=host)
    assert (wsl.wsl, wsl.os) == (True, "linux")
    mac = read_target("os=macos,arch=aarch64", host=host)
    assert (mac.arch, mac.vendor) == ("arm64", "apple")
    assert read_target("os=macos,arch=x64", host=host).vendor == "none"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the target is empty"),
        (" , ", "the target is empty"),
        ("RTX 4090,drvier=550.54", "unknown key 'drvier'"),
        ("RTX 4090,driver=", "driver has no value"),
        ("RTX 4090,driver=550,driver=560", "driver is given twice"),
        ("RTX 4090,driver=550.xx", "driver=550.xx is not a driver version"),
        ("RTX 4090,cuda=cu124", "cuda=cu124 is not the driver's CUDA"),
        ("RTX 4090,python=three", "python=three is not a Python version"),
        ("RTX 4090,os=beos", "os=beos is not linux, windows or macos"),
        ("RTX 4090,arch=riscv64", "arch=riscv64 is not x86_64"),
        ("RTX 4090,wsl=maybe", "wsl=maybe is not true or false"),
        ("RTX 4090,vendor=none", "vendor=none, yet it names a GPU"),
        ("RTX 4090,vendor=matrox", "vendor=matrox is not nvidia"),
        ("RTX 4090,wsl=true,os=windows", "wsl=true is Linux"),
        ("RTX 4090,libc=bionic", "libc=bionic is not musl or glibc"),
        ("RTX 4090,libc=musl,glibc=2.35", "contradict each other"),
        ("cc=8.6x", "cc=8.6x is not a compute capability"),
        ("RTX 3090 + RTX 4090,cc=8.6+8.9+9.0", "cc has 3 capabilities for 2 GPUs"),
        ("0x RTX 4090", "0 GPUs of one kind"),
        ("999x RTX 4090", "999 GPUs of one kind"),
        ("RTX 4090 + ", "'' is not a GPU name"),
        ("Unknown Error", "'Unknown Error' is not a GPU name"),
    ],
)
def test_errors_name_the_part(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_target(text, host=HOST)
    assert message in caught.value.message
    assert caught.value.hint


def test_a_misspelt_key_gets_the_near_one() -> None:
    with pytest.raises(InputError) as caught:
        parse_spec("RTX 4090,drvier=550.54")
    assert caught.value.hint == "driver=550.54"


@pytest.mark.parametrize(
    "text", ["machines/laptop", "C:\\machine", "smi.txt", "laptop.JSON", "out.log", "q.xml", "a.csv"]
)
def test_what_looks_like_a_path_is_never_a_spec(text: str) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_target(text, host=HOST)


WORD = st.text("ABCXYZabcyz0123456789 -", min_size=2, max_size=16).map(lambda t: " ".join(t.split()))
NAME = WORD.filter(bool).map("RTX {}".format)
VERSION = st.lists(st.integers(0, 999), min_size=2, max_size=3).map(lambda p: Dotted.parse(".".join(map(str, p))))
MACHINES = st.builds(
    Machine,
    os=st.sampled_from(["linux", "windows"]),
    arch=st.just("x86_64"),
    python=st.none() | st.sampled_from(["3.9", "3.14"]),
    libc=st.none() | st.builds(Libc, name=st.just("glibc"), version=VERSION) | st.just(Libc(name="musl")),
    driver=st.none() | VERSION,
    cuda_max=st.none() | VERSION,
    gpus=st.lists(
        st.builds(Gpu, name=NAME, compute_capability=st.none() | st.just(Capability(8, 6))), min_size=1, max_size=4
    ).map(lambda gpus: tuple(gpus) if len({g.compute_capability for g in gpus}) == 1 else tuple(gpus[:1])),
    vendor=st.just("nvidia"),
)


@given(MACHINES)
def test_a_spec_reads_back_as_the_machine_it_was_written_for(machine: Machine) -> None:
    again = merge([parse_spec(format_spec(machine))], host=Machine(os="macos", arch="arm64"))
    for field in ("os", "arch", "python", "libc", "driver", "cuda_max", "gpus", "vendor"):
        assert getattr(again, field) == getattr(machine, field), field
    assert "os" not in again.assumed


@given(st.text(max_size=60))
def test_any_text_is_a_spec_or_an_input_error(text: str) -> None:
    try:
        parse_spec(text)
        parse_gpus(text)
    except InputError as error:
        assert error.message[:1].islower() or not error.message[:1].isalpha()
