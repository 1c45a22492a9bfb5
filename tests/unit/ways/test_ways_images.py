"""Images of others: pytorch/pytorch tags and NGC months, judged by GPU and driver."""

from __future__ import annotations

import pytest
from packaging.version import Version

from envsolve.machine.target import read_target
from envsolve.rulebook.load import load
from envsolve.rulebook.ways_tables import load_ways
from envsolve.ways.cards import identified
from envsolve.ways.image_offers import Offers, as_json, as_text, image_offers


def offers(spec: str) -> Offers:
    machine = identified(read_target(f"{spec},python=3.12"), load())
    return image_offers(machine, load(), load_ways())


def reason(found: Offers, part: str) -> str:
    refused = (*found.official.refused, *found.ngc.refused)
    return next(image.reason for image in refused if part in image.name)


def test_a_driver_too_old_for_cuda_13_gets_the_cuda_12_image() -> None:
    found = offers("RTX 4090,driver=550.54.14,os=linux,arch=x86_64")
    best = found.official.fitting[0]
    assert best.name == "pytorch/pytorch:2.14.1-cuda12.6-cudnn9-runtime" and best.check == ""
    assert "needs driver 580.65.06 or newer" in reason(found, "2.14.1-cuda13.0")


def test_a_card_without_kernels_in_an_image_is_refused_with_the_kernels_that_are_there() -> None:
    found = offers("GTX 1080 Ti,driver=580.65.06,os=linux,arch=x86_64")
    assert all("cuda13" not in image.name for image in found.official.fitting)
    assert "no kernels for 6.1" in reason(found, "cuda13.0")


def test_python_and_c_library_of_the_host_do_not_matter() -> None:
    old_host = offers("RTX 4090,driver=550.54.14,glibc=2.17,os=linux,arch=x86_64")
    assert old_host.official.fitting == offers("RTX 4090,driver=550.54.14,os=linux,arch=x86_64").official.fitting


def test_a_tag_that_nobody_saw_comes_with_the_command_that_checks_it() -> None:
    found = offers("RTX 4090,driver=550.54.14,os=linux,arch=x86_64")
    for image in found.official.fitting:
        seen = next(t.seen for t in load_ways().official_tags if image.name.endswith(f":{t.tag}"))
        assert image.check == ("" if seen else f"docker manifest inspect {image.name}")
    assert any(image.check for image in found.official.fitting)


def test_ngc_ends_with_the_last_month_that_lists_the_card() -> None:
    assert offers("GTX 1080 Ti,driver=580.65.06,os=linux").ngc.fitting[0].name == "nvcr.io/nvidia/pytorch:24.10-py3"
    assert not offers("Tesla K80,driver=470.82,os=linux").ngc.fitting
    blackwell = offers("RTX 5090,driver=595.71.05,os=linux").ngc
    assert min(image.name for image in blackwell.fitting) == "nvcr.io/nvidia/pytorch:25.01-py3"


def test_ngc_on_a_data_centre_card_goes_by_forward_compatibility() -> None:
    best = offers("H100,driver=535.54.03,os=linux").ngc.fitting[0]
    assert best.name == "nvcr.io/nvidia/pytorch:24.10-py3" and "forward compatibility" in best.note
    assert offers("RTX 4090,driver=535.54.03,os=linux").ngc.fitting[0].name.endswith(":23.10-py3")


def test_what_was_not_read_of_a_month_is_no_promise() -> None:
    found = offers("RTX 4090,driver=620.70.06,os=linux")
    assert "was not read" in reason(found, "26.09-py3") and "26.10" not in found.ngc.fitting[0].name


def test_windows_driver_numbers_are_compared_by_branch() -> None:
    found = offers("RTX 4090,driver=551.23,os=windows")
    assert found.ngc.fitting[0].name == "nvcr.io/nvidia/pytorch:24.05-py3"
    assert found.official.fitting[0].torch == "2.14.1"


def test_arm_servers_have_no_pytorch_tag_but_ngc() -> None:
    found = offers("GH200 480GB,driver=580.95.05,os=linux,arch=aarch64")
    assert not found.official.fitting and "linux/amd64 only" in found.official.refused[0].reason
    assert found.ngc.fitting


def test_a_jetson_has_images_of_its_own() -> None:
    assert "l4t" in reason(offers("cc=8.7,driver=540.3,os=linux,arch=aarch64,tegra=true"), "24.07-py3")


@pytest.mark.parametrize("spec", ["cpu", "Arc A770", "Radeon RX 7900 XTX", "Voodoo 9,vendor=nvidia", "RTX 4090"])
def test_nothing_is_looked_at_without_a_known_nvidia_gpu_and_driver(spec: str) -> None:
    found = offers(spec)
    assert found.why_none and "none looked at" in as_text(found)


def test_only_the_torch_that_is_asked_for() -> None:
    machine = identified(read_target("RTX 4090,driver=550.54.14,python=3.12,os=linux"), load())
    found = image_offers(machine, load(), load_ways(), accepts=lambda torch: torch < Version("2.2"))
    assert found.official.fitting[0].torch == "2.1.2"


def test_text_and_json_name_the_same_images() -> None:
    found = offers("GTX 1080 Ti,driver=580.65.06,os=linux")
    data, text = as_json(found), as_text(found)
    assert data["schema"] == 1 and data["images"][0]["image"] in text
    assert all(image["source"] for image in data["images"]) and data["refused"]
