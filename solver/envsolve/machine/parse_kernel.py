"""What the kernel side says: /proc/driver/nvidia/version, its gpus/*/information, and NVRM lines of the kernel log."""

from __future__ import annotations

import re

from envsolve.machine.machine import Gpu, Problem
from envsolve.machine.reading import Reading
from envsolve.machine.words import arch_name, dotted, named_gpu, squeeze
from envsolve.regex import regex

PROC_SOURCE = "/proc/driver/nvidia"
LOG_SOURCE = "kernel log"
_MODULE = r"NVIDIA UNIX (?:Open Kernel Module for )?(?P<arch>\S+)\s+(?:Kernel Module\s+)?(?P<driver>\d[\d.]*\d)"
_VERSION = regex(r"NVRM version:\s*" + _MODULE)
_LOADING = regex(r"loading " + _MODULE)
_MODESET = regex(r"NVIDIA (?:UNIX )?(?:Open )?Kernel Mode Setting Driver for \D{1,40}?\s(?P<driver>\d[\d.]*\d)\b")
_INFORMATION = regex(r"^Model:[ \t]*(.*?)[ \t]*\nIRQ:[^\n]*\n(?:GPU UUID:[ \t]*(GPU-\S+))?", re.MULTILINE)
# What stands before the message: a time in brackets or not, host and "kernel:", and NVRM itself.
_BEFORE = regex(r"^.{0,120}?\bNVRM:", re.MULTILINE)
_LEGACY = regex(
    r"The NVIDIA (?P<name>\S.{0,80}?) GPU installed in this system is supported through the NVIDIA (?P<branch>\S+) "
    r"Legacy .{0,160}?The (?P<driver>\d[\d.]*\d) NVIDIA driver will ignore this GPU"
)
_CARD = r"The NVIDIA GPU (?P<bus>\S+) \(PCI ID: (?P<id>[0-9a-f:]+)\) installed in this system "
_UNSUPPORTED = regex(_CARD + r"is not supported by the (?:NVIDIA )?(?P<driver>\d[\d.]*\d) ")
_OPEN_NEEDED = regex(_CARD + r"requires use of the NVIDIA open")
_OPEN_REFUSED = regex(_CARD + r"is not supported by open (?:NVIDIA )?nvidia\.ko")
_MISMATCH = regex(
    r"API mismatch: the client has(?: the)? version (?P<client>\d[\d.]*\d),? "
    r"but this kernel module has(?: the)? version (?P<driver>\d[\d.]*\d)"
)
_LOG = regex(r"NVRM:|nvidia-modeset:|NVIDIA UNIX ")
_LOST = regex(r"GPU has fallen off the bus|RmInitAdapter failed")


def parse_proc(text: str) -> list[Reading]:
    """The reading of /proc/driver/nvidia files: driver, architecture and the cards' names; [] where there is none."""
    version = _VERSION.search(text)
    cards = tuple(named_gpu(m[1], uuid=_uuid(m[2])) for m in _INFORMATION.finditer(text))
    if version is None and not cards:
        return []
    return [
        Reading(
            source=PROC_SOURCE,
            os="linux",
            arch=arch_name(version["arch"], "linux") if version else None,
            driver=dotted(version["driver"]) if version else None,
            gpus=cards or None,
            vendor="nvidia",
        )
    ]


def _uuid(told: str | None) -> str | None:
    """A card that was never used has question marks for a UUID."""
    return None if told is None or "?" in told else told


def parse_kernel_log(text: str) -> list[Reading]:
    """The reading of NVRM lines: which driver was loaded, which cards it ignores, what it complains of."""
    if not _LOG.search(text):
        return []
    log = squeeze(_BEFORE.sub(" ", text))  # the driver breaks its sentences over several lines
    ignored, refused = list(_LEGACY.finditer(log)), list(_UNSUPPORTED.finditer(log))
    modules = [*_OPEN_NEEDED.finditer(log), *_OPEN_REFUSED.finditer(log)]
    loaded = [*_MISMATCH.finditer(log), *ignored, *refused, *_LOADING.finditer(log), *_MODESET.finditer(log)]
    problems = [*map(_ignored, ignored), *map(_refused, [*refused, *modules]), *_complaints(log)]
    if not loaded and not problems:
        return []
    gpus = [named_gpu(match["name"]) for match in ignored] + [Gpu() for _ in [*refused, *modules]]
    reading = Reading(
        source=LOG_SOURCE,
        os="linux",
        arch=next((arch for m in _LOADING.finditer(log) if (arch := arch_name(m["arch"], "linux"))), None),
        driver=dotted(loaded[0]["driver"]) if loaded else None,
        gpus=tuple(gpus) or None,
        partial=True,
        vendor="nvidia",
        problems=tuple(dict.fromkeys(problems)),
    )
    return [reading]


def _ignored(match: re.Match[str]) -> Problem:
    text = f"driver {match['driver']} ignores the {match['name']}: its last branch is {match['branch']}"
    return Problem(code="driver-ignores-gpu", text=text)


def _refused(match: re.Match[str]) -> Problem:
    driver = match.groupdict().get("driver")
    wanted = "open" if match.re is _OPEN_NEEDED else "proprietary"
    why = f"is not supported by driver {driver}" if driver else f"needs the {wanted} kernel modules"
    return Problem(code="driver-ignores-gpu", text=f"the GPU at {match['bus']} (PCI id {match['id']}) {why}")


def _complaints(log: str) -> list[Problem]:
    found = []
    mismatch = _MISMATCH.search(log)
    if mismatch:
        text = f"the loaded kernel module is {mismatch['driver']}, the libraries are {mismatch['client']}; reboot"
        found.append(Problem(code="driver-library-mismatch", text=text))
    if _LOST.search(log):
        found.append(Problem(code="gpu-lost", text="the kernel log says that a GPU does not answer"))
    return found
