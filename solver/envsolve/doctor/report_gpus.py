"""GPUs that sentences and torch's messages name, and what is said of there being one at all. Never raises."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from envsolve.capability import Capability
from envsolve.doctor.evidence import Symptom
from envsolve.doctor.report_python import Said
from envsolve.machine.machine import Gpu, Vendor
from envsolve.machine.words import capability as read_capability
from envsolve.regex import regex
from envsolve.rulebook.names import GpuNames
from envsolve.rulebook.tables import AmdProduct

# A name as people write it; whether it is one is decided by the rules' names.
_NAME = regex(
    r"(?<![\w-])(?:(?i:NVIDIA)\s+)?(?:(?i:GeForce)\s+)?(?:"
    r"(?i:RTX|GTX|GTS|GT)[\s-]?(?:(?i:PRO)\s)?[Aa]?\d{3,4}(?:\s?(?:Ti|ti|TI|SUPER|Super|super|S|D|M|Ada|Blackwell|Max-Q"
    r"|Laptop)(?![\w]))*"
    r"|(?i:Quadro)\s(?:RTX\s|GV|GP|P|M|K|T)?\d{2,4}\w?|(?i:Tesla)\s[A-Za-z]{1,2}\d{1,3}(?:\w|Xm)?(?:-\w+)*"
    r"|(?:(?i:GTX)\s)?T[Ii][Tt][Aa][Nn]\s?(?:X|V|RTX|Xp|Black|Z)(?:\s\(\w+\))?"
    r"|[ABH]\d{2,3}S?(?:[- ](?:PCIE|SXM\d?|PCIe|\d+GB))*|GH200|GB200|GB300|GB10|L4|L40S?|[KPV]100|[KPMT]40"
    r"|[KM]80|T4G?|K520|M60|P4|T1000|T600|T2000"
    r"|MX\d{3}|9\d0M|[1-9]\d{3}\s?(?:(?i:Ti|SUPER)|D)|(?:(?<=\ba\s)|(?<=\ban\s)|(?<=\bmy\s)|(?<=\bthe\s)"
    r"|(?<=\dx\s))[1-5]0[5-9]0(?=[\s.,:;)]|$)|Jetson\s(?:AGX\s|Xavier\s)?(?:Orin|Xavier|Nano|TX2|TX1"
    r"|Thor)(?:\s(?:NX|Nano))?"
    r"|(?:AGX\s)?Orin(?:\s(?:NX|Nano))?|Xavier(?:\sNX)?|DGX Spark|Thor"
    r")(?=s?(?!\w))"  # "our A40s"
)
_CAPABILITY = regex(
    r"(?:compute capability|cuda capability|\bCC|\bcc|compute_cap|capability)(?: of| is|:|=|\s)\s?(\d{1,2}\.\d)\b"
    r"|\b(?:a|the|my|our) (\d{1,2}\.\d) (?:card|GPU)\b|, (\d\.\d) card\b|\bsm_(\d{2,3})[a-z]? (?:card|GPU|device)\b"
)
_ABSENT = regex(
    r"\b(?:no|without(?: an?y?)?|hasn'?t (?:an?|any)|has no|have no|not have (?:an?y?)|does ?n[o']t have "
    r"(?:an?|any)|there is no|lacks? an?)"
    r" (?:NVIDIA |Nvidia |nvidia |CUDA |dedicated |discrete |physical )*(?:GPUs?|cards?|graphics(?: card)?s?"
    r"|NVIDIA(?! driver))\b(?! (?:is |was |are |were )?(?:found|detected|passed|visible|available"
    r"|in (?:the|my) container|for))"
    r"|\bCPU[- ]only (?:machine|server|box|host|VM|laptop|node|runner|instance|workstation)|\bCPU (?:machine"
    r"|server|box|host|VM|laptop|node|runner|instance)\b"
    r"|\bGPU-less\b|\bonly (?:an )?(?:Intel|integrated) graphics",
    re.IGNORECASE,
)
_CLAIMED = regex(
    r"\b(?:an?|the|my|our|its|two|four|eight|\d+x?|has|have|with|identical) (?:\w+ ){0,3}?(?:NVIDIA|Nvidia"
    r"|nvidia|CUDA)(?:[ -](?:\w+ )?)(?:GPUs?|cards?|graphics|GeForce)\b"
    r"|\bNVIDIA (?:GPU|card)s?\b|\bGeForce\b|\bnvidia gpu\b|\bdata-?cent(?:er|re) (?:node|gpu)",
    re.IGNORECASE,
)
_AMD = regex(
    r"\bRadeon\b|\bRX ?\d{3,4}\b|\bInstinct\b|\bMI\d{3}X?\b|\bAMD GPU\b|\bgfx\d{3,4}\b|\bStrix Halo\b|\bRyzen "
    r"AI\b|\b\d{3}M iGPU\b|\bAMD card\b",
    re.I,
)
_INTEL = regex(r"\bIntel(?:\(R\))? (?:Arc|UHD|Iris|HD Graphics|Data Center GPU)\b|\bArc A\d{3}\b|\bArc B\d{3}\b", re.I)
_GFX = regex(r"\bgfx(\d{3,4}[a-z]?)\b")
_OTHERS = regex(
    r"\b(?:colleague|other (?:machine|PC|box|server)|works? (?:fine )?on (?:my|the|our|another)|same (?:\w+ "
    r"){0,3}on (?:my|the|a))\b"
    r"|\b[Ww]ith the [\w ]{1,24}? (?:the same|it (?:works|runs|is)|(?:all|everything) (?:is|works|runs))\b"
)

_NAMES_A_GPU = ("not-compatible", "gpu-too-old", "capability-range", "triton-gpu-old")
_PRINTED = regex(
    r"\s*(?:[|+>$#]|-+>|File \"|Collecting|Downloading|\S*(?:[Ee]rror|Warning|Exception|\.\w{2,4}(?::\d+)?):\s"
    r"|(?:INFO|DEBUG|WARN(?:ING)?|ERROR|hint|note|warning)\S*:\s)"
)
_START = regex(r"^.*(?=\bNVIDIA )")  # a sentence may stand in front of the quoted message
_WARNING = regex(r"^.*?(?:UserWarning|warnings?\.warn\w*)[:(]\s*")


def named(text: str, names: GpuNames) -> tuple[Gpu, ...]:
    """The GPUs that sentences name and the rules know, each once, in whatever words: "GTX 1060", "NVIDIA GeForce GTX
    1060". Sentences about other machines do not count."""
    found: dict[frozenset[str], Gpu] = {}
    for line in text.split("\n"):
        if len(line) > 600 or _looks_printed(line):
            continue
        for sentence in re.split(r"(?<=[.;!?])\s", line):
            for meant, gpu in () if _OTHERS.search(sentence) else _in_sentence(sentence, names):
                same = next((before for before in found if before & meant), None)
                found[same or meant] = gpu if same is None else max(found[same], gpu, key=_detail)
    return tuple(found.values())


