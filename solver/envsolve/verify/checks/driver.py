"""The devices that torch finds against those that the plan was made for."""

from __future__ import annotations

from envsolve.capability import Capability, Target
from envsolve.verify.expected import Expected
from envsolve.verify.facts import Device, DriverFacts
from envsolve.verify.report import Check


def driver(facts: DriverFacts, expected: Expected) -> Check:
    """The driver loads, and no promised GPU is missing."""
    covered = [d for d in facts.devices if promised_code(d, expected) is not None]
    promised = len(expected.gpu_codes)
    ok = bool(covered) and len(covered) >= promised
    return Check(
        name="driver",
        outcome="passed" if ok else "failed",
        expected=f"{promised or 'at least 1'} {expected.device} device{'s' if promised > 1 else ''}",
        seen=_seen(facts, covered),
        hint="" if ok else _hint(facts),
    )


def promised_code(device: Device, expected: Expected) -> str | None:
    """The code that was promised for a device: "" where nothing is said of it, None where the plan leaves it out.

    Devices are matched by capability and not by number: CUDA and nvidia-smi number them differently.
    """
    codes = [code for code in expected.gpu_codes if code]
    if device.capability is None or not codes:
        return ""
    serving = [Target.parse(code) for code in codes]
    native = [t for t in serving if t.kind == "sm" and _runs(t.capability, device.capability)]
    if native:
        return str(max(native, key=lambda t: t.capability))
    jit = [t for t in serving if t.kind == "compute" and t.capability <= device.capability]
    return str(max(jit, key=lambda t: t.capability)) if jit else None


def _runs(code: Capability, gpu: Capability) -> bool:
    return code.major == gpu.major and code.minor <= gpu.minor


def _seen(facts: DriverFacts, covered: list[Device]) -> str:
    if facts.devices:
        names = "; ".join(
            f"{d.device} {d.model}"
            + (f" ({d.capability})" if d.capability else "")
            + ("" if d in covered else ", which the plan leaves out")
            for d in facts.devices
        )
        return names + (f" (CUDA_VISIBLE_DEVICES={facts.visible!r})" if facts.visible is not None else "")
    said = f"; libcuda: {facts.libcuda}" if facts.libcuda else ""
    if facts.visible is not None and not _shows_any(facts.visible):
        # That cuInit then finds no device says nothing more; that there is no cuInit does.
        return f"no device: CUDA_VISIBLE_DEVICES={facts.visible!r} hides every GPU{said if _unloadable(facts) else ''}"
    hidden = f" (CUDA_VISIBLE_DEVICES={facts.visible!r})" if facts.visible is not None else ""
    return f"no device: {facts.why or 'torch gives no reason'}{said}{hidden}"


def _unloadable(facts: DriverFacts) -> bool:
    return bool(facts.libcuda) and not facts.libcuda.startswith("cuInit")


def _shows_any(visible: str) -> bool:
    """CUDA reads the list up to the first entry that isn't a device; "" and "-1" show none."""
    first = visible.split(",")[0].strip()
    return bool(first) and not first.startswith("-") and first.lower() != "nodevfiles"


def _hint(facts: DriverFacts) -> str:
    if _unloadable(facts):
        return "the NVIDIA driver's library can't be loaded (in a container: --gpus all): envsolve detect"
    if facts.visible is not None:
        return "unset CUDA_VISIBLE_DEVICES; or plan for the GPUs that it shows: envsolve plan --gpus visible"
    return "envsolve detect shows what is wrong with the driver"
