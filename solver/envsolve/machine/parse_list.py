"""nvidia-smi -L: "GPU 0: NVIDIA H200 (UUID: GPU-…)", with the MIG devices of a card below it."""

from __future__ import annotations

from envsolve.machine.csv_cells import is_name
from envsolve.machine.machine import Gpu
from envsolve.machine.reading import Reading
from envsolve.machine.words import is_tegra, named_gpu
from envsolve.record import replace
from envsolve.regex import regex

SOURCE = "nvidia-smi -L"
_GPU = regex(r"(?:^|[\s|>])GPU (\d{1,3}): (\S.*?)\s*(?:\(UUID:\s*((?:GPU-)?[^)\s]*)\)?|$)")
_MIG = regex(r"^\s*MIG \S+\s+Device\s+\d+:")


def parse_list(text: str) -> list[Reading]:
    """One reading for each list in the text (it starts anew where the number falls); [] where there is none."""
    lists: list[list[Gpu]] = []
    people = "GPU models and configuration" not in text  # collect_env drops the UUID itself and is read elsewhere
    for line in text.splitlines():
        match = _GPU.search(line)
        if match and (match[3] is not None or (people and is_name(match[2]))):
            index = int(match[1])
            if not lists or index <= (lists[-1][-1].index or 0):
                lists.append([])
            lists[-1].append(named_gpu(match[2], index=index, uuid=match[3] or None))
        elif lists and _MIG.match(line):
            lists[-1][-1] = replace(lists[-1][-1], mig=True)
    return [_reading(gpus) for gpus in lists]


def _reading(gpus: list[Gpu]) -> Reading:
    tegra = True if any(is_tegra(gpu.name or "") for gpu in gpus) else None
    return Reading(source=SOURCE, gpus=tuple(gpus), vendor="nvidia", tegra=tegra)
