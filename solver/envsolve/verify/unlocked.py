"""Unlocked: what can be expected of an environment that no lock of envsolve's describes."""

from __future__ import annotations

from envsolve.errors import RefusedError
from envsolve.verify.checks.packages import FAMILY
from envsolve.verify.expected import Device, Expected
from envsolve.verify.facts import Survey


def of_survey(survey: Survey, *, where: str) -> Expected:
    """What the installed files say of themselves: the import, the binary and the results must bear it out.

    Raises RefusedError where there is no torch to prove; `where` names the environment in it.
    """
    found = survey.versions()
    if "torch" not in found:
        raise RefusedError(f"torch is not installed in {where}", hint="envsolve install --name NAME")
    return Expected(
        versions={name: found[name] for name in FAMILY if name in found},
        device=_device(survey),
        cuda=survey.cuda,
        python=".".join(survey.python.split(".")[:2]),
        locked=False,
    )


def _device(survey: Survey) -> Device:
    if survey.cuda:
        return "cuda"
    if survey.hip or survey.xpu:
        return "rocm" if survey.hip else "xpu"
    apple = survey.markers["sys_platform"] == "darwin" and survey.markers["platform_machine"] == "arm64"
    return "mps" if apple else "cpu"
