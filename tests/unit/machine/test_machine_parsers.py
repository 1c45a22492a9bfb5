"""The parsers on anything: they never raise, and never invent what is not in the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import InputError
from envsolve.machine.machine import Gpu, Machine
from envsolve.machine.merge_gpus import same_name
from envsolve.machine.probe_libcuda import parse_libcuda
from envsolve.machine.probe_others import parse_kfd
from envsolve.machine.probe_windows import parse_adapters, windows_driver
from envsolve.machine.target import decode, parse_target
from envsolve.machine.text import PARSERS, parse_text, tidy
from envsolve.machine.visible import visible

SMI = Path(__file__).parents[2] / "fixtures" / "smi"
HOST = Machine(os="linux", arch="x86_64", python="3.12")
FIXTURES = [tidy(decode(path.read_bytes())) for path in sorted(SMI.glob("*.txt"))]
PIECES = st.lists(
    st.text(max_size=20)
    | st.sampled_from(
        [
            "|   0  ",
            "NVIDIA-SMI ",
            "GPU 0: ",
            "<nvidia_smi_log><gpu>",
            "name, ",
            "\n",
            "NVRM: ",
            " : ",
            "{",
            "ERR!",
            ", ",
        ]
    ),
    max_size=12,
).map("".join)


@given(PIECES)
def test_no_parser_raises_on_any_text(text: str) -> None:
    for parse in PARSERS:
        parse(text)
    for parse_other in (parse_libcuda, parse_adapters):
        parse_other(text)
    parse_kfd(text)
    windows_driver(text)


@given(st.sampled_from(FIXTURES), st.integers(0, 4000), st.integers(0, 400))
def test_a_piece_of_a_real_output_invents_nothing(text: str, start: int, length: int) -> None:
    piece = text[start : start + length]
    for reading in parse_text(piece):
        assert reading.driver is None or reading.driver.text in piece
        assert reading.cuda_max is None or reading.cuda_max.text in piece
        for gpu in reading.gpus or ():
            assert gpu.name is None or all(word in piece for word in gpu.name.split())
            assert gpu.compute_capability is None or str(gpu.compute_capability) in piece


@given(st.binary(max_size=200))
def test_any_bytes_are_a_machine_or_an_input_error(data: bytes) -> None:
    try:
        parse_target(decode(data), host=HOST, where="file")
    except InputError as error:
        assert error.message.startswith("file")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_encodings_of_shells(encoding: str) -> None:
    text = "GPU 0: Tesla T4 (UUID: GPU-1)\nfür mich\n"
    assert decode(text.encode(encoding)).lstrip("\ufeff") == text


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("NVIDIA GeForce RTX 3090", "GeForce RTX 3090", True),
        ("NVIDIA A100-PCI...", "NVIDIA A100-PCIE-40GB", True),
        ("NVIDIA A100-SXM4-40GB MIG 3g.20gb", "NVIDIA A100-SXM4-40GB", True),
        ("NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3090 Ti", False),
        ("Tesla T4", None, True),
    ],
)
def test_same_name(one: str, other: str | None, same: bool) -> None:
    assert same_name(one, other) is same


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (None, (0, 1, 2)),
        ("", ()),
        ("-1", ()),
        ("NoDevFiles", ()),
        ("1", (1,)),
        ("2,0", (2, 0)),
        ("0,7,1", (0,)),
        ("0,0,1", (0, 1)),
        ("GPU-aa", (0,)),
        ("GPU-b", ()),  # two cards begin so
        ("GPU-b1,GPU-b2", (1, 2)),
        ("MIG-1234", (2,)),
    ],
)
def test_visible_devices_as_cuda_reads_them(mask: str | None, expected: tuple[int, ...]) -> None:
    gpus = [Gpu(uuid="GPU-aa-1"), Gpu(uuid="GPU-b1-2"), Gpu(uuid="GPU-b2-3", mig=True)]
    assert visible(gpus, mask) == expected
