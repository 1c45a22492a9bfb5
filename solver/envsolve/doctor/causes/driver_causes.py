"""The driver itself: kernel and library apart, not loaded, too new or too old for the GPU, too old for the build."""

from __future__ import annotations

import re

from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import ASK_DRIVER, other_build, same_version
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import facts_of, gpu_words, quoted
from envsolve.dotted import Dotted
from envsolve.judge.driver import branch_limits, branch_of, floor, mismatch

_REBOOT = Fix(
    text="reboot, so that kernel module and libraries are of one version again; if it stays, install the driver anew "
    "from one source only",
    commands=("sudo reboot",),
)
_COMPAT = Fix(
    text="take the cuda-compat libraries out of the loader's way (LD_LIBRARY_PATH, /etc/ld.so.conf.d): they serve "
    "data-centre GPUs only, and no driver that is newer than they are",
    commands=("echo $LD_LIBRARY_PATH", "ldconfig -p | grep libcuda"),
)


def library_mismatch(s: Situation) -> Finding | None:
    """Kernel module and user-space driver of different versions, or a cuda-compat libcuda that does not fit."""
    forward = s.evidence.first("error-804")
    stub = s.evidence.first("stub-library")
    shown = s.evidence.first("nvml-mismatch", "api-mismatch", "error-803") or forward or stub
    if shown is None:
        return None
    compat = s.evidence.first("compat-libs") or forward
    headline = "the NVIDIA kernel module and the user-space driver libraries are of different versions"
    if forward:
        headline = "a cuda-compat libcuda is loaded that does not go with this GPU and driver"
    fixes = [_COMPAT, _REBOOT] if compat else [_REBOOT]
    if shown is stub:
        headline = "the toolkit's stub libcuda is loaded in place of the driver's own"
        fixes = [
            Fix(
                text="take the stubs folder out of LD_LIBRARY_PATH: it is for linking only",
                commands=("echo $LD_LIBRARY_PATH",),
            )
        ]
    if s.evidence.host.container and not forward:
        fixes.append(Fix(text="reboot the host, then start the container anew: it takes its libraries from the host"))
    return Finding(
        code="driver-library-mismatch",
        headline=headline,
        certainty="high",
        evidence=(*quoted([shown]), *facts_of(s)),
        fixes=tuple(fixes),
        fine=("torch itself is not to blame",),
    )


def dropped_gpu(s: Situation) -> Finding | None:
    """A driver branch that no longer drives the card, by the kernel's own words or by the rules."""
    shown = s.evidence.first("legacy-driver", "unsupported-gpu")
    clash = _clash(s, "driver-too-new")
    if shown is not None and clash is None and not _says_dropped(s):
        return None
    if shown is None and clash is None:
        return None
    last = _last_branch(s)
    end = f"R{last}" if last else "an older branch"
    return Finding(
        code="driver-too-new",
        headline=f"this driver has dropped the GPU: {end} is the last branch that drives it",
        certainty="high",
        evidence=(*quoted([shown]), *([clash] if clash else []), *facts_of(s)),
        fixes=(Fix(text=f"go back to a driver of {end} and hold it there; a newer one would lose the card again"),),
    )


def _says_dropped(s: Situation) -> bool:
    """Whether the kernel named the legacy branch, or refused a card that the rules do not hold for newer than it."""
    if s.evidence.has("legacy-driver"):
        return True
    return (
        s.evidence.has("unsupported-gpu")
        and not s.evidence.has("open-needed")
        and _clash(s, "gpu-driver-mismatch") is None
    )


def _clash(s: Situation, code: str) -> str | None:
    for gpu in s.machine.gpus:
        found = mismatch(s.driver, gpu.compute_capability, s.rulebook) if gpu.compute_capability else None
        if found and found[0] == code:
            return found[1]
    return None


def _last_branch(s: Situation) -> int | None:
    """The last branch for the oldest card; the kernel names it itself for legacy cards."""
    said = s.evidence.first("legacy-driver")
    if said and said.get("branch"):
        return int(said.get("branch"))
    lasts = [branch_limits(g.compute_capability, s.rulebook)[1] for g in s.machine.gpus if g.compute_capability]
    return min((last for last in lasts if last is not None), default=None)


