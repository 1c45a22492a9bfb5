"""The settings by name, and how a raw value of each kind is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeGuard
from urllib.parse import urlsplit

from envsolve.errors import InputError
from envsolve.index.configuration.given import Given
from envsolve.redact import redact
from envsolve.regex import regex

# A folder of the PyTorch index that holds the wheels of one variant.
VARIANT = regex(r"(cpu|xpu|cu\d+|rocm[\d.]+)", re.ASCII)
_TRUE = {"1", "y", "yes", "t", "true", "on"}
_FALSE = {"0", "n", "no", "f", "false", "off", ""}


def read_text(given: Given) -> str:
    """A non-empty text."""
    if not isinstance(given.value, str) or not given.value.strip():
        raise _bad(given, "a text is needed")
    return given.value.strip()


def read_flag(given: Given) -> bool:
    """True or false, in the words that pip takes."""
    word = str(given.value).strip().lower()
    if isinstance(given.value, bool) or word in _TRUE | _FALSE:
        return word in _TRUE
    raise _bad(given, "true or false is needed")


def read_seconds(given: Given) -> float:
    """A number of seconds above zero."""
    try:
        seconds = float(str(given.value))
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise _bad(given, "a number of seconds above zero is needed")
    return seconds


def read_count(given: Given) -> int:
    """A whole number, zero or more."""
    text = str(given.value).strip()
    if not text.isdecimal():
        raise _bad(given, "a whole number is needed")
    return int(text)


def read_path(given: Given) -> Path:
    """A path; ~ and the folder of the configuration file are taken into account."""
    path = Path(read_text(given)).expanduser()
    return Path.cwd() / (given.base or "") / path


def read_file(given: Given) -> str:
    """The path of a file or folder that is there."""
    path = read_path(given)
    if not path.exists():
        raise _bad(given, "there is no such file")
    return str(path)


def read_source(given: Given) -> str:
    """Which wheels of torch are meant."""
    if given.value not in ("pytorch", "pypi"):
        raise _bad(given, "pytorch or pypi is needed")
    return str(given.value)


def read_keyring(given: Given) -> str:
    """Whether the keyring command may be asked. pip's "auto" asks it only after it found a Python module: not here."""
    words = {"disabled": "disabled", "auto": "disabled", "import": "subprocess", "subprocess": "subprocess"}
    if given.value not in words:
        raise _bad(given, "subprocess or disabled is needed")
    return words[str(given.value)]


def read_address(given: Given) -> str:
    """An http(s) or file address without a slash at its end; a path to a folder or file that is there becomes one."""
    text = read_text(given)
    scheme, mark, _ = text.partition(":")
    if mark and scheme.lower() in ("http", "https"):
        return _checked_web_address(given, text)
    if mark and scheme.lower() == "file":
        return text.rstrip("/")
    if "://" in text:
        raise _bad(given, "an http, https or file address is needed")
    path = read_path(given)
    if not path.exists() and not given.lenient:
        raise _bad(given, "neither an address nor a folder that is there")
    return path.resolve().as_uri()


def read_mirror(given: Given) -> str:
    """The base of a mirror of the PyTorch index: the folder above the variants."""
    address = read_address(given)
    base, _, last = address.rpartition("/")
    if VARIANT.fullmatch(last):
        raise InputError(
            f"{given.origin}: {redact(address)} is the folder of one variant, not the base of a mirror",
            hint=f"--mirror {redact(base)}",
        )
    return address


def read_proxy(given: Given) -> str:
    """The address of a proxy; http is meant where it says no scheme."""
    text = read_text(given)
    return text if "://" in text else f"http://{text}"


def _checked_web_address(given: Given, text: str) -> str:
    try:
        parts = urlsplit(text)
        known = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        known = False
    if not known or any(character.isspace() for character in text):
        raise _bad(given, "not a valid address")
    return text.rstrip("/")


def listed(read: Callable[[Given], str]) -> Callable[[Given], tuple[str, ...]]:
    """A reader of lists: a text is split at blanks, as pip does."""

    def read_list(given: Given) -> tuple[str, ...]:
        value = given.value
        items: Sequence[object] = value.split() if isinstance(value, str) else value if _is_list(value) else [value]
        return tuple(
            read(Given(value=item, origin=given.origin, base=given.base, lenient=given.lenient)) for item in items
        )

    return read_list


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, list | tuple)


def _bad(given: Given, why: str) -> InputError:
    return InputError(f"{given.origin}: {why}, not {redact(str(given.value))!r}")


READERS: dict[str, Callable[[Given], object]] = {
    "source": read_source,
    "mirror": read_mirror,
    "index": read_address,
    "no-index": read_flag,
    "offline": read_flag,
    "refresh": read_flag,
    "cache-dir": read_path,
    "timeout": read_seconds,
    "retries": read_count,
    "cert": read_file,
    "client-cert": read_file,
    "proxy": read_proxy,
    "keyring": read_keyring,
}
LISTS: dict[str, Callable[[Given], tuple[str, ...]]] = {
    "extra-index": listed(read_address),
    "find-links": listed(read_address),
    "trusted-host": listed(read_text),
}
