"""Logins: user names and passwords from addresses and keyring (netrc is read by requests)."""

from __future__ import annotations

import shutil
import subprocess
import threading
from urllib.parse import unquote, urlsplit

from envsolve.redact import origin, strip_credentials
from envsolve.settings import Settings

_KEYRING_SECONDS = 60


class Logins:
    """What to send to which host. A log-in in a configured address serves every address of the same host."""

    def __init__(self, settings: Settings) -> None:
        self._known = {host: login for host, login in settings.credentials().items() if login[1]}
        self._users = _users(settings)
        self._keyring = settings.keyring == "subprocess"
        self._lock = threading.Lock()

    def known(self, url: str) -> tuple[str, str] | None:
        """The log-in for an address, if one was configured or asked for before."""
        return self._known.get(origin(url))

    def asked(self, url: str) -> tuple[str, str] | None:
        """The log-in that the keyring command has for a configured user name, as pip asks it; None if there is none."""
        host = origin(url)
        if not self._keyring or host not in self._users:
            return None
        with self._lock:
            if host not in self._known:
                user, address = self._users[host]
                password = _ask_keyring(address, user) or _ask_keyring(urlsplit(host).netloc, user)
                if password is None:
                    return None
                self._known[host] = (user, password)
            return self._known[host]


def _users(settings: Settings) -> dict[str, tuple[str, str]]:
    """User name and the address that names it, by host."""
    addresses = (settings.mirror, settings.index, *settings.extra_indexes, *settings.find_links)
    named = [(address, urlsplit(address).username) for address in addresses]
    return {origin(address): (unquote(user), strip_credentials(address)) for address, user in named if user}


def _ask_keyring(service: str, user: str) -> str | None:
    command = shutil.which("keyring")
    if command is None:
        return None
    try:
        answer = subprocess.run(
            [command, "get", service, user],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_KEYRING_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip("\r\n") or None if answer.returncode == 0 else None