def older_than_gpu(s: Situation) -> Finding | None:
    """A driver of before the card."""
    clash = _clash(s, "gpu-driver-mismatch")
    if clash is None:
        return None
    return Finding(
        code="driver-too-old",
        headline=f"the driver is older than the GPU: {clash}",
        certainty="high",
        evidence=tuple([*quoted(s.evidence.all("no-kernel-image", "no-devices", "unsupported-gpu")), *facts_of(s)]),
        fixes=(Fix(text="update the driver to the branch that first drives this GPU, or a newer one"),),
    )


def too_old(s: Situation) -> Finding | None:
    """A driver that cannot serve the CUDA of the build: by the message, by PTX, by a container's demand, or by the rules."""
    shown = s.evidence.first("driver-old", "ptx-toolchain", "container-requirement")
    by_rules = s.refusal("driver-too-old", "ptx-needs-newer-driver") if s.torch.known else None
    if shown is None and by_rules is None:
        return None
    if shown is None and s.torch.accelerator != "cuda":
        return None
    cuda = s.torch.cuda or _wanted_cuda(s)
    return Finding(
        code="driver-too-old",
        headline=_too_old_headline(s, cuda),
        certainty="high" if shown else "medium",
        evidence=(*quoted([shown]), *([by_rules.text] if by_rules else []), *_found_version(s), *facts_of(s)),
        fixes=tuple(_too_old_fixes(s, cuda)),
        fine=("nvcc and an installed toolkit do not matter for a wheel: it brings its own CUDA",),
    )


def _wanted_cuda(s: Situation) -> Dotted | None:
    asked = s.evidence.first("container-requirement")
    return Dotted.parse(asked.get("cuda").rstrip(".")) if asked and asked.get("cuda").rstrip(".") else None


def _too_old_headline(s: Situation, cuda: Dotted | None) -> str:
    wanted = f"CUDA {cuda}" if cuda else "the CUDA of this build"
    who = str(s.driver) if s.driver.known else "the driver"
    if s.evidence.has("ptx-toolchain"):
        speaks = f" (it speaks CUDA {s.driver.cuda})" if s.driver.cuda else ""
        return f"{who} cannot compile PTX that a newer CUDA made{speaks}"
    lowest = floor(cuda, s.rulebook, windows=s.driver.windows) if cuda else None
    needs = f", which needs driver {lowest} or newer" if lowest else ""
    return f"{who} cannot serve {wanted}{needs}"


def _found_version(s: Situation) -> list[str]:
    """ "found version 11000" is the driver's CUDA, 11.0."""
    shown = s.evidence.first("driver-old")
    found = shown.get("found") if shown else ""
    if not found.isdecimal():
        return []
    number = int(found)
    return [f"found version {found} = the driver speaks CUDA {number // 1000}.{number % 1000 // 10} at most"]


def _lowest(s: Situation, cuda: Dotted | None) -> Dotted | None:
    """The lowest driver that would do: for PTX the one that speaks its CUDA in full (nvcc's where that made it)."""
    if not s.evidence.has("ptx-toolchain"):
        return floor(cuda, s.rulebook, windows=s.driver.windows) if cuda else None
    nvcc = re.search(r"release (\d+\.\d+), V", s.evidence.text)
    made = max((c for c in (cuda, Dotted.parse(nvcc[1]) if nvcc else None) if c is not None), default=None)
    row = s.rulebook.toolkit_driver(made) if made else None
    return (row.windows if s.driver.windows else row.linux) if row else None


def _too_old_fixes(s: Situation, cuda: Dotted | None) -> list[Fix]:
    """A newer driver, as far as the card allows one; a build for the present driver."""
    lowest = _lowest(s, cuda)
    last = _last_branch(s)
    where = " on the host" if s.evidence.host.container or s.evidence.has("container-requirement") else ""
    where = " on Windows (not inside WSL)" if s.machine.wsl else where
    fixes = []
    if lowest is None or last is None or (branch_of(lowest, s.rulebook) or 0) <= last:
        limit = f", but not past R{last}, the last for this card" if last else ""
        need = f"to {lowest} or newer" if lowest else "to a newer branch"
        fixes.append(Fix(text=f"update the NVIDIA driver{where} {need}{limit}"))
    if s.torch.known and not s.torch.vendor and s.driver.known:
        fixes += other_build(s, torch=same_version(s), why="which this driver serves")
    elif s.torch.known:
        fixes.append(Fix(text="or take a build for an older CUDA, one that this driver serves"))
    return fixes


