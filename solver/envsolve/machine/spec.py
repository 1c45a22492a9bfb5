"""One-line specs: "2x RTX 3090 + GTX 1080 Ti,driver=550.54.14,python=3.11", read and written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from envsolve.capability import Capability, Target
from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Gpu, Libc, Machine, Os, Problem, Vendor
from envsolve.machine.own_cards import own_cards
from envsolve.machine.reading import Reading
from envsolve.machine.words import arch_name, gpu_name, is_tegra, os_name, vendor_name
from envsolve.regex import regex

KEYS = ("driver", "cuda", "python", "os", "arch", "glibc", "libc", "cc", "wsl", "tegra", "vendor")
EXAMPLE = '--target "2x RTX 3090 + GTX 1080 Ti,driver=550.54.14,python=3.11"'
_BETWEEN = regex(r"[+;&]")  # the last two as people write them; they are read, not written
MOST_GPUS = 64  # of one kind; more is a typing mistake
_COUNTED = regex(r"(\d{1,4})\s*[x×*]\s*(\S.*)", re.ASCII | re.IGNORECASE)
_COUNTED_AFTER = regex(r"(.*\S)\s+[x×]\s?(\d{1,4})", re.ASCII)  # no capital X: names may hold that
_PYTHON = regex(r"\d\.\d{1,2}(\.\d{1,3})?t?", re.ASCII)
_NO_GPU = {"cpu", "none", "no gpu", "no-gpu"}
_BOOLS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}

T = TypeVar("T")


def parse_spec(text: str, *, source: str = "spec") -> Reading:
    """The facts of a one-line spec. Raises InputError that names the part which can't be read."""
    names, keys = _split(text)
    vendor: Vendor | None = _key(keys, "vendor", vendor_name, "nvidia, amd, intel, apple or none")
    system: Os | None = _key(keys, "os", os_name, "linux, windows or macos")
    gpus = _gpus(names, keys, vendor)
    problems: tuple[Problem, ...] = ()
    if gpus:
        gpus, vendor, problems = own_cards(gpus, vendor)
    wsl = _key(keys, "wsl", _boolean, "true or false")
    if wsl and system not in (None, "linux"):
        raise InputError(f"spec: wsl=true is Linux, os={keys['os']} is not", hint="leave one of the two out")
    tegra = _key(keys, "tegra", _boolean, "true or false")
    if tegra is None and any(is_tegra(g.name or "") for g in gpus or ()):
        tegra = True
    return Reading(
        source=source,
        os="linux" if wsl or tegra else system,
        arch=_key(keys, "arch", lambda word: arch_name(word, system), "x86_64, aarch64 or arm64"),
        python=_key(keys, "python", _python, "a Python version such as 3.11"),
        libc=_libc(keys),
        driver=_key(keys, "driver", _dotted, "a driver version such as 550.54.14"),
        cuda_max=_key(keys, "cuda", _dotted, "the driver's CUDA such as 12.4"),
        gpus=gpus,
        wsl=wsl,
        tegra=tegra,
        vendor=vendor or ("none" if gpus == () else None),
        problems=problems,
    )


def parse_gpus(text: str) -> tuple[Gpu, ...]:
    """The GPUs of "2x RTX 3090 + GTX 1080 Ti"; () for "none". Raises InputError."""
    if text.strip().lower() in _NO_GPU:
        return ()
    return tuple(gpu for group in _BETWEEN.split(text) for gpu in _group(group))


def format_spec(machine: Machine) -> str:
    """The spec that reads back as this machine's GPUs, driver, CUDA and host; what is unknown is left out."""
    parts = [_format_gpus(machine), *_format_keys(machine)]
    return ",".join(part for part in parts if part)


def _split(text: str) -> tuple[list[str], dict[str, str]]:
    """The parts without and with "="; several names may be parted by commas as well as by "+"."""
    names: list[str] = []
    keys: dict[str, str] = {}
    for part in (p.strip() for p in text.split(",")):
        key, equals, value = (p.strip() for p in part.partition("="))
        if not part:
            continue
        if not equals:
            names.append(part)
            continue
        _check_key(key.lower(), value, keys)
        keys[key.lower()] = value
    if not names and not keys:
        raise InputError("the target is empty", hint=EXAMPLE)
    return names, keys


def _check_key(key: str, value: str, seen: Mapping[str, str]) -> None:
    if key not in KEYS:
        from difflib import get_close_matches

        near = get_close_matches(key, KEYS, n=1)
        raise InputError(f"spec: unknown key {key!r}", hint=f"{near[0]}={value}" if near else f"keys: {' '.join(KEYS)}")
    if key in seen:
        raise InputError(f"spec: {key} is given twice", hint=EXAMPLE)
    if not value:
        raise InputError(f"spec: {key} has no value", hint=EXAMPLE)


def _key(keys: Mapping[str, str], key: str, read: Callable[[str], T | None], wanted: str) -> T | None:
    if key not in keys:
        return None
    value = read(keys[key])
    if value is None:
        raise InputError(f"spec: {key}={keys[key]} is not {wanted}", hint=EXAMPLE)
    return value


