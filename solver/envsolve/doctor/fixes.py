"""Fixes: ways out as text and commands. A build is only named after the planner found that it runs here."""

from __future__ import annotations

import shlex

from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.doctor.finding import Fix
from envsolve.doctor.situation import Situation
from envsolve.errors import InputError
from envsolve.machine.machine import Machine
from envsolve.record import replace
from envsolve.resolve.plan import Missing, Plan
from envsolve.resolve.planner import plan as make_plan
from envsolve.resolve.request import Request

_OF_A_PROJECT = ("add", "sync", "run", "lock")
FAMILY = ("torch", "torchvision", "torchaudio")


def planned(situation: Situation, *, torch: str = "", variant: str | None = None) -> Plan | None:
    """A plan for this machine with the companions that are installed: this torch where one runs, else any.

    None where the machine is not known well enough, or nothing runs.
    """
    wanted = [torch, ""] if torch else [""]
    for version in wanted:
        for python in _pythons(situation):
            machine = replace(situation.machine, python=python)
            if found := _plan(machine, situation, version, variant):
                return found
    return None


def _pythons(situation: Situation) -> tuple[str, ...]:
    python = situation.machine.python
    return (python,) if python else situation.facts.assumed_pythons


def _plan(machine: Machine, situation: Situation, version: str, variant: str | None) -> Plan | None:
    installed = situation.evidence.installed
    names = [name for name in FAMILY if name == "torch" or name in installed]
    texts = [f"torch=={version}" if name == "torch" and version else name for name in names]
    request = Request(requirements=tuple(map(Requirement, texts)), variant=variant)
    try:
        answer = make_plan(machine, request, situation.rulebook)
    except InputError:
        return None
    # What the driver would have to compile first is no way out of missing code.
    good = isinstance(answer, Plan) and all(fit.verdict in ("native", "compatible") for fit in answer.fits)
    return answer if good and isinstance(answer, Plan) else None


def same_version(situation: Situation) -> str:
    """The public version of the installed torch for a pin; "" where it is none of the rules'."""
    version = situation.torch.version
    return str(version) if version is not None and version in situation.rulebook.releases else ""


def new_environment(plan: Plan, why: str = "") -> Fix:
    """A new environment with the plan's packages, beside the old one."""
    names = [f"{p.name}=={p.label(plan.variant)}" for p in plan.packages]
    text = f"make a new environment with {' '.join(names)}{f', {why}' if why else ''}; keep the old one until it works"
    pins = [f"{p.name}=={p.version}" for p in plan.packages]
    install = ["envsolve", "install", "--name", "NAME", *pins, "--variant", plan.variant]
    index = ["--index-url", plan.index_url] if plan.index_url else []
    return Fix(text=text, commands=(shlex.join(install), shlex.join(["pip", "install", *names, *index])))


def other_build(situation: Situation, *, torch: str = "", variant: str | None = None, why: str = "") -> list[Fix]:
    """The nearest build that runs on this machine, else how to have one chosen."""
    found = planned(situation, torch=torch, variant=variant)
    return ways_to(found, situation, why) if found else [choose(situation)]


def ways_to(plan: Plan, situation: Situation, why: str = "") -> list[Fix]:
    """A new environment with the plan's packages; where uv manages a project, what that needs as well."""
    project = any(c.tool == "uv" and c.verb in _OF_A_PROJECT for c in situation.evidence.commands)
    return [new_environment(plan, why), *([_in_project(plan)] if project else [])]


def _in_project(plan: Plan) -> Fix:
    names = [f"{p.name}=={p.version}" for p in plan.packages]
    command = ["envsolve", "lock", *names, "--variant", plan.variant, "--snippet", "uv"]
    text = "or, in the project that uv manages: give torch its index in pyproject.toml; this prints what to add"
    return Fix(text=text, commands=(shlex.join(command), "uv sync"))


def choose(situation: Situation) -> Fix:
    """Let the planner choose on the machine itself."""
    version = same_version(situation)
    words = ["envsolve", "plan", f"torch=={version}" if version else "torch"]
    words += [name for name in FAMILY[1:] if name in situation.evidence.installed]
    return Fix(
        text="have a build chosen on that machine, which knows its GPU and driver", commands=(shlex.join(words),)
    )


def constraint(torch: str) -> Fix:
    """How to keep a build from being replaced again."""
    text = f"keep it there: a constraints file with torch=={torch}, given to every later install"
    return Fix(text=text, commands=(f"echo 'torch=={torch}' > constraints.txt", "pip install -c constraints.txt …"))


def pins(situation: Situation, torch: Version) -> str:
    """The companions that belong to a torch, for a sentence: "torchvision 0.14.1 and torchaudio 0.13.1"."""
    row = situation.rulebook.companions.get(torch)
    if row is None:
        return ""
    return " and ".join(f"{name} {versions[0]}" for name, versions in row.versions.items() if versions)


ASK_GPU = Missing(field="gpu", how="nvidia-smi --query-gpu=name,compute_cap --format=csv (or nvidia-smi -L)")
ASK_DRIVER = Missing(field="driver", how="nvidia-smi --query-gpu=driver_version --format=csv,noheader")
ASK_TORCH = Missing(
    field="torch",
    how='python -c "import torch as t; print(t.__version__, t.version.cuda, t.cuda.get_arch_list(), t.__file__)"',
)
ASK_PYTHON = Missing(field="python", how="python --version, with the interpreter of that environment")
ASK_ERROR = Missing(field="error", how="the whole text from the first line of the traceback to the last")
ASK_MASK = Missing(
    field="CUDA_VISIBLE_DEVICES", how='echo "$CUDA_VISIBLE_DEVICES" (in PowerShell: $env:CUDA_VISIBLE_DEVICES)'
)
ASK_PACKAGES = Missing(field="packages", how="pip list, with the pip of that environment: python -m pip list")