def not_loaded(s: Situation) -> Finding | None:
    """A GPU is there and its driver does not answer."""
    e = s.evidence
    shown = e.first(
        "driver-unreachable",
        "module-refused",
        "open-needed",
        "no-handle",
        "error-802",
        "error-999",
        "error-304",
        "all-busy",
    )
    if shown is None and e.has("no-driver", "no-devices", "no-gpus", "nvml-unknown") and not e.host.container:
        shown = e.first("no-devices", "nvml-unknown") or (e.first("no-driver") if _gpu_is_there(s) else None)
    if shown is None and _nouveau(s):
        shown = e.first("nouveau")
    if shown is None or _only_permission(s):
        return None
    headline, fixes = _why_not_loaded(s)
    return Finding(
        code="driver-not-reachable",
        headline=headline,
        certainty="high" if _gpu_is_there(s) else "medium",
        evidence=(
            *quoted([shown, e.first("module-refused"), e.first("open-needed"), e.first("nouveau")]),
            *facts_of(s),
        ),
        fixes=tuple(fixes),
        missing=() if s.driver.known else (ASK_DRIVER,),
    )


def _gpu_is_there(s: Situation) -> bool:
    return bool(s.machine.gpus) or s.machine.vendor == "nvidia" or _nouveau(s)


def _nouveau(s: Situation) -> bool:
    """Whether the open driver of Mesa holds the card."""
    text = s.evidence.text
    return bool(re.search(r"driver in use: nouveau|nouveau\s+\d+ +\d|\bnouveau\b.{0,40}(?:loaded|in use|driver)", text))


def _only_permission(s: Situation) -> bool:
    return s.evidence.has("no-permission") and not s.evidence.has("driver-unreachable", "module-refused")


def _why_not_loaded(s: Situation) -> tuple[str, list[Fix]]:
    """The headline and the ways out of the special cases, then the general one."""
    e = s.evidence
    if e.has("open-needed"):
        return (
            "the GPU needs the open kernel modules, the proprietary ones are installed",
            [Fix(text="install the open flavour of the same driver (its package name ends in -open), then reboot")],
        )
    if e.has("error-802"):
        return (
            "the GPUs wait for the fabric manager (NVSwitch): the driver says that the system is not yet initialised",
            [
                Fix(
                    text="start the fabric manager, of exactly the driver's version",
                    commands=("sudo systemctl enable --now nvidia-fabricmanager", "nvidia-smi -q | grep -A2 Fabric"),
                )
            ],
        )
    if _nouveau(s) and not e.has("module-refused"):
        return (
            "the GPU is held by nouveau, the NVIDIA driver is not in use",
            [Fix(text="install the distribution's NVIDIA driver package, which switches nouveau off, then reboot")],
        )
    if e.has("module-refused"):
        return "the NVIDIA kernel module cannot be loaded", [_module_fix(s)]
    if e.has("no-handle"):
        return (
            "the GPU does not answer the driver (lost)",
            [
                Fix(
                    text="shut down and start again; if it comes back, look at power, slot and `dmesg | grep -i xid`",
                    commands=("sudo dmesg | grep -i -E 'NVRM|xid'",),
                )
            ],
        )
    if e.has("error-999", "error-304", "init-failed"):
        return (
            "the driver's compute part does not answer (often after a suspend, or nvidia_uvm is not loaded)",
            [
                Fix(
                    text="load the module anew, or reboot",
                    commands=("sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm",),
                )
            ],
        )
    if e.has("all-busy"):
        return (
            "the GPU is held by another program, or its compute mode forbids a second one",
            [
                Fix(
                    text="see who uses it and which compute mode it is in",
                    commands=("nvidia-smi -q -d COMPUTE", "nvidia-smi"),
                )
            ],
        )
    return (
        "the NVIDIA driver is not loaded",
        [
            Fix(
                text="reboot; if it stays, the module was not built for the running kernel: install the driver package (and "
                "the kernel headers) anew",
                commands=("uname -r", "dkms status", "sudo modprobe nvidia"),
            )
        ],
    )


def _module_fix(s: Situation) -> Fix:
    """By the reason that modprobe or dkms gave."""
    text = s.evidence.text.lower()
    if "key was rejected" in text or "required key" in text or "unsigned module" in text or "secure boot" in text:
        return Fix(
            text="Secure Boot refuses the unsigned module: enrol its key, or switch Secure Boot off in the firmware",
            commands=("mokutil --sb-state", "sudo update-secureboot-policy --enroll-key"),
        )
    return Fix(
        text="the module is missing for the running kernel: install its headers, build the module, reboot",
        commands=("sudo apt install linux-headers-$(uname -r)", "sudo dkms autoinstall", "sudo modprobe nvidia"),
    )
