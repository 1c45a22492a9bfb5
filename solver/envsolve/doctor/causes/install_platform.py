"""Installs that fail for the system: C library, processor, word size, an old macOS or Windows on Arm."""

from __future__ import annotations

import re

from packaging.version import Version

from envsolve.doctor.failed import FAMILY, Failed, failed
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import quoted
from envsolve.dotted import Dotted

_INSTALL = (
    "pip-none", "pip-no-match", "uv-platform", "uv-hint-platform", "uv-no-wheel", "uv-hint-wheels", "pip-wrong-tag", "poetry-none",
    "uv-none", "conda-not-found", "conda-glibc", "conda-unsatisfiable",
)  # fmt: skip
_TORCH_WORDS = re.compile(r"\btorch\b|\bpytorch\b|torchvision|torchaudio", re.IGNORECASE)


def platform(s: Situation) -> Finding | None:
    """No wheels for this C library, system or processor."""
    return _illegal(s) or _loader(s) or _musl(s) or _bits(s) or _mac(s) or _windows_arm(s) or _glibc(s) or _rare(s)


def _about_torch(s: Situation) -> bool:
    unmet = failed(s.evidence)
    return any(f.name in FAMILY for f in unmet) or bool(_TORCH_WORDS.search(s.evidence.text)) and not unmet


def _fails(s: Situation) -> bool:
    return s.evidence.has(*_INSTALL)


def _finding(s: Situation, headline: str, fix: str, *names: str, commands: tuple[str, ...] = ()) -> Finding:
    return Finding(
        code="platform-unsupported",
        headline=headline,
        certainty="high",
        evidence=tuple(quoted(s.evidence.all(*(names or _INSTALL))[:3])),
        fixes=(Fix(text=fix, commands=commands),),
    )


def _illegal(s: Situation) -> Finding | None:
    if not s.evidence.has("illegal-instruction"):
        return None
    return _finding(
        s,
        "this processor lacks instructions (AVX, AVX2) that the build uses",
        "take an older torch, a build from source, or another machine",
        "illegal-instruction",
    )


def _loader(s: Situation) -> Finding | None:
    """The dynamic linker misses a newer C or C++ library."""
    shown = s.evidence.first("glibc") or s.evidence.first("glibcxx")
    if shown is None or not re.search(r"torch|site-packages|libc10|dist-packages", s.evidence.text):
        return None
    which = shown.get("version").replace("_", " ")
    fix = "take a build for an older glibc, a container with a newer one, or a newer system"
    if shown.name == "glibcxx":
        fix = "use a newer libstdc++ (conda install -c conda-forge libstdcxx-ng), a container, or a newer system"
    return _finding(s, f"the system is older than the build: it has no {which}", fix, shown.name)


def _musl(s: Situation) -> Finding | None:
    libc = s.machine.libc
    if libc is None or libc.name != "musl" or not _about_torch(s):
        return None
    if not (_fails(s) or s.is_failing):
        return None
    return _finding(
        s, "torch has no wheels for musl (Alpine): they need glibc", "use an image with glibc, such as python:3.12-slim"
    )


def _bits(s: Situation) -> Finding | None:
    if s.evidence.host.bits == 64 or not _about_torch(s) or not _fails(s):
        return None
    return _finding(
        s,
        "this is a 32-bit Python or system; torch has 64-bit wheels only",
        "install a 64-bit Python",
        commands=("python -c \"import struct; print(struct.calcsize('P') * 8)\"",),
    )


def _mac(s: Situation) -> Finding | None:
    """Intel Macs (also a translated Python on Apple Silicon) after their last release."""
    tagged = re.search(r"macosx_\d+_\d+_x86_64", s.evidence.text)
    if not _fails(s) or not (tagged or (s.machine.os == "macos" and s.machine.arch == "x86_64")):
        return None
    last = max((b.torch for b in s.rulebook.builds_on("macos_x86_64")), default=None)
    unmet = [f for f in failed(s.evidence) if f.name in FAMILY]
    if last is None or not _about_torch(s) or not any(_beyond(f, last, s) for f in unmet or ()) and unmet:
        return None
    if re.search(r"\bM[1-4]\b|Apple [Ss]ilicon|\barm64\b(?!`)|Rosetta", re.sub(r"`[^`]*`", "", s.evidence.text)):
        return _finding(
            s, "this Python is an Intel one that runs translated on Apple Silicon: it gets Intel wheels, which have ended",
            "use a native arm64 Python", commands=("python -c \"import platform; print(platform.machine())\"",),
        )  # fmt: skip
    return _finding(
        s,
        f"torch for Intel Macs ends with {last}",
        f"pin torch to {last} and its companions, with Python 3.12 or older and numpy<2",
        commands=(f'pip install torch=={last} "numpy<2"',),
    )


