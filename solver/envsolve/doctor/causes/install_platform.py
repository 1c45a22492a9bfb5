"""Installs that fail for the system: C library, processor, word size, an old macOS or Windows on Arm."""

from __future__ import annotations

import re

from packaging.version import Version

from envsolve.doctor.failed import FAMILY, Failed, failed
from envsolve.doctor.finding import Finding
from envsolve.doctor.offers import python_serves
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.dotted import Dotted
from envsolve.regex import regex

_INSTALL = (
    "torch-placeholder",
    "pip-none", "pip-no-match", "uv-platform", "uv-hint-platform", "uv-no-wheel", "uv-hint-wheels", "pip-wrong-tag",
    "poetry-none", "uv-none", "conda-not-found", "conda-glibc", "conda-unsatisfiable",
)  # fmt: skip
_TAGGED = ("pip-wrong-tag", "uv-platform", "uv-hint-platform", "uv-no-wheel")
_TORCH_WORDS = regex(r"\btorch\b|\bpytorch\b|torchvision|torchaudio", re.IGNORECASE)
_OWN_TAG = regex(r"\((?:e\.g\., )?`manylinux_(\d+)_(\d+)_\w+`\)")
_OWN_MUSL = regex(r"\((?:e\.g\., )?`musllinux_\d+_\d+_\w+`\)")
_CONDA_GLIBC = regex(r"__glibc[^\n]*(?:missing|conflict|requires|>=|available)")
_APPLE = regex(r"\bM[1-4]\b|Apple [Ss]ilicon|\barm64\b|Rosetta")
_WINDOWS_ARM = regex(r"\bwin_arm64\b|Windows on ARM|Snapdragon", re.IGNORECASE)
_RARE = regex(r"\b(armv[67]l|ppc64le|s390x|riscv64|i[36]86|FreeBSD)\b")
_RARE_TAG = regex(r"\((?:e\.g\., )?`(?:many|musl)?linux\w*_(armv[67]l|ppc64le|s390x|riscv64|i686)`\)")


def platform(s: Situation) -> Finding | None:
    """No wheels for this C library, system or processor."""
    return _illegal(s) or _loader(s) or _musl(s) or _bits(s) or _mac(s) or _windows_arm(s) or _glibc(s) or _rare(s)


def _unquoted(text: str) -> str:
    """The text without what stands in backquotes: uv lists the tags of other systems there."""
    return re.sub(r"`[^`]*`", "", text)


def _about_torch(s: Situation) -> bool:
    unmet = failed(s.evidence)
    return any(f.name in FAMILY for f in unmet) or (bool(_TORCH_WORDS.search(s.evidence.text)) and not unmet)


def _fails(s: Situation) -> bool:
    return s.evidence.has(*_INSTALL)


def _finding(s: Situation, headline: str, way: str, *commands: str, shown: tuple[str, ...] = _INSTALL) -> Finding:
    found = s.evidence.all(*shown)[:3]
    return finding(s, "platform-unsupported", headline, shown=found, fixes=[fix(way, *commands)])


def _illegal(s: Situation) -> Finding | None:
    if not s.evidence.has("illegal-instruction"):
        return None
    if _APPLE.search(_unquoted(s.evidence.text)) and re.search(r"x86_64|Intel|Rosetta", s.evidence.text):
        headline = "this Python is an Intel one that runs translated on Apple Silicon, which has no AVX for torch"
        way, command = "use a native arm64 Python", 'python -c "import platform; print(platform.machine())"'
        return _finding(s, headline, way, command, shown=("illegal-instruction",))
    headline = "this processor lacks instructions (AVX, AVX2) that the build uses"
    way = "take an older torch, a build from source, or another machine"
    return _finding(s, headline, way, shown=("illegal-instruction",))


def _loader(s: Situation) -> Finding | None:
    """The dynamic linker misses a newer C or C++ library."""
    shown = s.evidence.first("glibc") or s.evidence.first("glibcxx")
    if shown is None or not re.search(r"torch|site-packages|libc10|dist-packages", s.evidence.text):
        return None
    way = "take a build for an older glibc, a container with a newer one, or a newer system"
    if shown.name == "glibcxx":
        way = "use a newer libstdc++ (conda-forge's libstdcxx-ng), a container, or a newer system"
    headline = f"the system is older than the build: it has no {shown.get('version').replace('_', ' ')}"
    newest = _newest_served(s) if shown.name == "glibc" else ""
    return _finding(s, headline, f"{newest}{way}", shown=(shown.name,))


def _musl(s: Situation) -> Finding | None:
    libc = s.machine.libc
    musl = (libc is not None and libc.name == "musl") or bool(_OWN_MUSL.search(s.evidence.text))
    if not musl or not _about_torch(s) or not (_fails(s) or s.is_failing):
        return None
    return _finding(
        s, "torch has no wheels for musl (Alpine): they need glibc", "use an image with glibc (Debian's slim ones)"
    )


def _bits(s: Situation) -> Finding | None:
    if s.evidence.host.bits == 64 or not _about_torch(s) or not _fails(s):
        return None
    headline = "this is a 32-bit Python or system; torch has 64-bit wheels only"
    if re.search(r"\barmv[67]l?\b|\barmhf\b|Raspberry", s.evidence.text, re.IGNORECASE):
        return _finding(s, headline, "install the 64-bit system (aarch64), whose Python is 64-bit too", "uname -m")
    return _finding(
        s, headline, "install a 64-bit Python", "python -c \"import struct; print(struct.calcsize('P') * 8)\""
    )


