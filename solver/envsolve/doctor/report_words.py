"""Words about a machine: system, processor, Python, driver and C library, told by paths, file names and sentences.

A path or a file name that the machine itself printed outranks a sentence; of equal ones the more frequent wins.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from envsolve.doctor.facts import Facts
from envsolve.dotted import Dotted
from envsolve.machine.machine import Arch, Libc, Os
from envsolve.regex import regex

_OS: tuple[tuple[Os, int, str], ...] = (
    ("windows", 9, r"^(?:\(\S+\)\s)*(?:PS )?[A-Z]:\\[^>\n]*>"),
    (
        "windows",
        6,
        r"\b[A-Z]:[\\/](?:Users|Program|Windows|[A-Za-z])[\w\\/ ]*|\bMSC v\.\d+|\bwin32\b.{0,12}on win|>\s*%\w+%",
    ),
    ("linux", 6, r"(?<![\w/])/(?:home|usr|opt|workspace|root|mnt|data|content|proc|etc|dev)/\w|^\S+@\S+[:~][^\n]*\$ "),
    ("macos", 6, r"(?<![\w/])/Users/\w|/opt/homebrew|\bmacosx_\d+_\d+_\w+`\), but|Darwin Kernel|\bon darwin\b"),
    ("windows", 3, r"\bwin_amd64\b|\bAMD64\b|\bwin-64\b|\.dll\b|\.exe\b|WinError|PowerShell"),
    (
        "linux",
        3,
        r"\blinux_(?:x86_64|aarch64)\b|\blinux-64\b|\.so\b(?:\.\d+)?|\bapt(?:-get)?\b|Dockerfile|\bmanylinux\w*-whl",
    ),
    ("macos", 3, r"\bmacosx_\d+_\d+|\bosx-(?:64|arm64)\b|\.dylib\b"),
    ("windows", 2, r"\bWindows (?:7|8|10|11|Server|PC|laptop|box|machine)\b|\bon Windows\b|^Windows\b|\bWindows[.,]"),
    (
        "linux",
        2,
        r"\b(?:[Aa]lpine|FROM \S+|apk add|Ubuntu|Debian|CentOS|RHEL|Rocky|Alma|Fedora|Arch Linux|openSUSE"
        r"|Alpine|Mint|Pop!_OS|Linux)\b",
    ),
    (
        "macos",
        2,
        r"\bmacOS\b|\bMac ?(?:Book|mini|Studio|Pro)\b|\bApple (?:Silicon|M\d)\b|\bIntel Mac\b|\bM[1-5] (?:[Mm]ac"
        r"|Pro|Max|Ultra)\b",
    ),
)
_ARCH: tuple[tuple[str, int, str], ...] = (
    ("arm", 9, r"^(?:aarch64|arm64)\s*$|\bLinux \S+ \S+[^\n]* aarch64\b|-tegra aarch64"),
    ("arm", 9, r"machine\(\)[^\n]*\n[^\n]*(?:aarch64|arm64)"),
    ("x86", 9, r"^(?:x86_64|AMD64)\s*$|\bLinux \S+ \S+[^\n]* x86_64 "),
    ("arm", 5, r"macosx_\d+_\d+_arm64`\), but|(?:many|musl)?linux\w*_aarch64`\), but|win_arm64`\), but"),
    ("x86", 5, r"macosx_\d+_\d+_x86_64`\), but|(?:many|musl)?linux\w*_x86_64`\), but|win_amd64`\), but"),
    ("arm", 3, r"\bGH200\b|\bGB200\b|\bGB10\b|\bDGX Spark\b|\bJetson\b|\bOrin\b|\bXavier\b"),
    ("arm", 3, r"\bGraviton\d?\b|\bT4G\b|\bRaspberry Pi\b|\bGrace\b|\b[Ss]napdragon\b|\bWindows on A(?:rm|RM)\b"),
    ("arm", 3, r"\bApple (?:Silicon|M\d)\b|\bM[1-5] (?:[Mm]ac|Pro|Max|Ultra)\b|\bMac\w*(?: \w+){0,2} M[1-4]\b"),
    ("x86", 3, r"\bIntel Mac\b|\bIntel(?:-based)? MacBook|\bAMD64\b|\bwin_amd64\b|\blinux_x86_64\b"),
    ("x86", 3, r"\bmanylinux\w*_x86_64\b|\bmanylinux1_x86"),
    ("arm", 2, r"(?<![a-zA-Z0-9])(?:aarch64|arm64|ARM64)\b"),
    ("x86", 2, r"(?<![a-zA-Z0-9])(?:x86[_-]64|amd64|x64)\b"),
)  # fmt: skip
_PYTHON: tuple[tuple[int, str], ...] = (
    (9, r"\bPython version: (\d\.\d{1,2})(?:\.\d+)?[^\n]*runtime|\bPython (\d\.\d{1,2})\.\d+\w* [(|]"),
    (9, r"^Python (\d\.\d{1,2})\.\d+\w*\s*$"),
    (8, r"You(?:'re using| require) CPython (\d\.\d{1,2})|Using (?:CPython|Python) (\d\.\d{1,2})"),
    (8, r"python_full_version\D{1,6}(\d\.\d{1,2})"),
    (7, r"Python version: (\d\.\d{1,2})|requires a different Python: (\d\.\d{1,2})"),
    (7, r"Python Interpreter: \S+ \((\d\.\d{1,2})\)"),
    (6, r"[/\\]python(\d\.\d{1,2})[/\\]|\.conda-python-(\d\.\d{1,2})"),
    (4, r"\bpython=(\d\.\d{1,2})\b|\bpython:(\d\.\d{1,2})\b|--python[ =](\d\.\d{1,2})"),
    (4, r"\bpython(\d\.\d{1,2}) -m\b|^python(\d\.\d{1,2}) |\bpy -(\d\.\d{1,2})\b"),
    (3, r"\b[Pp]ython ?(?:version )?(?:is )?(\d\.\d{1,2})(?:\.\d+)?(t?)\b"),
    (2, r"requires-python = \"[=~]=\s?(\d\.\d{1,2})"),
)  # fmt: skip
_OFFERED = regex(r"(?:on|for) the following platforms?: [^\n]*")  # where a package has files, not where this runs
_FOLDER = regex(r"[Pp]ython3(\d{1,2})(t?)[\\/]")
_NEEDED_TAG = regex(r"\(e\.g\., `cp3(\d{1,2})(t?)`\)")
_WHEEL_TAG = regex(r"-cp3(\d{1,2})(?:-cp3\d{1,2}(t?)|-none|-abi3)?")
_DRIVER = regex(
    r"\b[Dd]rivers?(?:[ _-][Vv]ersion)?[*`]{0,2}(?: is| was|:| =|=| number)?[*`]{0,2}\s(?:at |on |to |of "
    r"|R)?v?(\d{3}\.\d{1,3}(?:\.\d{1,3})?)\b"
    r"|\b(?:NVIDIA|nvidia|Nvidia)(?: GeForce)?(?: Game Ready)?(?: [Dd]river)?(?: version)? "
    r"v?(\d{3}\.\d{2,3}(?:\.\d{1,3})?)\b"
    r"|\bnvidia-driver-(\d{3})\b|\bR(\d{3}) (?:driver|branch)|\b[Dd]river branch R?(\d{3})\b|\b(?:the "
    r")?(\d{3}(?:\.\d{2,3}(?:\.\d{1,3})?)?) drivers?\b"
    r"|\b[Dd]river (\d{3})\b"
    r"|(?:Treiber\w*|驱动\w*|驱动程序|ドライバー?|드라이버|[Pp]ilote|[Cc]ontrolador\w*|[Дд]райвер\w*)\s?(?:[Vv]ersion|版本)?[:：]?\s?"
    r"(\d{3}\.\d{2,3}(?:\.\d{1,3})?)"
    r"|\bnvidia-smi(?:\.exe)?(?: on \w+(?: \w+)?)?(?: (?:shows|says|reports|prints|has)|:) "
    r"(?:driver )?v?(\d{3}\.\d{2,3}(?:\.\d{1,3})?)\b"
    r"|\bnvidia-smi[^\n\d][^\n]{0,60}?\b(\d{3}\.\d{2,3}\.\d{2})\b"
    r"|\bversion (\d{3}\.\d{2,3}(?:\.\d{1,3})?) was detected\b"
)
_GLIBC = regex(
    r"(?:glibc|GLIBC|GNU libc\)|libc|Ubuntu GLIBC [\w.-]+\))[ -]+(2\.\d{1,2})\b|\bmanylinux_(2)_(\d{1,2})_\w+`\), but",
    re.I,
)
_LDD = regex(r"^ldd \([^)\n]*\) (2\.\d{1,2})", re.MULTILINE)
_MUSL = regex(r"\b[Aa]lpine\b|\bmusl(?:linux)?\b|\bapk add\b")
_BITS = regex(
    r"\b32[- ]bit\b(?! float)|\(`win32`\)|windows-x86-none|\bWindows-x86\b|\bwin32\b(?=-|\.whl)|\bi[36]86\b"
    r"|\barmv[67]l\b|\bPython\d+-32\b|'32bit'|calcsize\([^\n]*\n\s*32\s*$",
    re.MULTILINE,
)
_EMULATED = regex(r"\bRosetta\b|\bemulat\w+|\bsys\.?ctl\.proc_translated|\bPrism\b")


def told_os(text: str) -> Os | None:
    """The system that most of the evidence speaks for; None where nothing does."""
    text = _OFFERED.sub("", text)
    scores: Counter[Os] = Counter()
    for os, weight, pattern in _OS:
        hits = len(re.findall(pattern, text, re.MULTILINE))
        scores[os] += weight * min(hits, 3)
    best = scores.most_common(1)
    return best[0][0] if best and best[0][1] else None


def told_arch(text: str, os: Os | None) -> Arch | None:
    """The processor; None where nothing tells."""
    scores: Counter[str] = Counter()
    for arch, weight, pattern in _ARCH:
        scores[arch] += weight * bool(re.search(pattern, text, re.MULTILINE))
    if not scores["arm"] and not scores["x86"]:
        return None
    if scores["arm"] > scores["x86"]:
        return "aarch64" if os in (None, "linux") else "arm64"
    return "x86_64"


def told_python(text: str, wheels: Sequence[str]) -> str | None:
    """The Python minor ("3.11", "3.13t"); the strongest statement wins, of equals the most frequent."""
    scores: Counter[str] = Counter()
    for weight, pattern in _PYTHON:
        for found in re.finditer(pattern, text, re.MULTILINE):
            version = "".join(group for group in found.groups() if group)
            if version.startswith("3."):
                scores[version] += weight
    for weight, tag, texts in ((6, _FOLDER, [text]), (8, _NEEDED_TAG, [text]), (5, _WHEEL_TAG, wheels)):
        for one in texts:
            for found in tag.finditer(one):
                scores[f"3.{int(found[1])}{found[2] or ''}"] += weight
    best = scores.most_common(1)
    return best[0][0] if best else None


def told_driver(text: str) -> Dotted | None:
    """A driver number in a sentence; None where there is none."""
    for match in _DRIVER.finditer(text):
        number = next(g for g in match.groups() if g)
        if 300 <= int(number.split(".")[0]) < 1000:
            return Dotted.parse(number)
    return None


def told_libc(text: str, facts: Facts) -> Libc | None:
    """The C library that the text shows or that its system has."""
    if match := _LDD.search(text) or _GLIBC.search(text):
        groups = [g for g in match.groups() if g]
        return Libc(name="glibc", version=Dotted.parse(".".join(groups)))
    if _MUSL.search(text):
        return Libc(name="musl")
    glibc = facts.glibc_of(text)
    return Libc(name="glibc", version=glibc) if glibc else None


def told_bits(text: str) -> int:
    """32 where the text speaks of a 32-bit Python or system, else 64."""
    return 32 if _BITS.search(text) else 64


def told_emulated(text: str) -> bool:
    """Whether the program runs on a processor that it was not made for."""
    return bool(_EMULATED.search(text))