def _gpus(names: list[str], keys: Mapping[str, str], vendor: Vendor | None) -> tuple[Gpu, ...] | None:
    """The GPUs; a nameless one where only the driver or the vendor says that there is one; None = nothing said."""
    gpus = parse_gpus("+".join(names)) if names else None
    if "cc" in keys:
        gpus = _with_capabilities(gpus, keys["cc"])
    if vendor == "none" or (gpus == () and vendor is not None):
        if gpus:
            raise InputError("spec: vendor=none, yet it names a GPU", hint="leave one of the two out")
        return ()
    if gpus is None and (vendor == "nvidia" or keys.keys() & {"driver", "cuda"}):
        return (Gpu(),)
    return gpus


def _group(text: str) -> list[Gpu]:
    text = text.strip()
    before, after = _COUNTED.fullmatch(text), _COUNTED_AFTER.fullmatch(text)
    if before and int(before[1]) > MOST_GPUS and before[2].isdecimal():  # "3090 x2"
        count, name = int(before[2]), before[1]
    elif before:
        count, name = int(before[1]), before[2]
    elif after:
        count, name = int(after[2]), after[1]
    else:
        count, name = 1, text
    if not 1 <= count <= MOST_GPUS:
        raise InputError(f"spec: {count} GPUs of one kind in {text!r}", hint=EXAMPLE)
    return [_gpu(name)] * count


def _gpu(text: str) -> Gpu:
    name, truncated = gpu_name(text)
    if name is None or not any(c.isalnum() for c in name) or not name.isprintable():
        raise InputError(f"spec: {text!r} is not a GPU name", hint=EXAMPLE)
    gfx = re.fullmatch(r"gfx[0-9a-f]{3,5}", name.lower())
    return Gpu(name=name, truncated=truncated, gfx=gfx[0] if gfx else None)


def _with_capabilities(gpus: tuple[Gpu, ...] | None, text: str) -> tuple[Gpu, ...]:
    """Nameless GPUs of "8.6" or "2x 8.6 + 6.1"; beside names, one capability for all or one each."""
    found: list[Capability] = []
    for group in _BETWEEN.split(text):
        counted = _COUNTED.fullmatch(group.strip())
        capability = _capability(counted[2] if counted else group)
        if counted and not 1 <= int(counted[1]) <= MOST_GPUS:
            raise InputError(f"spec: {counted[1]} GPUs of one kind in cc={text}", hint=EXAMPLE)
        found += [capability] * (int(counted[1]) if counted else 1)
    if not gpus:
        return tuple(Gpu(compute_capability=c) for c in found)
    if len(found) == 1:
        found *= len(gpus)
    if len(found) != len(gpus):
        raise InputError(f"spec: cc has {len(found)} capabilities for {len(gpus)} GPUs", hint="one for each GPU")
    return tuple(
        Gpu(name=g.name, truncated=g.truncated, gfx=g.gfx, compute_capability=c)
        for g, c in zip(gpus, found, strict=True)
    )


def _capability(text: str) -> Capability:
    text = text.strip()
    try:
        return Target.parse(text).capability if text.startswith("sm_") else Capability.parse(text)
    except ValueError:
        raise InputError(f"spec: cc={text} is not a compute capability such as 8.6", hint='"cc=8.6"') from None


def _libc(keys: Mapping[str, str]) -> Libc | None:
    version = _key(keys, "glibc", _dotted, "a glibc version such as 2.35")
    name = keys.get("libc", "").lower()
    if name not in ("", "musl", "glibc"):
        raise InputError(f"spec: libc={name} is not musl or glibc", hint="glibc=2.35, or libc=musl")
    if name == "musl" and version:
        raise InputError("spec: glibc and libc=musl contradict each other", hint="leave one of the two out")
    if name == "musl":
        return Libc(name="musl")
    return Libc(name="glibc", version=version) if version or name else None


def _boolean(word: str) -> bool | None:
    return _BOOLS.get(word.lower())


def _python(word: str) -> str | None:
    return word if _PYTHON.fullmatch(word) else None


def _dotted(word: str) -> Dotted | None:
    try:
        return Dotted.parse(word)
    except ValueError:
        return None


def _format_gpus(machine: Machine) -> str:
    """Names, alike neighbours counted; "none" where it is known that there is no GPU."""
    if not machine.gpus:
        return "none" if machine.vendor == "none" else ""
    groups: list[tuple[int, str]] = []
    for gpu in machine.gpus:
        if gpu.name is None:
            return ""
        if groups and groups[-1][1] == gpu.name:
            groups[-1] = (groups[-1][0] + 1, gpu.name)
        else:
            groups.append((1, gpu.name))
    return " + ".join(name if count == 1 else f"{count}x {name}" for count, name in groups)


def _format_keys(machine: Machine) -> list[str]:
    capabilities = [g.compute_capability for g in machine.gpus]
    libc = machine.libc
    values = {
        "cc": "+".join(map(str, capabilities)) if capabilities and None not in capabilities else None,
        "driver": machine.driver,
        "cuda": machine.cuda_max,
        "python": machine.python,
        "os": machine.os,
        "arch": machine.arch,
        "glibc": libc.version if libc and libc.name == "glibc" else None,
        "libc": libc.name if libc and libc.version is None else None,
        "wsl": "true" if machine.wsl else None,
        "tegra": "true" if machine.tegra else None,
        "vendor": machine.vendor if machine.vendor != "none" else None,
    }
    return [f"{key}={value}" for key, value in values.items() if value is not None]