def _mac(s: Situation) -> Finding | None:
    """Intel Macs (also a translated Python on Apple Silicon) after their last release."""
    intel = s.machine.os == "macos" and s.machine.arch == "x86_64"
    if not _fails(s) or not (intel or re.search(r"macosx_\d+_\d+_x86_64", s.evidence.text)) or not _about_torch(s):
        return None
    builds = s.rulebook.builds_on("macos_x86_64")
    unmet = [f for f in failed(s.evidence) if f.name in FAMILY]
    if not builds or (unmet and not any(_beyond(f, builds[-1].torch) for f in unmet)):
        return None
    if _APPLE.search(_unquoted(s.evidence.text)):
        headline = "this Python is an Intel one that runs translated on Apple Silicon: Intel's wheels have ended"
        way, command = "use a native arm64 Python", 'python -c "import platform; print(platform.machine())"'
        return _finding(s, headline, way, command)
    last, python = builds[-1].torch, builds[-1].python[1]
    rule = s.rulebook.numpy_rule(last, "macos_x86_64")
    numpy = rule.requires if rule else "numpy"
    way = f"pin torch to {last} and its companions, with Python {python} or older and {numpy}"
    return _finding(s, f"torch for Intel Macs ends with {last}", way, f'pip install torch=={last} "{numpy}"')


def _beyond(unmet: Failed, last: Version) -> bool:
    """Whether a requirement asks for a release after the platform's last one."""
    if unmet.name != "torch":
        return True
    if unmet.version is not None:
        return unmet.version > last
    return unmet.offered == () or unmet.specifier is None or not unmet.specifier.contains(last)


def _windows_arm(s: Situation) -> Finding | None:
    arm = s.machine.os == "windows" and s.machine.arch == "arm64"
    if not (arm or _WINDOWS_ARM.search(s.evidence.text)) or not _about_torch(s) or not (_fails(s) or s.is_failing):
        return None
    headline = "Windows on Arm: there are no CUDA wheels, and CPU wheels for the newest releases and Pythons only"
    return _finding(s, headline, "use a native arm64 Python that a CPU wheel exists for, or an x86_64 machine")


def _glibc(s: Situation) -> Finding | None:
    """A wheel's manylinux tag is newer than the system's glibc, or conda's build asks for a newer one."""
    way = "take an older build, a container with a newer glibc, or a newer system"
    if s.evidence.has("conda-glibc") and _CONDA_GLIBC.search(s.evidence.text):
        return _finding(s, "the system's glibc is older than the build asks for", way, shown=("conda-glibc",))
    have, need = _own_glibc(s), _needed_glibc(s)
    if have is None or need is None or have >= need or not (_fails(s) and _about_torch(s)):
        return None
    headline = f"the wheel needs glibc {need} or newer, this system has {have}"
    return _finding(s, headline, f"{_newest_served(s)}{way}")


def _newest_served(s: Situation) -> str:
    """The newest release whose files the system's glibc serves, as the start of a way out; "" where it is not known."""
    have = _own_glibc(s)
    if have is None:
        return ""
    builds = [b for b in s.rulebook.builds_on(s.machine.platform) if b.glibc_min is not None and b.glibc_min <= have]
    served = [b.torch for b in builds if python_serves(s, [b]) and b.advertised]
    return f"torch {max(served)} is the newest with files for glibc {have}; " if served else ""


def _own_glibc(s: Situation) -> Dotted | None:
    tag = _OWN_TAG.search(s.evidence.text)
    if tag:
        return Dotted.parse(f"{tag[1]}.{tag[2]}")
    return s.machine.libc.version if s.machine.libc and s.machine.os == "linux" else None


def _needed_glibc(s: Situation) -> Dotted | None:
    """By the tags that the installer lists or refuses, else by the rules for the asked release."""
    text = re.sub(r"\((?:e\.g\., )?`[^`]*`\)", "", s.evidence.text)
    offered = [Dotted.parse(f"2.{n}") for n in re.findall(r"manylinux_2_(\d+)_(?:x86_64|aarch64)", text)]
    if offered and s.evidence.has(*_TAGGED):
        return min(offered)
    for unmet in failed(s.evidence):
        builds = [b for b in s.rulebook.builds_on(s.machine.platform) if _is(b.torch, b.variant, unmet)]
        floors = [b.glibc_min for b in builds if b.glibc_min is not None]
        if floors and len(floors) == len(builds):
            return min(floors)
    return None


def _is(torch: Version, variant: str, unmet: Failed) -> bool:
    return unmet.name == "torch" and torch == unmet.version and unmet.variant in ("", variant)


def _rare(s: Situation) -> Finding | None:
    """Processors and systems that torch was never built for."""
    found = _RARE_TAG.search(s.evidence.text) or _RARE.search(_unquoted(s.evidence.text))
    if found is None or not _fails(s) or not _about_torch(s):
        return None
    way = "build it from source, or use a distribution that packages it"
    return _finding(s, f"torch has no wheels for {found[1]}", way)
