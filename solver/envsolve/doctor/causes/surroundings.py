"""What lies between the GPU and the program: containers, WSL, guests, masks."""

from __future__ import annotations

import re

from envsolve.doctor.evidence import Command
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.fixes import ASK_GPU
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import facts_of, gpu_words, quoted
from envsolve.machine.visible import visible

_NO_GPU_SEEN = (
    "no-driver", "no-gpus", "ngc-no-driver", "libcuda-missing", "dev-nvidia-missing", "nvml-init", "cuda-unavailable",
    "nvml-unknown", "not-compiled",
)  # fmt: skip
_RUN_WITH_GPU = Fix(
    text="start the container with the GPU; the host needs its driver and the NVIDIA Container Toolkit, nothing more",
    commands=("docker run --rm --gpus all IMAGE nvidia-smi",),
)
_TOOLKIT = Fix(
    text="install the NVIDIA Container Toolkit on the host, let it configure Docker, restart Docker",
    commands=(
        "sudo apt install nvidia-container-toolkit",
        "sudo nvidia-ctk runtime configure --runtime=docker",
        "sudo systemctl restart docker",
    ),
)


def not_passed(s: Situation) -> Finding | None:
    """A container, WSL or guest that does not get the GPU."""
    return _docker_refuses(s) or _container_without(s) or _wsl(s) or _guest(s)


def _docker_refuses(s: Situation) -> Finding | None:
    """Docker itself says that it cannot hand the GPU on."""
    e = s.evidence
    shown = e.first("docker-no-runtime", "k8s-no-gpu")
    cli = e.first("container-cli")
    if shown is None and cli is not None and not re.search(r"requirement|mismatch", cli.text):
        shown = cli
    if shown is None:
        return None
    if re.search(r"driver not loaded|driver error|driver rpc error", shown.text) and not s.machine.wsl:
        return Finding(
            code="driver-not-reachable",
            headline="the host's NVIDIA driver is not loaded, so that no container gets it",
            certainty="high",
            evidence=tuple(quoted([shown])),
            fixes=(
                Fix(text="make nvidia-smi work on the host first", commands=("nvidia-smi", "sudo modprobe nvidia")),
            ),
        )
    return _passing(s, "the container runtime cannot hand on the GPU", [shown.text], [_TOOLKIT, _RUN_WITH_GPU])


def _container_without(s: Situation) -> Finding | None:
    """A container that was started without the GPU."""
    e = s.evidence
    shown = e.first(*_NO_GPU_SEEN)
    missing_smi = any(p.code in ("no-driver", "driver-not-loaded") for p in s.machine.problems)
    if not e.host.container or not (shown or missing_smi or e.torch.available is False):
        return None
    if s.torch.accelerator in ("cpu", "rocm", "xpu") and not e.has("ngc-no-driver"):
        return None
    lost = e.has("nvml-unknown")
    run = _run_without_gpu(s)
    if run is None and not (lost or e.has("ngc-no-driver", "libcuda-missing", "dev-nvidia-missing") or (missing_smi and shown)
                            or _inside_sees_nothing(s)):  # fmt: skip
        return None
    headline = "the container was started without the GPU"
    fixes = [_RUN_WITH_GPU]
    if lost:
        headline = "the running container lost its GPU: the host took the device files away"
        fixes = [Fix(text="start the container anew; to keep it from happening again hand the devices on by CDI, or set "
                          "Docker's cgroup driver to cgroupfs", commands=("docker restart CONTAINER",))]  # fmt: skip
    return _passing(s, headline, [*quoted([shown]), *([run.text] if run else [])], fixes)


def _inside_sees_nothing(s: Situation) -> bool:
    """No driver in the container while the host shows one."""
    return (
        s.evidence.has("no-driver", "no-gpus")
        and s.torch.accelerator == "cuda"
        and s.evidence.environment.get("CUDA_VISIBLE_DEVICES") is None
    )


def _run_without_gpu(s: Situation) -> Command | None:
    """The last `docker run` if it asks for no GPU."""
    runs = [c for c in s.evidence.commands if c.tool == "docker" and c.verb in ("run", "exec", "build", "up", "start")]
    if not runs:
        return None
    asks = re.search(
        r"--gpus|--runtime[= ]nvidia|--device[= ](?:nvidia|/dev/nvidia)|nvidia-docker|deploy:|--nv\b", runs[-1].text
    )
    return None if asks else runs[-1]


