"""Report: a pasted text becomes Evidence. Pure, and never raises, whatever the text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from envsolve.capability import Target
from envsolve.doctor import report_environment, report_frames, report_machine, report_symptoms
from envsolve.doctor.evidence import Command, Evidence, Installed, Symptom, TorchSaid
from envsolve.doctor.facts import Facts
from envsolve.doctor.failed import index_variant
from envsolve.doctor.report_blocks import blocks
from envsolve.doctor.report_changes import changes
from envsolve.doctor.report_commands import commands
from envsolve.doctor.report_packages import last_state, packages
from envsolve.doctor.report_plain import plain
from envsolve.doctor.report_python import Said, answers
from envsolve.regex import regex
from envsolve.rulebook.rulebook import Rulebook

MOST_CHARACTERS = 500_000  # of the end of a text: the last lines tell what went wrong
_WHEEL = regex(r"[\w.]+-\d[\w.+!%]*-[\w.]+-[\w.]+-[\w.]+\.whl")
_REFUSED = regex(r"is not a supported wheel|only has wheels")
_TARGETS = regex(
    r"\[((?:'(?:sm|compute)_\d+\w?'(?:,\s*)?)+)\]|(?:arch(?:itectures?)?"
    r"|capabilit\w+)[^\n]{0,40}?:?\s((?:sm_\d+\w?,?\s?){2,}(?:compute_\d+\w?)?)"
)
_TARGET = regex(r"(?:sm|compute)_\d+[af]?")
_LABELLED = regex(
    r"(?:\btorch\.__version__`?\s*(?:==|=|:|->|is|gives|says|shows|prints)"
    r"|\b(?:[Pp]y)?[Tt]orch[ _-][Vv]ersion`?\s*(?:==|=|:|->|is)"
    r"|(?<![\w/])(?<!build )(?:[Pp]y)?[Tt]orch[*`]{0,2}\s*:[*`]{0,2})\s*[`'\"]?(\d+\.\d+[\w.+-]*)"
)
_PROSE = regex(
    r"\b(?:py)?torch[ =-]{1,2}(?:version )?v?(\d+\.\d+(?:\.\d+)?(?:[a-z]+\d*)?(?:\.dev\d+)?(?:\+[\w.]+)?)",
    re.IGNORECASE,
)
# Programs that say on which device they run: they asked torch, and it had one.
_ON_DEVICE = regex(r"^Device: cuda:\d|^Using (?:torch )?device:? ['\"]?cuda\b|\btorch-\d\S* CUDA:\d", re.MULTILINE)
# "I upgraded torch from 2.4.0 to 2.6.0"
_MOVED = regex(r"\b(?:py)?torch from v?\d+\.\d\S* to v?(\d+\.\d+(?:\.\d+)?(?:\+[\w.]+)?)", re.IGNORECASE)
# "torch 2.5.1 cu121", "torch 2.5.1 (cpu)"
_APART = regex(
    r"\b(?:py)?torch[ =-]{1,2}v?(\d+\.\d+\.\d+)(?: |,\s?|\s?\()(?:(cu\d{2,3})\b|(?<=\()(cpu)\))", re.IGNORECASE
)
_OTHERS = regex(
    r"(?<![\w./-])(torchvision|torchaudio|numpy|triton|xformers|flash-attn|bitsandbytes|vllm|torchtext|torchcodec)"
    r"[ =]{1,2}(?:version )?v?(\d+\.\d+(?:\.\d+)?(?:\.?post\d+|\.dev\d+|a\d|rc\d)?(?:\+[\w.]+)?)(?![\w.]*-)",
    re.IGNORECASE,
)
# What stands in front of a version that is not torch's, or only asked for; and what makes it a result all the same.
_OWNED = regex(
    r"(?:vision|audio|text|data|xformers|triton|codec|install|add|requir\w*|needs?|wants?)\b[^,;]*$", re.IGNORECASE
)
_RESULT = regex(r"\b(?:gave|gives|got|shows|reports|prints|is now|now has)\s+(?:me\s+)?(?:torch\s+)?$", re.IGNORECASE)
_BARE = regex(
    r"(?<![\w.+/=-])(\d+\.\d+\.\d+(?:\.dev\d+|[ab]\d+\w*)?\+(?:cu\d{2,3}|cpu|rocm[\d.]+|xpu|nv[\w.]+))(?![\w+])"
)
# "pytorch/pytorch:2.8.0-cuda12.9-cudnn9-runtime": such an image holds the wheel of that CUDA.
_IMAGE = regex(r"\bpytorch/pytorch:(\d+\.\d+\.\d+)-cuda(\d+)\.(\d+)-cudnn\d")
_USED = regex(r"CUDA used to build PyTorch\s*:\s*([\d.]+|None|N/A|Could not collect)")
_CUDA = regex(r"torch\.version\.cuda`?\s*(?:==|=|:|->|is|gives|says|prints|shows)?\s*[`'\"]?(None|\d+\.\d+)")
# "pytorch 2.3.1 with cuda 12.1", "torch 2.0.1 (CUDA 11.7)"
_SPOKEN_CUDA = regex(
    r"\b(?:py)?torch[ =-]{1,2}(?:version )?v?\d+\.\d+(?:\.\d+)?,?\s\(?"
    r"(?:(?:built |compiled )?(?:with|for|against|on) )?cuda ?v?(1?\d\.\d)\b",
    re.IGNORECASE,
)
_PINNED = regex(r"(?<!\S)(torch(?:vision|audio)?)==(\d[\w.]*(?:\+\w+)?)(?!\S)")
_MPS = regex(r"backends\.mps\.is_available(?:\(\))?`?\s*(?:==|=|:|->|is|returns?|gives|says)?\s*`?(True|False)\b")
_COUNT = regex(r"device_count\(\)`?\s*(?:==|=|:|->|is|returns?|gives|says|prints|shows)\s*`?(\d{1,2})\b")
_UNMET = ("pip-none", "pip-no-match", "uv-none", "bad-requirement", "legacy-parse")
_ROCM = regex(r"ROCM used to build PyTorch\s*:\s*(\d[\w.-]*)")
_AVAILABLE = regex(
    r"(?:Is CUDA available|\bcuda\.is_available(?:\(\))?)`?\s*(?:==|=|:|->|is|returns?|gives|says"
    r"|prints)?\s*(?:Out(?:\[\d+\])?: )?(?:still |always )?`?(True|False|Yes\b|No\b)"
    r"|torch\.cuda\.is_available\(\)\)[\"']?[ \t]*\n\s*(True|False)\b"
    r"|torch\.cuda\.is_available\(\)\)?\s*#\s*(?:-+>|=+>|prints|gives|returns)?\s*(True|False)\b"
    # A version with a label and a truth value behind it: what one print of both shows.
    r"|^\s*(?:torch )?\(?'?\d+\.\d+\.\d+\+(?:cu\d{2,3}|cpu|rocm[\d.]+|xpu)'?,?\s(True|False)\b",
    re.MULTILINE,
)


def read_report(text: str, rulebook: Rulebook, facts: Facts) -> Evidence:
    """What a text says of an environment; the end of a very long one."""
    text = plain(text[-MOST_CHARACTERS:])
    found = blocks(text)
    said = answers(found)
    symptoms = report_symptoms.symptoms(text)
    changed = changes(text)
    wheels = _wheels(text)
    told = (*packages(text, found, changed), *_printed(said, text, symptoms))
    history = tuple(sorted(_there(told, symptoms), key=lambda p: p.line))
    typed = commands(found)
    history = (*history, *_only_asked_for(typed, {row.name for row in history}))
    clues = report_machine.Clues(text=text, found=found, said=said, symptoms=symptoms, wheels=wheels)
    return Evidence(
        host=report_machine.host_of(clues, rulebook, facts),
        text=text,
        installed=last_state(_trusted(history)),
        history=history,
        changes=changed,
        commands=typed,
        symptoms=symptoms,
        frames=report_frames.frames(text),
        torch=_torch(text, said, symptoms),
        environment=report_environment.environment(text, found),
        files=wheels,
    )


def _there(rows: Iterable[Installed], symptoms: Iterable[Symptom]) -> Iterator[Installed]:
    """The rows less the requirements that an installer repeats where it can't meet or read them."""
    unmet = {symptom.line for symptom in symptoms if symptom.name in _UNMET}
    unmet |= {symptom.line + 1 for symptom in symptoms if symptom.name == "bad-requirement"}  # it stands there again
    yield from (row for row in rows if row.source != "said" or row.line not in unmet)


