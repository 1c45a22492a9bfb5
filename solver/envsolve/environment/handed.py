"""Handed: a lock as an installer gets it, with the way to the files that only this machine knows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote, urlsplit

from envsolve.index.configuration.redact import origin
from envsolve.settings import PYTORCH_INDEX, Settings

_ADDRESS = re.compile(r"(?<= @ )(?P<url>(?:https?|file)://\S+?)#sha256=(?P<sha256>[0-9a-f]{64})(?=\s|$)")


@contextmanager
def handed(lock_text: str, folder: Path, settings: Settings, *, pip: Path | None = None) -> Iterator[Path]:
    """A file with the lock's text for the installer; it may hold credentials, so only we can read it and it goes.

    `pip` is a wheel on this machine that is installed too, unless the lock pins a pip of its own.
    """
    path = folder / ".envsolve-handed.txt"
    # uv before 0.12 does not take the fragment for a hash; pip and every uv take --hash.
    text = _ADDRESS.sub(lambda m: f"{reachable(m['url'], settings)} --hash=sha256:{m['sha256']}", lock_text)
    if pip and not re.search(r"^pip(==| @)", text, re.MULTILINE):
        text += f"pip @ {pip.as_uri()} --hash=sha256:{sha256(pip.read_bytes()).hexdigest()}\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        yield path
    finally:
        path.unlink(missing_ok=True)


def reachable(url: str, settings: Settings) -> str:
    """An address of the lock as it is reached from here: from the mirror if there is one, with its credentials."""
    if settings.mirror and url.startswith(f"{PYTORCH_INDEX}/"):
        url = settings.mirror.rstrip("/") + url.removeprefix(PYTORCH_INDEX)
    login = settings.credentials().get(origin(url))
    parts = urlsplit(url)
    if login is None or "@" in parts.netloc:
        return url
    user, password = (quote(part, safe="") for part in login)
    return parts._replace(netloc=f"{user}:{password}@{parts.netloc}").geturl()
