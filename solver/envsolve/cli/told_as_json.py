"""Errors for programs: with --json, the contract's error object goes to stdout before the error is raised on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from envsolve.errors import EnvsolveError


@contextmanager
def told_as_json(as_json: bool) -> Iterator[None]:
    """Use around the work of a command; without `as_json` it does nothing."""
    try:
        yield
    except EnvsolveError as error:
        if as_json:
            from envsolve.resolve.answer_json import error_json

            print(json.dumps(error_json(error.message, error.hint, exit_code=error.exit_code), ensure_ascii=False))
        raise