def _only_asked_for(typed: Iterable[Command], known: set[str]) -> Iterator[Installed]:
    """The pins of an install whose output nobody shows (a Dockerfile), for packages of which nothing else is said."""
    for command in typed:
        if command.tool not in ("pip", "uv") or command.verb not in ("install", "add") or command.output.strip():
            continue
        label = next(filter(None, map(index_variant, command.index)), "")
        for name, version in _PINNED.findall(" ".join(command.requirements)):
            if name not in known:
                full = f"{version}+{label}" if label and "+" not in version else version
                yield Installed(name=name, version=full, source="said", line=command.line)


def _wheels(text: str) -> tuple[str, ...]:
    """The wheels that were chosen or loaded, in order; those that an installer refused tell of another machine."""
    lines = [line for line in text.replace("%2B", "+").split("\n") if ".whl" in line]
    refused = {name for line in lines if _REFUSED.search(line) for name in _WHEEL.findall(line)}
    return tuple(name for line in lines for name in _WHEEL.findall(line) if name not in refused)


def _printed(said: Sequence[Said], text: str, symptoms: Sequence[Symptom]) -> list[Installed]:
    """The versions that Python printed, or that a label in the text gives."""
    names = ("torch", "torchvision", "torchaudio", "numpy", "triton", "xformers")
    rows = [
        Installed(name=a.fact, version=a.value, source="printed", line=a.line)
        for a in said
        if a.fact in names and re.match(r"\d+\.\d", a.value)
    ]
    rows += [
        Installed(name="torch", version=s.get("have"), source="printed", line=s.line)
        for s in symptoms
        if s.name == "xformers-build" and s.get("have")
    ]
    for pattern, source in ((_LABELLED, "printed"), (_BARE, "said"), (_PROSE, "said"), (_MOVED, "said")):
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if source == "said" and _is_companion(text, match.start()):
                continue
            rows.append(Installed(name="torch", version=match[1].rstrip(".,"), source=source, line=line))  # type: ignore[arg-type]
    for match in _APART.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        label = (match[2] or match[3]).lower()
        if not _is_companion(text, match.start()):
            rows.append(Installed(name="torch", version=f"{match[1]}+{label}", source="said", line=line))
    for match in _IMAGE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        rows.append(Installed(name="torch", version=f"{match[1]}+cu{match[2]}{match[3]}", source="said", line=line))
    return [*rows, *_other_prose(text)]


