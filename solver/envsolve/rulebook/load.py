"""Load: find the rules and read their compiled form."""

from __future__ import annotations

from pathlib import Path

from envsolve.errors import OutsideError
from envsolve.rulebook.compiled import parse
from envsolve.rulebook.rulebook import Rulebook


def rules_dir() -> Path:
    """The folder of the rules: inside an installed package `_rules`, in a checkout `rules`.

    By the package's own path: importlib.resources costs several milliseconds of every start.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "_rules"
    return installed if installed.is_dir() else package.parents[1] / "rules"


def load(folder: Path | None = None) -> Rulebook:
    """The rulebook of a rules folder (this program's by default). Raises OutsideError where it can't be read."""
    path = (folder or rules_dir()) / "compiled" / "core.json"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OutsideError(
            f"the rules can't be read: {path}: {error.strerror}", hint="pip install --force-reinstall envsolve"
        ) from None
    return Rulebook(parse(content))
