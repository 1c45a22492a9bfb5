"""read_foreign: a lock or an environment of another tool, told apart by name and content."""

from __future__ import annotations

from envsolve.errors import InputError
from envsolve.lock import foreign_conda, foreign_requirements, foreign_toml
from envsolve.lock.foreign_pin import Foreign


def read_foreign(text: str, filename: str) -> Foreign:
    """The Foreign behind a uv.lock, poetry.lock, pdm.lock, pylock.toml, environment.yml, conda-lock.yml or
    requirements.txt, told apart by name and content.

    Raises InputError for what is none of them, and where torch is not among what it pins.
    """
    found = _read(text, filename)
    if not any(pin.name == "torch" for pin in found.pins):
        raise InputError(f"{filename} pins no torch", hint="envsolve plan, to choose one")
    return found


def _read(text: str, filename: str) -> Foreign:
    if filename.endswith((".yml", ".yaml")):
        return foreign_conda.read(text, filename)
    if filename.endswith((".lock", ".toml")):
        return foreign_toml.read(text, filename)
    return foreign_requirements.read(text, filename)