def _other_prose(text: str) -> list[Installed]:
    """The companions that sentences name with a version, where no command or requirement asks for it."""
    return [
        Installed(name=match[1].lower(), version=match[2], source="said", line=text.count("\n", 0, match.start()) + 1)
        for match in _OTHERS.finditer(text)
        if not _is_asked_for(text, match.start())
    ]


def _is_asked_for(text: str, position: int) -> bool:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return bool(
        re.search(r"\b(?:install|add|requir\w*|depends|needs?|wants?|satisf\w+|Collecting|for)\b", line, re.IGNORECASE)
    )


def _is_companion(text: str, position: int) -> bool:
    """Whether a version belongs to another name in front of it, or to a command that asks for it."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return bool(_OWNED.search(line)) and not _RESULT.search(line)


def _trusted(history: Sequence[Installed]) -> list[Installed]:
    """Sentences count only for packages of which no tool printed anything."""
    shown = {row.name for row in history if row.source != "said"}
    return [row for row in history if row.source != "said" or row.name not in shown]


def _torch(text: str, said: Sequence[Said], symptoms: Sequence[Symptom]) -> TorchSaid:
    facts = {answer.fact: answer.value for answer in said}
    available = facts.get("available") or _last(_AVAILABLE, text) or ("True" if _ON_DEVICE.search(text) else None)
    cuda = facts.get("cuda") or _last(_USED, text) or _last(_CUDA, text) or _spoken_cuda(text)
    hip = facts.get("hip") or _last(_ROCM, text)
    return TorchSaid(
        version=facts.get("torch"),
        cuda=None if cuda in (None, "Could not collect") else "" if cuda in ("None", "N/A") else cuda,
        hip=None if hip in (None, "None") else hip,
        xpu=facts.get("xpu") == "True",
        mps=(facts.get("mps") or _last(_MPS, text)) == "True",
        targets=_targets(text, facts, symptoms),
        available=None if available is None else available in ("True", "Yes"),
        count=int(count) if (count := facts.get("count") or _last(_COUNT, text) or "").isdecimal() else None,
        file=facts.get("file"),
        computed=any(s.name == "gpu-result" and "tensor(" in s.text for s in symptoms),
    )


def _spoken_cuda(text: str) -> str | None:
    """The CUDA that a sentence gives with torch's version, where that torch is not only asked for."""
    found = [m[1] for m in _SPOKEN_CUDA.finditer(text) if not _is_companion(text, m.start())]
    return found[-1] if found else None


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    """What the last match says, by whichever of the pattern's groups."""
    found = [next(filter(None, match.groups()), None) for match in pattern.finditer(text)]
    return found[-1] if found else None


def _targets(text: str, facts: dict[str, str], symptoms: Sequence[Symptom]) -> tuple[Target, ...] | None:
    """The arch list that torch printed; None where it printed none, () where it printed an empty one."""
    listed = facts.get("targets")
    if listed is None:
        warned = [s.get("targets") for s in symptoms if s.name == "supported-list"]
        shown = _TARGETS.findall(text)
        listed = warned[-1] if warned else "".join(shown[-1]) if shown else None
    if listed is None:
        return None
    return tuple(dict.fromkeys(Target.parse(t) for t in _TARGET.findall(listed)))
