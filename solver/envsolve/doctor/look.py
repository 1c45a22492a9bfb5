"""Look: a live environment as Evidence. Reads files, asks the interpreter and the machine; imports no torch itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from envsolve.capability import Capability, Target
from envsolve.doctor import report_frames, report_symptoms
from envsolve.doctor.evidence import Damage, Evidence, Host, Installed, Symptom, TorchSaid
from envsolve.doctor.look_base import base_of
from envsolve.doctor.look_changes import later_install
from envsolve.doctor.look_child import Trial, trial
from envsolve.doctor.look_files import Dist, conda_build, dists, version_file
from envsolve.doctor.look_needs import unmet
from envsolve.doctor.look_place import Place
from envsolve.doctor.look_strays import strays
from envsolve.doctor.look_whole import damage
from envsolve.doctor.report_environment import NAMES
from envsolve.doctor.report_packages import last_state
from envsolve.machine.machine import Gpu, Machine
from envsolve.record import field, record, replace
from envsolve.rulebook.rulebook import Rulebook

TRIAL_SECONDS = 60.0
_FAMILY = ("torch", "torchvision", "torchaudio")
# What detection says is wrong with the machine, in the words of the messages that mean the same.
_PROBLEMS = {
    "driver-not-loaded": "driver-unreachable", "driver-library-mismatch": "nvml-mismatch", "gpu-lost": "no-handle",
    "driver-ignores-gpu": "unsupported-gpu", "no-devices": "no-devices", "permission": "no-permission",
    "wsl-stub": "os-blocked",
}  # fmt: skip


@record
class Seen:
    """What was read and heard, before it becomes evidence."""

    asked: Mapping[str, Any]
    dists: tuple[Dist, ...]
    trial: Trial
    damage: tuple[Damage, ...] = ()
    strays: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()


def look(
    place: Place, machine: Machine, rulebook: Rulebook, *, seconds: float = TRIAL_SECONDS, container: bool = False
) -> Evidence:
    """The evidence of an environment on this machine.

    Raises OutsideError when its interpreter doesn't run and no environment lies around it.
    """
    base = base_of(place)
    found = dists(base.sites)
    present = [n for n in _FAMILY if any(d.name == n for d in found) or (n == "torch" and base.asked.get("torch"))]
    tried = trial(place.interpreter, present, seconds) if present and not base.damage else Trial()
    seen = Seen(
        asked=base.asked,
        dists=found,
        trial=tried,
        damage=base.damage or damage(found, tried, sites=base.sites, python=str(base.asked.get("python") or "")),
        strays=strays(Path.cwd(), found),
        options=place.options,
    )
    return evidence_of(seen, machine, rulebook, container=container)


def evidence_of(seen: Seen, machine: Machine, rulebook: Rulebook, *, container: bool) -> Evidence:
    """Files, words and the machine as one. Pure but for torch's version files, which are read where it would be
    imported from."""
    text = seen.trial.text
    history = tuple(_history(seen))
    changes, commands = later_install(seen.dists, rulebook)
    needs = unmet(seen.dists, _FAMILY, str(seen.asked.get("python") or ""))
    symptoms = (*_of_machine(machine), *report_symptoms.symptoms(text), *needs)
    return Evidence(
        host=_host(seen, machine, container),
        text=text,
        installed=last_state(history),
        history=history,
        changes=changes,
        commands=commands,
        symptoms=tuple(symptoms),
        frames=report_frames.frames(text),
        torch=_torch(seen),
        environment={name: os.environ[name] for name in NAMES if name in os.environ},
        live=True,
        damage=seen.damage,
        strays=seen.strays,
        options=seen.options,
    )


def _host(seen: Seen, machine: Machine, container: bool) -> Host:
    """The machine with the interpreter's own Python, and the capabilities that torch was told by the driver."""
    told = seen.trial.said.get("gpus") or []
    gpus = machine.gpus
    if not gpus and told:
        gpus = tuple(Gpu(name=name, compute_capability=Capability(*pair)) for name, pair in told)
    vendor = "nvidia" if gpus and machine.vendor in (None, "none") else machine.vendor
    machine = replace(machine, python=seen.asked.get("python"), gpus=gpus, vendor=vendor)
    known = {"os", "arch", "python"} | {f for f in ("driver", "cuda_max", "libc") if getattr(machine, f) is not None}
    return Host(
        machine=machine,
        known=frozenset(known | ({"gpu"} if gpus else set())),
        container=container,
        gpu_absent=not gpus and vendor not in (None, "nvidia"),
        gpu_claimed=bool(gpus) or vendor == "nvidia",
        bits=int(seen.asked.get("bits", 64)),
        emulated=any(p.code == "python-translated" for p in machine.problems),
    )


def _history(seen: Seen) -> Iterator[Installed]:
    """Every distribution on the path, the state last: the first of a name, and the environment's own before what a
    variable or the user's site adds; then what is imported."""
    prefix = Path(str(seen.asked.get("prefix", "")))
    foreign = [dist for dist in seen.dists if not dist.site.is_relative_to(prefix)]
    own = [dist for dist in seen.dists if dist.site.is_relative_to(prefix)]
    for dist in reversed([*own, *foreign]):
        build = conda_build(prefix, {"torch": "pytorch"}.get(dist.name, dist.name)) if dist.installer == "conda" else ""
        yield Installed(
            name=dist.name,
            version=_labelled(dist),
            source="listed",
            build=build,
            location=str(dist.site / dist.name),
            line=1,
        )
    imported = _imported_folder(seen)
    found = version_file(imported) if imported else None
    if found:
        yield Installed(name="torch", version=found.version, source="printed", location=str(imported), line=3)


def _labelled(dist: Dist) -> str:
    """The version with the label that its own version file gives where the metadata has none."""
    found = version_file(dist.site / dist.name.replace("-", "_")) if dist.name in _FAMILY else None
    same = found is not None and found.version.split("+")[0] == dist.version.split("+")[0]
    return found.version if found and same else dist.version


def _imported_folder(seen: Seen) -> Path | None:
    origin = seen.asked.get("torch")
    return Path(str(origin)).parent if origin else None


def _torch(seen: Seen) -> TorchSaid:
    """What torch says of itself where it can be imported, else its version file."""
    said = seen.trial.said
    folder = _imported_folder(seen)
    file = version_file(folder) if folder else None
    cuda = said["cuda"] or "" if "cuda" in said else file.cuda if file else None
    return TorchSaid(
        version=said.get("version") or (file.version if file else None),
        cuda=cuda if not (said.get("hip") or (file and file.hip)) else None,
        hip=said.get("hip") or (file.hip if file else None) or None,
        targets=tuple(_targets(said.get("targets"))) or None,
        available=said.get("available"),
        count=said.get("count"),
        file=said.get("file") or (str(folder / "__init__.py") if folder else None),
        computed=said.get("computed") is True and "failed" not in said,
    )


def _targets(words: Sequence[str] | None) -> Iterator[Target]:
    for word in words or ():
        try:
            yield Target.parse(word)
        except ValueError:
            continue  # gfx targets are no CUDA code


def _of_machine(machine: Machine) -> Iterator[Symptom]:
    for problem in machine.problems:
        name = _PROBLEMS.get(problem.code)
        if problem.code == "gpu-hidden" and "container" in problem.text:
            name = "ngc-no-driver"
        if problem.code == "no-driver" and (machine.gpus or machine.vendor == "nvidia"):
            name = "driver-unreachable"
        if name:
            yield Symptom(name=name, text=problem.text, line=0)
