"""A driver that does not answer: kernel and library apart, not loaded, of the wrong kind, not allowed."""

from __future__ import annotations

import re
import shlex

from envsolve.doctor.evidence import Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import ASK_DRIVER
from envsolve.doctor.situation import Situation
from envsolve.doctor.write import finding, fix
from envsolve.regex import regex
from envsolve.resolve.plan import Missing

_REBOOT = fix(
    "reboot, so that kernel module and libraries are of one version again; if it stays, install the driver anew from "
    "one source only",
    "sudo reboot",
)
_COMPAT = fix(
    "take the cuda-compat libraries out of the loader's way (LD_LIBRARY_PATH, /etc/ld.so.conf.d): they serve "
    "data-centre GPUs only, and no driver that is newer than they are",
    "echo $LD_LIBRARY_PATH",
    "ldconfig -p | grep libcuda",
)
_STUBS = fix("take the stubs folder out of LD_LIBRARY_PATH: it is for linking only", "echo $LD_LIBRARY_PATH")
_HOST = fix("reboot the host, then start the container anew: it takes its libraries from the host")
_SILENT = (
    "driver-unreachable", "module-refused", "open-needed", "no-handle", "error-802", "error-999", "error-304",
    "all-busy", "init-failed",
)  # fmt: skip
_NOUVEAU = regex(
    r"driver in use: nouveau|driver[:=] ?nouveau|nouveau\s+\d+\s+\d|\bnouveau\b.{0,40}(?:loaded|in use|driver)",
    re.IGNORECASE,
)
_SECURE_BOOT_ON = regex(r"SecureBoot enabled|Secure Boot (?:is )?(?:on\b|enabled|active)", re.IGNORECASE)
_SECURE_BOOT = regex(r"key was rejected|required key|unsigned module|secure ?boot", re.IGNORECASE)


def library_mismatch(s: Situation) -> Finding | None:
    """Kernel module and user-space driver of different versions, or a libcuda that is not the driver's own."""
    e = s.evidence
    if damaged := e.first("libcuda-damaged"):
        return _damaged(s, damaged)
    forward, stub = e.first("error-804"), e.first("stub-library")
    shown = e.first("nvml-mismatch", "api-mismatch", "error-803") or forward or stub
    if shown is None:
        return None
    headline = "the NVIDIA kernel module and the user-space driver libraries are of different versions"
    fixes = [_COMPAT, _REBOOT] if forward or e.has("compat-libs") else [_REBOOT]
    if shown is forward:
        headline = "a cuda-compat libcuda is loaded that does not go with this GPU and driver"
    elif shown is stub:
        headline, fixes = "the toolkit's stub libcuda is loaded in place of the driver's own", [_STUBS]
    elif e.host.container:
        fixes.append(_HOST)
    fine = ["torch itself is not to blame"]
    return finding(s, "driver-library-mismatch", headline, shown=[shown], fixes=fixes, fine=fine)


def _damaged(s: Situation, shown: Symptom) -> Finding:
    """A libcuda that the loader finds and can't load."""
    path = shown.get("path")
    folder = path.rpartition("/")[0]
    before = s.evidence.environment.get("LD_LIBRARY_PATH", "").split(":")
    kept = [place for place in before if place.rstrip("/") != folder]
    if kept != before:
        value = shlex.quote(":".join(kept))
        way = fix(
            f"take {folder} out of LD_LIBRARY_PATH, where it is set",
            f"export LD_LIBRARY_PATH={value}" if kept else "unset LD_LIBRARY_PATH",
        )
    else:
        way = fix(
            "see whose file it is: remove one that no package owns, else install the driver's libraries anew",
            f"dpkg -S {path} || rpm -qf {path}",
        )
    headline = f"a libcuda that can't be loaded stands in for the driver's own: {path} ({shown.get('why')})"
    fine = ["torch itself is not to blame"]
    return finding(s, "driver-library-mismatch", headline, shown=[shown], fixes=[way], fine=fine)


def not_loaded(s: Situation) -> Finding | None:
    """A GPU is there and its driver does not answer."""
    e = s.evidence
    shown = e.first(*_SILENT)
    if shown is None and not e.host.container:
        shown = e.first("no-devices", "nvml-unknown") or (e.first("no-driver") if _gpu_is_there(s) else None)
    if shown is None and not e.host.container and (e.torch.available is False or e.has("no-driver", "no-gpus")):
        shown = no_libcuda(s)
    if shown is None and _nouveau(s):
        shown = e.first("nouveau")
    if shown is None:
        return _not_installed(s)
    headline, way = _why(s)
    return finding(
        s,
        "driver-not-reachable",
        headline,
        shown=[shown, e.first("module-refused"), e.first("open-needed"), e.first("nouveau")],
        fixes=[way],
        certainty="high" if _gpu_is_there(s) else "medium",
        missing=() if s.driver.known else (ASK_DRIVER,),
    )