def _wsl(s: Situation) -> Finding | None:
    """WSL without a way to the Windows driver."""
    e = s.evidence
    if not s.machine.wsl:
        return None
    shown = e.first(
        "os-blocked", "no-driver", "libcuda-missing", "dev-dxg-missing", "wsl-dxg", "driver-unreachable", "no-gpus",
        "error-304", "error-999", "nvml-unknown",
    )  # fmt: skip
    if shown is None or s.torch.accelerator == "cpu":
        return None
    linux_driver = e.first("linux-driver-in-wsl")
    if linux_driver:
        headline = "a Linux NVIDIA driver inside WSL stands in the way of the Windows driver"
        fix = Fix(
            text="remove every NVIDIA driver package inside WSL: the Windows driver is passed in, with its libcuda in /usr/lib/wsl/lib",
            commands=("sudo apt purge 'nvidia-driver-*' 'libnvidia-compute-*'", "wsl --shutdown"),
        )
    elif re.search(r"\bWSL ?1\b|-Microsoft\b|(?m:(?:Running|Stopped)\s+1\s*$)|\bWSL version 1\b", e.text):
        headline = "WSL 1 has no GPU: only WSL 2 passes it in"
        fix = Fix(text="turn the distribution into WSL 2", commands=("wsl --set-version DISTRIBUTION 2",))
    else:
        headline = "WSL does not get the GPU from Windows"
        fix = Fix(
            text="update the NVIDIA driver on Windows and WSL itself, then restart it; never install a Linux driver inside",
            commands=("wsl --update", "wsl --shutdown"),
        )
    return _passing(s, headline, quoted([shown, linux_driver]), [fix])


def _guest(s: Situation) -> Finding | None:
    """A virtual machine to which the card was not passed through."""
    e = s.evidence
    shown = e.first("no-driver", "no-gpus", "driver-unreachable", "no-devices", "cuda-unavailable")
    if not e.host.virtual or e.host.vgpu or not (shown or e.torch.available is False):
        return None
    if s.torch.accelerator == "cpu" or (s.machine.gpus and s.driver.known):
        return None
    fix = Fix(text="pass the card through to the guest (PCI passthrough or vGPU), or run on the host")
    return _passing(s, "the virtual machine does not get the GPU of its host", quoted([shown]), [fix])


def _passing(s: Situation, headline: str, lines: list[str], fixes: list[Fix]) -> Finding:
    return Finding(
        code="gpu-not-passed-through",
        headline=headline,
        certainty="high",
        evidence=tuple(dict.fromkeys([*lines, *facts_of(s)])),
        fixes=tuple(fixes),
        fine=("torch itself is not to blame",),
    )


def masked(s: Situation) -> Finding | None:
    """A mask that leaves no GPU, or not the one that is asked for."""
    e = s.evidence
    failing = e.torch.available is False or e.torch.count == 0 or e.has(
        "no-gpus", "bad-ordinal", "cuda-unavailable", "cuda-state-dict", "no-driver", "no-devices"
    )  # fmt: skip
    shown = _hiding_mask(s)
    if shown is None or not failing or e.torch.computed or s.torch.accelerator in ("cpu", "xpu"):
        return None
    name, value, what = shown
    other = "unset it, or name a GPU that is there" if value not in ("", "-1") else "unset it, or set it to 0"
    return Finding(
        code="gpu-hidden",
        headline=f"{name}={value!r} {what}",
        certainty="high",
        evidence=(
            f"{name}={value}",
            *quoted([e.first("no-gpus", "bad-ordinal", "cuda-unavailable", "no-driver")]),
            *facts_of(s),
        ),
        fixes=(Fix(text=f"{other}, before the program starts", commands=(f"unset {name}",)),),
        fine=("driver and torch are not to blame",),
    )


