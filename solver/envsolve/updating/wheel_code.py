"""Wheel code: the code targets and the CUDA version that a torch wheel itself tells."""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from envsolve.errors import OutsideError
from envsolve.index.http import Http
from envsolve.record import record
from envsolve.regex import regex
from envsolve.updating.remote_zip import RemoteFile, member_pieces, open_zip

# torch.cuda.get_arch_list() gives back this string of the build: "sm_75 sm_80 compute_90". It ends with a zero byte;
# before it, a compiler may have put constants that end with none.
_TARGET = rb"(?:sm|compute)_\d{2,3}[af]?"
_FLAGS = re.compile(rb"(" + _TARGET + rb"(?: " + _TARGET + rb")*)\x00")
_LIBRARY = regex(r"torch/lib/(?:libtorch_python\.(?:so|dylib)|torch_python\.dll)")
_OVERLAP = 4096  # longer than any such string


@record
class WheelCode:
    """What a wheel tells: its version with label, its CUDA ("12.6", "" for none), and its code targets as numbers
    ("86", "90a"); `targets_read` False = it is a build with CUDA whose list was not found."""

    version: str
    cuda: str
    hip: str
    sm: tuple[str, ...]
    ptx: tuple[str, ...]
    targets_read: bool


def read_wheel(source: str | Path, http: Http) -> tuple[WheelCode, int]:
    """The code of a wheel at an address or in a file, and how many bytes were fetched for it. Raises OutsideError."""
    if isinstance(source, Path):
        with open_zip(source, str(source)) as archive:
            return _read(archive, str(source)), 0
    with closing(RemoteFile(http, source)) as remote, open_zip(remote, source) as archive:
        return _read(archive, source), remote.fetched


def _read(archive: zipfile.ZipFile, where: str) -> WheelCode:
    members = {entry.filename: entry for entry in archive.infolist()}
    if "torch/version.py" not in members:
        raise OutsideError(f"{where} is no wheel of torch: it has no torch/version.py")
    told = assignments(b"".join(member_pieces(archive, members["torch/version.py"])).decode("utf-8", "replace"))
    library = next((entry for name, entry in members.items() if _LIBRARY.fullmatch(name)), None)
    found: tuple[str, ...] = ()
    if told.get("cuda") and library is not None:
        found = arch_flags(member_pieces(archive, library))
    return WheelCode(
        version=told.get("__version__", ""),
        cuda=told.get("cuda", ""),
        hip=told.get("hip", ""),
        sm=tuple(one.removeprefix("sm_") for one in found if one.startswith("sm_")),
        ptx=tuple(one.removeprefix("compute_") for one in found if one.startswith("compute_")),
        targets_read=bool(found) or not told.get("cuda"),
    )


def assignments(source: str) -> dict[str, str]:
    """The texts that a module assigns to names ("cuda = '12.6'"), without running it."""
    found = {}
    for statement in ast.parse(source).body:
        target: ast.expr | None = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        value = getattr(statement, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
            found[target.id] = value.value
    return found


def arch_flags(pieces: Iterable[bytes]) -> tuple[str, ...]:
    """The longest list of code targets in a library; reading stops at the first of two or more."""
    best: tuple[str, ...] = ()
    tail = b""
    for piece in pieces:
        tail = tail[-_OVERLAP:] + piece
        for match in _FLAGS.finditer(tail):
            found = tuple(match[1].decode("ascii").split())
            best = max(best, found, key=len)
        if len(best) > 1:
            break
    return best