def _not_installed(s: Situation) -> Finding | None:
    """A card on the bus, no nvidia-smi, and a CUDA build that finds nothing."""
    absent = any(problem.code == "no-driver" for problem in s.machine.problems)
    outside = not (s.evidence.host.container or s.machine.wsl or s.driver.known)
    blind = s.evidence.torch.available is False or s.evidence.has("no-driver", "no-gpus", "cuda-unavailable")
    if not (absent and outside and blind and s.machine.gpus) or s.torch.accelerator != "cuda":
        return None
    way = fix("install the distribution's NVIDIA driver package, then reboot; a CUDA toolkit is not needed")
    headline = "the card is there, no NVIDIA driver is installed"
    return finding(s, "driver-not-reachable", headline, fixes=[way], certainty="medium", missing=[ASK_DRIVER])


def no_libcuda(s: Situation) -> Symptom | None:
    """The line that shows a driver whose CUDA part is missing: nvidia-smi and NVML answer, libcuda is not there."""
    e = s.evidence
    live = e.first("libcuda-missing") if e.live and s.driver.known and s.machine.gpus else None
    return e.first("smi-no-libcuda") or live


def _gpu_is_there(s: Situation) -> bool:
    return bool(s.machine.gpus) or s.machine.vendor == "nvidia" or _nouveau(s)


def _nouveau(s: Situation) -> bool:
    """Whether the open driver of Mesa holds the card."""
    return bool(_NOUVEAU.search(s.evidence.text))


def _why(s: Situation) -> tuple[str, Fix]:
    """The headline and the way out: the special cases first."""
    e = s.evidence
    if e.has("open-needed"):
        text = "install the open flavour of the same driver (its package name ends in -open), then reboot"
        return "the GPU needs the open kernel modules, the proprietary ones are installed", fix(text)
    if e.has("module-refused"):
        return "the NVIDIA kernel module cannot be loaded", _module(s)
    if e.has("error-802"):
        return (
            "the GPUs wait for the fabric manager (NVSwitch): the driver says that the system is not yet initialised",
            fix(
                "start the fabric manager, of exactly the driver's version",
                "sudo systemctl enable --now nvidia-fabricmanager",
                "nvidia-smi -q | grep -A2 Fabric",
            ),
        )
    return _why_silent(s)


def _why_silent(s: Situation) -> tuple[str, Fix]:
    e = s.evidence
    if _nouveau(s):
        text = "install the distribution's NVIDIA driver package, which switches nouveau off, then reboot"
        return "the GPU is held by nouveau, the NVIDIA driver is not in use", fix(text)
    if e.has("no-handle") or "(rev ff)" in e.text:
        text = "shut down and start again; if it comes back, look at power, slot and the Xid messages"
        return "the GPU does not answer the driver (lost)", fix(text, "sudo dmesg | grep -i -E 'NVRM|xid'")
    if e.has("error-999", "error-304", "init-failed"):
        return (
            "the driver's compute part does not answer (often after a suspend, or nvidia_uvm is not loaded)",
            fix("load the module anew, or reboot", "sudo rmmod nvidia_uvm && sudo modprobe nvidia_uvm"),
        )
    if e.has("all-busy"):
        return (
            "the GPU is held by another program, or its compute mode forbids a second one",
            fix("see who uses it and which compute mode it is in", "nvidia-smi -q -d COMPUTE", "nvidia-smi"),
        )
    if no_libcuda(s):
        text = "install the driver's compute libraries too, of the driver's own version (libnvidia-compute on Ubuntu)"
        return "the CUDA part of the driver is missing: there is no libcuda", fix(text, "ldconfig -p | grep libcuda")
    if re.search(r"prime-select (?:intel|on-demand)|\bintel\b[^\n]{0,30}prime-select", e.text):
        text = "switch to the NVIDIA card, then reboot"
        return "the laptop is set to its other graphics chip", fix(text, "sudo prime-select nvidia", "sudo reboot")
    if _SECURE_BOOT_ON.search(e.text):
        return "the NVIDIA driver is not loaded, and Secure Boot is on", _module(s)
    text = (
        "reboot; if it stays, the module was not built for the running kernel: install the kernel headers and the "
        "driver package anew"
    )
    return "the NVIDIA driver is not loaded", fix(text, "uname -r", "dkms status", "sudo modprobe nvidia")


def _module(s: Situation) -> Fix:
    """By the reason that modprobe or dkms gave."""
    if _SECURE_BOOT.search(s.evidence.text):
        text = (
            "Secure Boot refuses the unsigned module: enrol its key, or switch Secure Boot off in the firmware settings"
        )
        return fix(text, "mokutil --sb-state", "sudo update-secureboot-policy --enroll-key")
    return fix(
        "the module is missing for the running kernel: install its headers, build the module, reboot",
        "sudo apt install linux-headers-$(uname -r)",
        "sudo dkms autoinstall",
        "sudo modprobe nvidia",
    )


