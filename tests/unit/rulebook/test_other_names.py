"""AMD and Intel GPUs as tools print them and as people write them: whose they are, and which target they have."""

from __future__ import annotations

import pytest

from envsolve.machine.words import vendor_of
from envsolve.rulebook.load import load
from envsolve.rulebook.other_names import gfx_of, xpu_product

RULES = load()

AMD = {
    "AMD Radeon RX 7900 XTX": "gfx1100",
    "RX 7900 XTX": "gfx1100",
    "rx7900xtx": "gfx1100",
    "7900 XTX": "gfx1100",
    "RX 9060 XT 16GB": "gfx1200",
    "RX 580": "gfx803",
    "Radeon RX 580 2048SP": "gfx803",
    "Vega 64": "gfx900",
    "MI50": "gfx906",
    "AMD Instinct MI50/MI60": "gfx906",
    "AMD INSTINCT MI250 (MCM) OAM AC MBA": "gfx90a",
    "AMD Instinct MI300X OAM": "gfx942",
    "W7900": "gfx1100",
    "Radeon Pro W6800": "gfx1030",
    "AMD Radeon AI PRO R9700": "gfx1201",
    "RX 6800M": "gfx1031",
    "RX 7600M XT": "gfx1102",
    "AMD Ryzen AI MAX+ 395 w/ Radeon 8060S": "gfx1151",
    "AMD Ryzen 7 7840HS w/ Radeon 780M Graphics": "gfx1103",
    "Strix Halo": "gfx1151",
    "gfx90a:sramecc+:xnack-": "gfx90a",
    "AMD Radeon RX 7800 XT (gfx1101)": "gfx1101",
    # one chip, as lspci prints it
    "Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]": "gfx1100",
    "Advanced Micro Devices, Inc. [AMD/ATI] Navi 22 [Radeon RX 6700/6700 XT/6750 XT / 6800M/6850M XT]": "gfx1031",
    "Vega 20 [Radeon Pro VII/Radeon Instinct MI50 32GB]": "gfx906",
}
UNKNOWN_AMD = ["AMD Radeon Graphics", "Radeon Pro 5600M", "RX 9999", "AMD Radeon RX 7900 XTX/RX 6800"]


@pytest.mark.parametrize(("name", "gfx"), AMD.items())
def test_an_amd_gpu(name: str, gfx: str) -> None:
    assert (vendor_of(name), gfx_of(name, RULES)) == ("amd", gfx)


@pytest.mark.parametrize("name", UNKNOWN_AMD)
def test_an_amd_gpu_that_is_not_known(name: str) -> None:
    assert (vendor_of(name), gfx_of(name, RULES)) == ("amd", None)


INTEL = {
    "Intel(R) Arc(TM) A770 Graphics": "2.5",
    "DG2 [Arc A770]": "2.5",
    "Arc B580": "2.7",
    "Data Center GPU Max 1100": "2.5",
    "Ponte Vecchio": "2.5",
    "Panther Lake": "2.10",
    "Iris Xe": "None",
    "UHD Graphics 770": "None",
    "HD Graphics 530": "None",
}


@pytest.mark.parametrize(("name", "first"), INTEL.items())
def test_an_intel_gpu(name: str, first: str) -> None:
    product = xpu_product(name, RULES)
    assert vendor_of(name) == "intel" and product is not None
    assert str(product.first) == first


@pytest.mark.parametrize(
    "name",
    [
        "RTX 4090",
        "GTX 1080",
        "Tesla T4",
        "A100-SXM4-80GB",
        "Quadro RTX 6000",
        "NVIDIA A100 MIG 1g.10gb",
        "4070 Ti",
        "W",
    ],
)
def test_an_nvidia_gpu_is_no_other(name: str) -> None:
    assert vendor_of(name) == "nvidia"
