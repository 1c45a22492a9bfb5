"""Load: find the rules and read their compiled form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from envsolve.errors import OutsideError
from envsolve.rulebook.compiled import parse, parse_document
from envsolve.rulebook.overlay_file import overlay_path
from envsolve.rulebook.rulebook import Rulebook


def rules_dir() -> Path:
    """The folder of the rules: inside an installed package `_rules`, in a checkout `rules`.

    By the package's own path: importlib.resources costs several milliseconds of every start.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "_rules"
    return installed if installed.is_dir() else package.parents[1] / "rules"


def load(folder: Path | None = None) -> Rulebook:
    """The rulebook of a rules folder; by default this program's, with the overlay of `rules update` if there is one.

    Raises OutsideError where it can't be read, InputError for an overlay that is none.
    """
    compiled = parse(_read("core.json", folder))
    overlay = overlay_path() if folder is None else None
    if overlay is None or not overlay.exists():
        return Rulebook(compiled)
    from envsolve.rulebook.overlay import laid_over, parse_overlay

    return Rulebook(laid_over(compiled, parse_overlay(overlay.read_bytes(), str(overlay))))


def load_document(name: str, folder: Path | None = None) -> Mapping[str, Any]:
    """A compiled file besides the core: "ways", "pypi_wheels" or "details". Raises OutsideError like `load`."""
    return parse_document(_read(f"{name}.json", folder))


def _read(name: str, folder: Path | None) -> bytes:
    path = (folder or rules_dir()) / "compiled" / name
    try:
        return path.read_bytes()
    except OSError as error:
        raise OutsideError(
            f"the rules can't be read: {path}: {error.strerror}", hint="pip install --force-reinstall envsolve"
        ) from None
