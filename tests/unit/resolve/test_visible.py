"""CUDA_VISIBLE_DEVICES as CUDA reads it."""

from __future__ import annotations

import pytest

from envsolve.errors import InputError
from envsolve.machine.machine import Gpu, Machine
from envsolve.resolve.visible import visible

MACHINE = Machine(os="linux", arch="x86_64", gpus=tuple(Gpu(name=n, uuid=f"GPU-{n}-0000") for n in ("aa", "bb", "ba")))


@pytest.mark.parametrize(
    ("mask", "shown"),
    [
        (None, (0, 1, 2)),
        ("1", (1,)),
        ("2,0", (0, 2)),
        ("0,-1,2", (0,)),  # the first bad entry ends the list
        ("GPU-bb-0000", (1,)),
        ("GPU-aa", (0,)),
        ("MIG-GPU-bb-0000/1/0", (1,)),
    ],
)
def test_what_a_mask_shows(mask: str | None, shown: tuple[int, ...]) -> None:
    assert visible(MACHINE, mask) == shown


@pytest.mark.parametrize("mask", ["", "-1", "7", "NoDevFiles", "GPU-b"])
def test_a_mask_that_hides_all_is_an_error(mask: str) -> None:
    with pytest.raises(InputError, match="hides every GPU"):
        visible(MACHINE, mask)
