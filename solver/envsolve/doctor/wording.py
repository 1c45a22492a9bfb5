"""Words that findings share: names of GPUs and machines, lines of evidence."""

from __future__ import annotations

from collections.abc import Iterable

from envsolve.doctor.evidence import Evidence, Symptom
from envsolve.doctor.situation import Situation
from envsolve.machine.machine import Gpu

_LONGEST = 200


def gpu_word(gpu: Gpu) -> str:
    """ "Tesla V100 (7.0)", "a GPU of capability 7.0", "the GPU"."""
    capability = str(gpu.compute_capability) if gpu.compute_capability else ""
    if gpu.name:
        return f"{gpu.name} ({capability})" if capability else gpu.name
    return f"a GPU of capability {capability}" if capability else "the GPU"


def gpu_words(gpus: Iterable[Gpu]) -> str:
    """All GPUs, each kind once."""
    return ", ".join(dict.fromkeys(map(gpu_word, gpus))) or "the GPU"


def quoted(symptoms: Iterable[Symptom | None]) -> list[str]:
    """The messages as they stand in the text, each once."""
    lines = (shortened(s.text) for s in symptoms if s is not None)
    return list(dict.fromkeys(line for line in lines if line))


def shortened(text: str) -> str:
    """A line that is not too long for a screen."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def facts_of(situation: Situation) -> list[str]:
    """The lines that every finding about a build shows: torch, GPU, driver, as far as they are known."""
    torch, machine = situation.torch, situation.machine
    lines = []
    if torch.known:
        why = (
            f" ({torch.variant} by {torch.why})" if torch.variant and not torch.certain and not torch.unlabelled else ""
        )
        row = situation.evidence.installed.get("torch") or situation.evidence.installed.get("pytorch")
        lines.append(f"{'named' if row is not None and row.source == 'said' else 'installed'}: {torch.shown}{why}")
    if torch.build is not None and torch.build.targets_known and torch.build.sm:
        code = " ".join(map(str, (*torch.build.sm, *torch.build.ptx)))
        lines.append(f"its code: {code}")
    if machine.gpus and any(g.name or g.compute_capability for g in machine.gpus):
        lines.append(f"GPU: {gpu_words(machine.gpus)}")
    if machine.driver is not None or machine.cuda_max is not None:
        cuda = f", CUDA {situation.driver.cuda} at most" if situation.driver.cuda else ""
        lines.append(f"{situation.driver}{cuda}")
    return lines


def python_of(evidence: Evidence) -> str:
    """ "Python 3.12", or "this Python"."""
    return f"Python {evidence.machine.python}" if evidence.machine.python else "this Python"
