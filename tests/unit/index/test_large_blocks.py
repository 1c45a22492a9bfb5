"""Large blocks stay mapped on their own, so that what a page took is given back."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from envsolve.index.large_blocks import map_large_blocks

# How many blocks glibc has mapped, before and after one of a megabyte, when one of ten was freed before.
COUNTED = """
import ctypes, sys
from envsolve.index.large_blocks import map_large_blocks
libc = ctypes.CDLL(None)
class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd a b c d e".split()]
libc.mallinfo2.restype = Info
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
if sys.argv[1] == "apart":
    map_large_blocks()
libc.free(libc.malloc(10 << 20))
before = libc.mallinfo2().hblks
libc.malloc(1 << 20)
print(libc.mallinfo2().hblks - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize(("how", "mapped"), [("apart", 1), ("as glibc does", 0)])
def test_a_block_is_mapped_after_a_larger_one_was_freed(how: str, mapped: int) -> None:
    done = subprocess.run([sys.executable, "-c", COUNTED, how], capture_output=True, text=True, check=False)
    if "mallinfo2" in done.stderr:
        pytest.skip("glibc before 2.33 can't be asked")
    assert (done.stdout, done.returncode) == (f"{mapped}\n", 0)


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_elsewhere_nothing_is_touched(monkeypatch: pytest.MonkeyPatch, system: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("ctypes.CDLL", lambda name: pytest.fail("no C library is to be opened"))
    map_large_blocks()