def _beyond(unmet: Failed, last: Version, s: Situation) -> bool:
    """Whether a requirement asks for a release after the platform's last one."""
    if unmet.name != "torch":
        return True
    if unmet.version is not None:
        return unmet.version > last
    return unmet.specifier is None or not unmet.specifier.contains(last)


def _windows_arm(s: Situation) -> Finding | None:
    arm = s.machine.os == "windows" and s.machine.arch == "arm64"
    if not (arm or re.search(r"\bwin_arm64\b|Windows on ARM|Snapdragon", s.evidence.text, re.I)) or not _about_torch(s):
        return None
    if not (_fails(s) or s.is_failing):
        return None
    return _finding(
        s,
        "Windows on Arm: there are no CUDA wheels, and CPU wheels for the newest releases and Pythons only",
        "use a native arm64 Python that a CPU wheel exists for, or an x86_64 machine",
    )


def _glibc(s: Situation) -> Finding | None:
    """A wheel's manylinux tag is newer than the system's glibc, or conda's build asks for a newer one."""
    if s.evidence.has("conda-glibc") and re.search(
        r"__glibc[^\n]*(?:missing|conflict|requires|>=|available)", s.evidence.text
    ):
        return _finding(
            s,
            "the system's glibc is older than the build asks for",
            "take an older build, a container, or a newer system",
            "conda-glibc",
        )
    have = _own_glibc(s)
    need = _needed_glibc(s)
    if have is None or need is None or have >= need or not (_fails(s) and _about_torch(s)):
        return None
    return _finding(
        s,
        f"the wheel needs glibc {need} or newer, this system has {have}",
        "take an older build, a container with a newer glibc, or a newer system",
    )


def _own_glibc(s: Situation) -> Dotted | None:
    tag = re.search(r"\(`manylinux_(\d+)_(\d+)_\w+`\)", s.evidence.text)
    if tag:
        return Dotted.parse(f"{tag[1]}.{tag[2]}")
    return s.machine.libc.version if s.machine.libc and s.machine.os == "linux" else None


def _needed_glibc(s: Situation) -> Dotted | None:
    """By the tags that the installer lists or refuses, else by the rules for the asked release."""
    text = re.sub(r"\(`[^`]*`\)", "", s.evidence.text)
    offered = [Dotted.parse(f"2.{n}") for n in re.findall(r"manylinux_2_(\d+)_(?:x86_64|aarch64)", text)]
    if offered and s.evidence.has("pip-wrong-tag", "uv-platform", "uv-hint-platform", "uv-no-wheel"):
        return min(offered)
    for unmet in failed(s.evidence):
        if unmet.name != "torch" or unmet.version is None:
            continue
        builds = [
            b
            for b in s.rulebook.builds_on(s.machine.platform)
            if b.torch == unmet.version and unmet.variant in ("", b.variant)
        ]
        floors = [b.glibc_min for b in builds if b.glibc_min is not None]
        if floors and len(floors) == len(builds):
            return min(floors)
    return None


def _rare(s: Situation) -> Finding | None:
    """Processors that torch was never built for."""
    match = re.search(r"\b(armv[67]l|ppc64le|s390x|riscv64|i[36]86|FreeBSD)\b", re.sub(r"`[^`]*`", "", s.evidence.text))
    tagged = re.search(r"\(`(?:many|musl)?linux\w*_(armv[67]l|ppc64le|s390x|riscv64|i686)`\)", s.evidence.text)
    found = tagged or match
    if found is None or not _fails(s) or not _about_torch(s):
        return None
    return _finding(
        s, f"torch has no wheels for {found[1]}", "build it from source, or use a distribution that packages it"
    )
