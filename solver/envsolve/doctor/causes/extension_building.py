"""An extension that could not be built on this machine, or whose compiled part is missing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envsolve.doctor.causes.extension_causes import told
from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.report_frames import module_of
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import fix
from envsolve.regex import regex

_SDIST = regex(r"\b[\w-]+(?=-\d[\w.]*\.tar\.gz)")
_SPEAKS_FOR_ITSELF = ("no-arch-list", "build-cuda", "nvcc-target", "host-compiler", "extension-build")


def building(s: Situation) -> Finding | None:
    """A compile that failed: another toolkit than torch's, none at all, or no torch to build against."""
    e = s.evidence
    shown = e.first(*_SPEAKS_FOR_ITSELF, "cuda-home") or e.first("build-failed", "build-isolation")
    if shown is None:
        return None
    name = _being_built(s)
    if name is None and shown.name not in _SPEAKS_FOR_ITSELF:
        return None
    package = name or "the extension"
    return told(s, package, _headline(s, shown, package), [shown], certainty="medium", fixes=_fixes(s, shown, package))


def _headline(s: Situation, shown: Symptom, package: str) -> str:
    return {
        "no-arch-list": f"{package} is compiled where no GPU is seen, and nothing says for which one",
        "build-cuda": f"{package} is compiled with {_toolkit(shown)}, torch is a build for CUDA "
        f"{shown.get('torch') or shown.get('torch2')}",
        "host-compiler": f"{package} can't be compiled: the toolkit's nvcc refuses this gcc ({shown.get('why')})",
        "nvcc-target": f"the toolkit's nvcc does not know the GPU ({shown.get('target')}) that {package} is for",
        "extension-build": f"{package} could not compile its part {shown.get('name')!r}; torch itself is not to blame",
        "cuda-home": f"{package} has to be compiled, and there is no CUDA toolkit to do it",
    }.get(shown.name, f"{package} could not be built; {s.torch.shown} itself is not to blame")


def _toolkit(shown: Symptom) -> str:
    return f"CUDA {shown.get('have')}" if shown.get("have") else "the toolkit of another CUDA"


def _fixes(s: Situation, shown: Symptom, package: str) -> Iterator[Fix]:
    if shown.name == "no-arch-list":
        text = "say for which GPUs (their compute capabilities), in a Dockerfile by ENV"
        yield fix(text, f'export TORCH_CUDA_ARCH_LIST="{_capabilities(s)}"')
        return
    if s.evidence.has("build-isolation"):
        text = "it needs the installed torch while it is built: switch the build isolation off"
        yield fix(text, f"pip install --no-build-isolation {package}")
    yield fix(f"take a ready-made wheel of {package} for this torch, CUDA and Python, if its makers have one")
    if shown.name == "host-compiler":
        last = shown.get("last")
        command = f'export CC=gcc-{last} CXX=g++-{last} NVCC_PREPEND_FLAGS="-ccbin g++-{last}"'
        yield fix(f"or let nvcc use gcc {last} or older", command)
    elif shown.name in _SPEAKS_FOR_ITSELF:
        yield fix("or compile with a toolkit of the CUDA that torch was built with (torch.version.cuda)")


def _capabilities(s: Situation) -> str:
    """Those of the GPUs that are known, else a stand-in."""
    found = sorted({g.compute_capability for g in s.machine.gpus if g.compute_capability})
    return ";".join(map(str, found)) or "MAJOR.MINOR"


def _being_built(s: Situation) -> str | None:
    """The extension that an installer was building; None for anything else."""
    e = s.evidence
    words = [x.get("package") or x.get("package2") or x.get("package3") for x in e.all("build-failed")]
    words += [r for c in e.commands if c.tool in ("pip", "uv") for r in c.requirements]
    words += _SDIST.findall(e.text)
    for word in words:
        name = re.split(r"[<>=!~\[ ;@]", word)[0].lower().replace("_", "-").strip("./")
        if name in s.facts.extensions:
            return s.facts.extensions[name].package
    modules = (module_of(f.path) for f in e.frames)
    return next((found.package for m in modules if m and (found := s.facts.extension_of(m))), None)


def not_built(s: Situation) -> Finding | None:
    """The Python part of an extension is there, its compiled part is not."""
    for shown in s.evidence.all("other-module"):
        module, _, part = shown.get("module").partition(".")
        known = s.facts.extension_of(module)
        # Compiled parts are modules of their own ("flash_attn_2_cuda"), or begin with a stroke ("mmcv._ext").
        if known is not None and (module != known.modules[0] or part.startswith("_")):
            headline = f"the compiled part of {known.package} is missing: it was not built for this torch"
            text = f"build {known.package} with its CUDA part against the torch that is there; leave torch as it is"
            return told(s, known.package, headline, [shown], fixes=[fix(text)])
    return None
