"""Errors quote what people wrote, and never its credentials."""

from __future__ import annotations

from envsolve.errors import InputError


def test_an_error_holds_no_credentials() -> None:
    address = "https://user:secret@host.example/app.git"
    error = InputError(f"can't read 'app @ git+{address}'", hint=f"app @ {address}")
    shown = "https://****@host.example/app.git"
    assert (error.message, error.hint) == (f"can't read 'app @ git+{shown}'", f"app @ {shown}")
    assert "secret" not in str(error) + repr(error)


def test_what_is_no_credentials_stays() -> None:
    text = "https://host.example/@scope/a@1 and user@host.example"
    assert InputError(text).message == text