def _hiding_mask(s: Situation) -> tuple[str, str, str] | None:
    """(variable, value, what it does) of a mask that hides what is wanted."""
    environment = s.evidence.environment
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"):
        value = environment.get(name)
        if value is None or "$" in value or value == "all":
            continue
        if name == "NVIDIA_VISIBLE_DEVICES":
            if value in ("", "void", "none"):
                return name, value, "keeps every GPU out of the container"
        elif value.strip() in ("", "-1") or value.lower() in ("none", "nodevfiles", "no_gpu", "void"):
            return name, value, "hides every GPU"
        elif s.evidence.has("bad-ordinal"):
            return name, value, "leaves fewer GPUs than the program asks for; it counts from 0 within the mask"
        elif not _sees_any(s, value):
            return name, value, "names no GPU of this machine, so that none is visible"
    return None


def _sees_any(s: Situation, value: str) -> bool:
    """Whether a mask leaves a GPU; an index above 0 on a machine whose GPUs nobody listed leaves none as far as known.

    Slices (MIG-…) are listed by nobody here: they count as there.
    """
    if value.startswith("MIG-"):
        return True
    gpus = s.machine.gpus
    if gpus:
        return bool(visible(gpus, value))
    first = value.split(",")[0].strip()
    return not (first.isdecimal() and int(first) > 0)


def job_without_gpu(s: Situation) -> Finding | None:
    """A batch job that asked its scheduler for no GPU."""
    e = s.evidence
    failing = e.first("no-gpus", "no-devices", "no-driver", "cuda-unavailable") or e.torch.available is False
    if not e.has("slurm") or not failing or s.torch.accelerator == "cpu" or _asks_for_gpu(e.text):
        return None
    return Finding(
        code="gpu-hidden",
        headline="the job asked the scheduler for no GPU, which hides them all from it",
        certainty="medium",
        evidence=tuple([*quoted([e.first("slurm"), e.first("no-gpus", "no-devices", "no-driver")]), *facts_of(s)]),
        fixes=(Fix(text="ask for a GPU", commands=("srun --gres=gpu:1 --pty nvidia-smi",)),),
    )


def mig_without_instance(s: Situation) -> Finding | None:
    """MIG is on, and nobody has cut the card into instances: programs see none."""
    e = s.evidence
    shown = e.first("mig-empty")
    if shown is None or not (e.torch.available is False or e.has("no-gpus", "cuda-unavailable", "init-failed")):
        return None
    return Finding(
        code="gpu-hidden",
        headline="MIG is on and has no instances: the card cannot be used as a whole, and there is no slice of it",
        certainty="high",
        evidence=tuple([*quoted([shown, e.first("no-gpus", "init-failed")]), *facts_of(s)]),
        fixes=(
            Fix(
                text="make instances, or switch MIG off",
                commands=("sudo nvidia-smi mig -cgi 0 -C", "sudo nvidia-smi -mig 0"),
            ),
        ),
    )


def _asks_for_gpu(text: str) -> bool:
    return bool(re.search(r"--gres[= ]\S*gpu|--gpus(?:-per-\w+)?[= ]\w", text))


def no_permission(s: Situation) -> Finding | None:
    """nvidia-smi was not allowed to ask: nothing is known of GPU and driver."""
    shown = s.evidence.first("no-permission")
    if shown is None or s.driver.known and not s.machine.gpus:
        return None
    if s.machine.gpus or "/dev/nvidia" in s.evidence.text:
        return Finding(
            code="driver-not-reachable",
            headline="this user may not open the NVIDIA device files",
            certainty="medium",
            evidence=tuple([*quoted([shown]), *facts_of(s)]),
            fixes=(
                Fix(
                    text="join the group that owns them, then log in again",
                    commands=("ls -l /dev/nvidia*", "sudo usermod -aG video $USER"),
                ),
            ),
        )
    how = "run nvidia-smi in a terminal with administrator rights: nvidia-smi --query-gpu=name,driver_version --format=csv"
    return Finding(
        code="unknown",
        headline="neither the GPU nor the driver is known: nvidia-smi was not allowed to ask",
        certainty="medium",
        evidence=(*quoted([shown]), *facts_of(s)),
        missing=(ASK_GPU.__class__(field="gpu", how=how), ASK_GPU.__class__(field="driver", how=how)),
    )
