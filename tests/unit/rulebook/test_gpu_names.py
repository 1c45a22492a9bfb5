"""GPU names as tools print them and as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.rulebook.load import load
from envsolve.rulebook.name_keys import base, name_index, words
from envsolve.rulebook.names import GpuNames

NAMES = load().gpu_names

KNOWN = {
    "4090": "8.9",
    "rtx4090": "8.9",
    "RTX 4090 Laptop GPU": "8.9",
    "NVIDIA GeForce RTX 4090": "8.9",
    "geforce 4090": "8.9",
    "NVIDIA GeForce RTX 5090 D": "12.0",
    "4070tisuper": "8.9",
    "RTX 2080 Super with Max-Q Design": "7.5",
    "GTX1080Ti": "6.1",
    "Tesla T4": "7.5",
    "T4": "7.5",
    "A100-SXM4-80GB": "8.0",
    "NVIDIA A100-PCIE-40GB": "8.0",
    "NVIDIA A100 80GB PCIe": "8.0",
    "NVIDIA A100-SXM4-40GB MIG 1g.5gb": "8.0",
    "H100 PCIe": "9.0",
    "NVIDIA H100 80GB HBM3": "9.0",
    "GH200 480GB": "9.0",
    "NVIDIA GH200 144G HBM3e": "9.0",
    "GB10": "12.1",
    "NVIDIA B300 SXM6 AC": "10.3",
    "NVIDIA L4-12Q": "8.9",
    "GRID T4-8Q": "7.5",
    "A100-4C": "8.0",
    "GRID A100-1-5C": "8.0",
    "GRID A100D-80C": "8.0",
    "GRID V100DX-32Q": "7.0",
    "GRID M10-2B4": "5.0",
    "GRID RTX8000-48": "7.5",
    "GRID RTX6000P-8Q": "7.5",
    "NVIDIA RTX6000-Ada-24Q": "8.9",
    "Tesla V100-SXM2-32GB": "7.0",
    "NVIDIA GTX TITAN Black": "3.5",
    "Orin (nvgpu)": "8.7",
    "Jetson Orin": "8.7",
    "Jetson AGX Orin": "8.7",
    "NVIDIA Jetson AGX Orin Developer Kit": "8.7",
    "NVIDIA Thor": "11.0",
    "Quadro M2000M": "5.0",
    "RTX 5880 Ada Generation": "8.9",
    "GeForce GTX 670M": "2.1",
    "GeForce GTX 670MX": "3.0",
    "Quadro 600": "2.1",
    "GeForce RTX 2050": "8.6",
    # series that share a number never meet
    "Quadro RTX 4000": "7.5",
    "RTX 4000 Ada": "8.9",
    "NVIDIA RTX 4000 SFF Ada Generation": "8.9",
    "RTX A4000": "8.6",
    "RTX PRO 4000 Blackwell": "12.0",
    "GeForce GTX TITAN X": "5.2",
    "NVIDIA TITAN X (Pascal)": "6.1",
    # what people glue, turn round and add
    "gtx1660s": "7.5",
    "rtx2070s": "7.5",
    "RTX4070TiS": "8.9",
    "RTX 6000 Pro Blackwell": "12.0",
    "RTX PRO 6000": "12.0",
    "ASUS TUF Gaming GeForce RTX 4070": "8.9",
    "MSI GeForce RTX 3080 GAMING X TRIO 10G": "8.6",
    "EVGA GeForce GTX 1080 Ti FTW3": "6.1",
    "GeForce GTX 1650 Mobile / Max-Q": "7.5",
    "NVIDIA® GeForce RTX™ 4080 SUPER": "8.9",
    "jetson orin nano super": "8.7",
    "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super": "8.7",
    "TX2": "6.2",
    "AGX Orin 64GB": "8.7",
    "rtx308012gb": "8.6",
    "rtx3060laptop": "8.6",
    "rtxa2000laptopgpu": "8.6",
    "rtxpro6000": "12.0",
    "RTX4000SFFAda": "8.9",
    "gtx1060_6gb": "6.1",
    "dgxspark": "12.1",
    "A100SXM480GB": "8.0",
    # as lspci prints it: the product in brackets, the chip before it
    "NVIDIA Corporation TU117M [GeForce GTX 1650 Mobile / Max-Q] (rev a1)": "7.5",
    "GA106 [GeForce RTX 3060 Lite Hash Rate]": "8.6",
    "GB202 [GeForce RTX 5090]": "12.0",
    "TU102GL [Quadro RTX 6000/8000]": "7.5",
    "NVIDIA Corporation GK208B [GeForce GT 710] (rev a1)": "3.5",
    "GF119 [GeForce GT 710]": "2.1",
    "GP108 [GeForce GT 1030]": "6.1",
    "GA102 [A board that nobody knows]": "8.6",
    # odd boards and slices
    "NVIDIA H20-3e": "9.0",
    "Tesla V100-SXM2-32GB-LS": "7.0",
    "NVIDIA A100-PG509-200": "8.0",
    "NVIDIA A100-1-5CME": "8.0",
    "NVIDIA RTX Pro 6000 Blackwell DC-1-24CGFX": "12.0",
    # cut off by nvidia-smi
    "NVIDIA GeForce RTX 208...": "7.5",
    "NVIDIA A100-PCI...": "8.0",
    "Tesla P100-PCIE...": "6.0",
    "NVIDIA H100 80GB HB...": "9.0",
    "NVIDIA RTX 6000 Ada Gene...": "8.9",
}

AMBIGUOUS = {
    "RTX 4000": {"7.5", "8.9"},
    "RTX 6000": {"7.5", "8.9"},
    "TITAN X": {"5.2", "6.1"},
    "GT 1030": {"3.0", "6.1"},
    "GeForce GTX 860M": {"3.0", "5.0"},
    "GT 730": {"2.1", "3.0", "3.5"},
    "NVIDIA GeForce GT 640": {"2.1", "3.0", "3.5"},
    "GeForce RTX 20...": {"7.5", "8.6"},
}


@pytest.mark.parametrize(("name", "capability"), KNOWN.items())
def test_known(name: str, capability: str) -> None:
    match = NAMES.find(name)
    assert match.kind == "known"
    assert str(match.capability) == capability
    assert match.names


@pytest.mark.parametrize(("name", "capabilities"), AMBIGUOUS.items())
def test_ambiguous_names_list_their_candidates(name: str, capabilities: set[str]) -> None:
    match = NAMES.find(name)
    assert match.kind == "ambiguous"
    assert set(map(str, match.capabilities)) == capabilities
    assert match.capability is None


def test_a_cut_name_that_could_be_anything_lists_every_generation() -> None:
    match = NAMES.find("NVIDIA GeForce ...")
    assert match.kind == "ambiguous"
    assert {"6.1", "8.9", "12.0"} <= set(map(str, match.capabilities))


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA Graphics Device",
        "ASUS TUF Gaming",
        "A6000 Ada",
        "NVIDIA Corporation Device 2684",
        "nano",
        "NVIDIA",
        "GeForce",
        "RTX",
        "Quadro",
        "",
        "...",
        "AMD Radeon RX 7900 XTX",
        "600",
    ],
)
def test_unknown_stays_unknown(name: str) -> None:
    match = NAMES.find(name)
    assert match.kind == "unknown"
    assert not match.capabilities


@pytest.mark.parametrize(("name", "near"), [("GTX 4090", "GeForce RTX 4090"), ("RTX 5099", "GeForce RTX 5090")])
def test_unknown_names_the_nearest(name: str, near: str) -> None:
    assert near in NAMES.find(name).near


def test_every_name_of_the_rules_finds_its_own_capabilities() -> None:
    for row in NAMES.all():
        assert set(row.capabilities) <= set(NAMES.find(row.name).capabilities), row.name


@given(st.sampled_from(sorted(NAMES.names)), st.booleans(), st.sampled_from([str.upper, str.lower, str]))
def test_case_and_maker_do_not_matter(name: str, maker: bool, case: object) -> None:
    plain = name.removeprefix("NVIDIA ")
    # "NVIDIA TITAN X" is the Pascal card, a bare "TITAN X" is not.
    if plain == "TITAN X":
        return
    asked = f"NVIDIA {plain}" if maker else plain
    found = NAMES.find(case(asked))  # type: ignore[operator]
    assert set(NAMES.row(name).capabilities) <= set(found.capabilities)


@given(st.text(max_size=40))
def test_any_text_is_answered(text: str) -> None:
    match = NAMES.find(text)
    assert (match.kind == "unknown") == (not match.capabilities)


@given(st.sampled_from(sorted(NAMES.names)), st.integers(min_value=1, max_value=40))
def test_a_cut_name_never_excludes_the_right_card(name: str, length: int) -> None:
    found = NAMES.find(name[:length] + "...")
    if found.kind != "unknown":
        assert set(NAMES.row(name).capabilities) <= set(found.capabilities)


def test_words_part_what_people_glue_together() -> None:
    assert words("NVIDIA GeForce RTX4090Ti") == ["nvidia", "geforce", "rtx", "4090", "ti"]
    assert base(words("A100-SXM4-80GB")) == ["a100"]
    assert words("NVIDIA GeForce® GTX 1060 6 GB Rev. 2") == ["nvidia", "geforce", "gtx", "1060", "6gb", "rev2"]


def test_two_names_with_one_short_form_are_ambiguous() -> None:
    rows = {"Alpha X1 8GB": ["3.0", "high", 0, ""], "Alpha X1 16GB": ["5.0", "high", 0, ""]}
    names = GpuNames(names=rows, index=name_index(rows), sources=("a test",))
    assert names.find("Alpha X1").kind == "ambiguous"
    assert str(names.find("Alpha X1 16GB").capability) == "5.0"