def _detail(gpu: Gpu) -> tuple[bool, int]:
    return gpu.compute_capability is not None, len(gpu.name or "")


def _looks_printed(line: str) -> bool:
    """Whether a line is a tool's output or a command: those are read by their own parsers."""
    return bool(_PRINTED.match(line)) and "GPU" not in line


def _in_sentence(sentence: str, names: GpuNames) -> Iterator[tuple[frozenset[str], Gpu]]:
    """Each GPU with the names of the rules that it may stand for."""
    for match in _NAME.finditer(sentence):
        text = " ".join(match[0].split())
        found = names.find(text)
        if found.kind == "unknown" and text.endswith(")"):  # "GTX TITAN X (Maxwell)"
            found = names.find(text.partition(" (")[0])
        if found.kind != "unknown":
            yield frozenset(found.names), Gpu(name=text, compute_capability=found.capability)


def told_capability(text: str) -> Capability | None:
    """A capability in a sentence ("compute capability 6.1", "a 5.0 card")."""
    for match in _CAPABILITY.finditer(text):
        if match[4]:
            return Capability.from_number(int(match[4]))
        return read_capability(next(g for g in match.groups()[:3] if g))
    return None


def from_torch(found: Iterable[Symptom], said: Iterable[Said]) -> tuple[Gpu, ...]:
    """The GPUs that torch itself named, with their capabilities."""
    gpus: dict[str, Gpu] = {}
    for symptom in found:
        if symptom.name in _NAMES_A_GPU and (told := _number(symptom.get("capability"))):
            name = _START.sub("", _WARNING.sub("", symptom.get("gpu"))).strip(" \"'`")
            gpus[name] = Gpu(name=name or None, compute_capability=told)
    answers = {answer.fact: answer.value for answer in said}
    pair = re.match(r"\((\d+),\s?(\d)\)", answers.get("capability", ""))
    printed = answers.get("gpu")
    if not gpus and (pair or printed):
        capability = Capability(int(pair[1]), int(pair[2])) if pair else None
        return (Gpu(name=printed, compute_capability=capability),)
    return tuple(gpus.values())


def _number(text: str) -> Capability | None:
    """ "8.9" or "89" as a capability; None for anything else."""
    return Capability.from_number(int(text)) if text.isdecimal() else read_capability(text)


def vendor(text: str) -> Vendor | None:
    """Whose GPU sentences speak of where they name none that the rules know; "none" = they say that there is none."""
    if _AMD.search(text) and not re.search(r"\bNVIDIA (?:GPU|card)|\bGeForce\b|\bRTX\b|\bGTX\b", text):
        return "amd"
    if _INTEL.search(text) and not re.search(r"\bNVIDIA (?:GPU|card)|\bGeForce\b|\bRTX\b|\bGTX\b", text):
        return "intel"
    if _ABSENT.search(text):
        return "none"
    return "nvidia" if _CLAIMED.search(text) else None


def amd_gpu(text: str, products: Mapping[str, AmdProduct]) -> Gpu:
    """The AMD GPU that the text names, with the gfx target that it or the rules tell."""
    match = _GFX.search(text)
    gfx = f"gfx{match[1]}" if match else None
    for name in sorted(products, key=len, reverse=True):
        short = re.sub(r"^(?:AMD )?(?:Radeon |Instinct )?", "", name)
        if len(short) > 3 and re.search(rf"(?<!\w){re.escape(short)}(?!\w)", text, re.IGNORECASE):
            return Gpu(name=name, gfx=gfx or products[name].gfx)
    return Gpu(gfx=gfx)