def libcuda_unseen(s: Situation) -> Finding | None:
    """The driver answers, and the loader finds no libcuda where it looks."""
    shown = s.evidence.first("libcuda-missing")
    elsewhere = s.evidence.live or s.evidence.host.container or s.machine.wsl  # told by other causes
    if shown is None or not s.driver.known or elsewhere:
        return None
    nix = re.search(r"\bnixos\b|/nix/store", s.evidence.text, re.IGNORECASE)
    if nix:
        text = "NixOS keeps it where only its own programs look: name the folder to others"
        way = fix(text, "export LD_LIBRARY_PATH=/run/opengl-driver/lib")
    else:
        text = "see whether it is installed: let the loader read its folder, or install the driver's compute libraries"
        way = fix(text, "find / -name 'libcuda.so*' 2>/dev/null", "sudo ldconfig", "ldconfig -p | grep libcuda")
    headline = "the driver answers, and its libcuda.so.1 is not where programs look for it"
    return finding(s, "driver-not-reachable", headline, shown=[shown], fixes=[way], certainty="medium")


def unlicensed(s: Situation) -> Finding | None:
    """A vGPU without its licence stops to compute after a while."""
    shown = s.evidence.first("vgpu-unlicensed")
    failing = s.is_failing or "CUDA error" in s.evidence.text
    if shown is None or not failing:
        return None
    way = fix("install the client's token of the licence server on the guest", "nvidia-smi -q | grep -i -A2 licen")
    headline = "the vGPU has no licence: its driver slows CUDA down, then refuses it"
    return finding(s, "driver-not-reachable", headline, shown=[shown], fixes=[way], certainty="medium")


def unreadable(s: Situation) -> Finding | None:
    """nvidia-smi gets no readings from the card, and a program fails on it."""
    shown = s.evidence.first("smi-err")
    if shown is None or not (s.is_failing or "CUDA error" in s.evidence.text):
        return None
    headline = "nvidia-smi can't read the card (ERR!): it hangs, or has fallen off the bus"
    text = "shut down and start again; if it comes back, look at power, heat, slot and the Xid messages"
    way = fix(text, "sudo dmesg | grep -i -E 'NVRM|xid'")
    return finding(s, "driver-not-reachable", headline, shown=[shown], fixes=[way], certainty="medium")


def no_xpu(s: Situation) -> Finding | None:
    """A build for Intel's GPUs that finds none."""
    shown = s.evidence.first("xpu-unavailable")
    if shown is None or s.torch.accelerator != "xpu":
        return None
    text = (
        "install Intel's compute runtime (Level Zero, OpenCL) from its graphics packages, with a kernel that knows the "
        "card; join the group render"
    )
    way = fix(text, "clinfo -l", "ls -l /dev/dri", "sudo usermod -aG render $USER")
    if s.machine.os == "windows":
        way = fix("install Intel's current graphics driver for Windows, and restart")
    headline = f"{s.torch.shown} finds no Intel GPU: its driver part for computing does not answer"
    return finding(s, "driver-not-reachable", headline, shown=[shown], fixes=[way], certainty="medium")


def no_kfd(s: Situation) -> Finding | None:
    """AMD's device files belong to groups that this user is not in."""
    shown = s.evidence.first("kfd-permission")
    if shown is None:
        return None
    join = fix(
        "join the groups that own them, then log in again; in a container hand them in as well",
        "sudo usermod -aG render,video $USER",
        "docker run --device /dev/kfd --device /dev/dri --group-add video IMAGE rocminfo",
    )
    headline = "this user may not open AMD's device files (/dev/kfd, /dev/dri)"
    return finding(s, "driver-not-reachable", headline, shown=[shown], fixes=[join])


def no_permission(s: Situation) -> Finding | None:
    """nvidia-smi was not allowed to ask: nothing is known of GPU and driver, or only this user is kept out."""
    shown = s.evidence.first("no-permission")
    if shown is None:
        return None
    if s.machine.gpus or "/dev/nvidia" in s.evidence.text:
        group = fix(
            "join the group that owns them, then log in again", "ls -l /dev/nvidia*", "sudo usermod -aG video $USER"
        )
        headline = "this user may not open the NVIDIA device files"
        return finding(s, "driver-not-reachable", headline, shown=[shown], fixes=[group], certainty="medium")
    if s.driver.known:
        return None
    how = "in a terminal with administrator rights: nvidia-smi --query-gpu=name,driver_version --format=csv"
    headline = "neither the GPU nor the driver is known: nvidia-smi was not allowed to ask"
    missing = [Missing(field=field, how=how) for field in ("gpu", "driver")]
    return finding(s, "unknown", headline, shown=[shown], certainty="medium", missing=missing)
