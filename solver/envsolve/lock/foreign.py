"""read_foreign: a lock or an environment of another tool, told apart by name and content."""

from __future__ import annotations

from envsolve.errors import InputError
from envsolve.lock.foreign_pin import Foreign
from envsolve.lock.merged import check_merged


def read_foreign(text: str, filename: str) -> Foreign:
    """The Foreign behind a uv.lock, poetry.lock, pdm.lock, pylock.toml, environment.yml, conda-lock.yml or
    requirements.txt, told apart by name and content.

    Raises InputError for what is none of them, and where torch is not among what it pins.
    """
    check_merged(text, filename)
    found = _read(text, filename)
    if not any(pin.name == "torch" for pin in found.pins):
        raise InputError(f"{filename} pins no torch", hint="envsolve plan, to choose one")
    return found


def _read(text: str, filename: str) -> Foreign:
    if filename.endswith((".yml", ".yaml")):
        from envsolve.lock import foreign_conda

        return foreign_conda.read(text, filename)
    if filename.endswith((".lock", ".toml")):
        from envsolve.lock import foreign_toml

        return foreign_toml.read(text, filename)
    from envsolve.lock import foreign_requirements

    return foreign_requirements.read(text, filename)
