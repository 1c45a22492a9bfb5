"""Between host and program: a container, WSL or a guest that does not get the GPU."""

from __future__ import annotations

import re
from collections.abc import Iterable

from envsolve.doctor.causes.driver_loading import no_libcuda
from envsolve.doctor.evidence import Command, Symptom
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import quoted
from envsolve.doctor.write import finding, fix
from envsolve.record import replace
from envsolve.regex import regex
from envsolve.rulebook.tables import Certainty

_NO_GPU_SEEN = (
    "no-driver", "no-gpus", "ngc-no-driver", "libcuda-missing", "dev-nvidia-missing", "nvml-init", "cuda-unavailable",
    "nvml-unknown", "not-compiled", "smi-not-mounted",
)  # fmt: skip
# A step of a build that did not complete and asks for a GPU.
_BUILD_ASKS = regex(
    r"failed to solve: process [^\n]*(?:cuda\.(?:is_available|get_device|init)|nvidia-smi)[^\n]*did not complete"
)
_AT_START = fix(
    "look for the GPU when the container starts, not while it is built; what is compiled in a build needs "
    "TORCH_CUDA_ARCH_LIST instead",
    "docker run --rm --gpus all IMAGE nvidia-smi",
)
_CAPABILITIES = fix(
    "hand on the driver's compute part as well",
    "docker run --rm --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE nvidia-smi",
)
_SURE = ("smi-not-mounted", "ngc-no-driver", "smi-no-libcuda", "libcuda-missing", "dev-nvidia-missing", "nvml-unknown")
_IN_WSL = (
    "os-blocked", "no-driver", "libcuda-missing", "dev-dxg-missing", "wsl-dxg", "driver-unreachable", "no-gpus",
    "error-304", "error-999", "nvml-unknown", "wsl-lib-missing", "init-failed",
)  # fmt: skip
_ASKS_FOR_GPU = regex(
    r"--gpus|--runtime[= ]nvidia|--device[= ](?:nvidia|/dev/nvidia)|nvidia-docker|deploy:|--nv\b|--rocm\b"
)
_DXG_LIBRARY = "libnvdxgdmal.so.1"
_HOSTED = regex(r"\bColab\b|\bKaggle\b|\bSageMaker\b|\bPaperspace\b", re.IGNORECASE)
_WSL_1 = regex(r"\bWSL ?1\b|-Microsoft\b|(?:Running|Stopped)\s+1\s*$|\bWSL version 1\b", re.MULTILINE)
_MAC = regex(r"\bMacBook\b|\bMac (?:mini|Studio|Pro)\b|\bmacOS\b|\bM[1-5] [Mm]ac\b|Apple [Ss]ilicon")
_HOST_DRIVER = regex(r"driver not loaded|driver error|driver rpc error")
_RUN_WITH_GPU = fix(
    "start the container with the GPU; the host needs its driver and the NVIDIA Container Toolkit, nothing more",
    "docker run --rm --gpus all IMAGE nvidia-smi",
)
_COMPOSE = "deploy: {resources: {reservations: {devices: [{driver: nvidia, count: all, capabilities: [gpu]}]}}}"
_TOOLKIT = fix(
    "install the NVIDIA Container Toolkit on the host, let it configure Docker, restart Docker",
    "sudo apt install nvidia-container-toolkit",
    "sudo nvidia-ctk runtime configure --runtime=docker",
    "sudo systemctl restart docker",
)
_ANEW = fix(
    "start the container anew; to keep it from happening again hand the devices on by CDI, or set Docker's cgroup "
    "driver to cgroupfs",
    "docker restart CONTAINER",
)
_NOT_LINUX_DRIVER = fix(
    "remove every NVIDIA driver package inside WSL: the Windows driver is passed in, with its libcuda in "
    "/usr/lib/wsl/lib",
    "sudo apt purge 'nvidia-driver-*' 'libnvidia-compute-*'",
    "wsl --shutdown",
)


def not_passed(s: Situation) -> Finding | None:
    """A container, WSL or guest that does not get the GPU."""
    return _runtime_refuses(s) or _half_handed_on(s) or _container_without(s) or _wsl(s) or _guest(s) or _hosted(s)


def _runtime_refuses(s: Situation) -> Finding | None:
    """Docker or Kubernetes says itself that it cannot hand the GPU on."""
    shown = s.evidence.first("docker-no-runtime", "k8s-no-gpu")
    cli = s.evidence.first("container-cli")
    if shown is None and cli is not None and not re.search(r"requirement|mismatch", cli.text):
        shown = cli
    if shown is None:
        return None
    if s.machine.os == "macos" or _MAC.search(s.evidence.text):
        headline = "there is no NVIDIA GPU on a Mac: Docker there has none to hand on"
        way = fix("use an image for the CPU, or run outside of Docker, where Apple's GPU is there (mps)")
        return finding(s, "wrong-accelerator", headline, shown=[shown], fixes=[way])
    if shown.name == "k8s-no-gpu":
        return _no_node(s, shown)
    if _HOST_DRIVER.search(shown.text) and not s.machine.wsl:
        headline = "the host's NVIDIA driver is not loaded, so that no container gets it"
        way = fix("make nvidia-smi work on the host first", "nvidia-smi", "sudo modprobe nvidia")
        return finding(s, "driver-not-reachable", headline, shown=[shown], fixes=[way])
    return _passing(s, "the container runtime cannot hand on the GPU", [shown.text], _TOOLKIT, _RUN_WITH_GPU)


def _no_node(s: Situation, shown: Symptom) -> Finding:
    """Kubernetes has no node with a GPU to give."""
    headline = "no node has a GPU to give: they are all taken, or the nodes announce none"
    announced = fix(
        "see what the nodes announce and have given away",
        "kubectl describe nodes | grep -E '^Name:|nvidia.com/gpu'",
    )
    plugin = fix(
        "where they announce none, the device plugin (or the GPU operator) does not run there, or the node's runtime "
        "does not know NVIDIA's",
        "kubectl get pods -A | grep -i -E 'nvidia|gpu'",
    )
    return _passing(s, headline, [shown.text], announced, plugin)


def _half_handed_on(s: Situation) -> Finding | None:
    """A container in WSL whose runtime does not know a library of newer drivers for Windows."""
    shown = s.evidence.first("error-500")
    if shown is None or not (s.machine.wsl or s.evidence.host.container):
        return None
    branch, toolkit, desktop = s.facts.handed_on(_DXG_LIBRARY)
    if s.machine.driver is not None and s.machine.driver < branch:
        return None
    headline = f"the container gets the GPU without {_DXG_LIBRARY}, which drivers for Windows from {branch} on need"
    text = (
        f"update Docker Desktop to {desktop} or newer, or the NVIDIA Container Toolkit inside WSL to {toolkit} or newer"
    )
    found = _passing(s, headline, quoted([shown]), fix(text, "nvidia-ctk --version"))
    return replace(found, certainty="high" if s.evidence.host.container and s.machine.driver else "medium")


def _container_without(s: Situation) -> Finding | None:
    """A container that was started without the GPU, or has lost it."""
    e = s.evidence
    shown = e.first(*_NO_GPU_SEEN)
    no_smi = any(p.code in ("no-driver", "driver-not-loaded") for p in s.machine.problems)
    blind = shown or no_smi or e.torch.available is False or _BUILD_ASKS.search(e.text)
    if not (e.host.container and blind):
        return None
    if s.torch.accelerator in ("cpu", "rocm", "xpu") and not e.has("ngc-no-driver"):
        return None
    if built := _BUILD_ASKS.search(e.text):
        headline = "docker build gives no GPU to its steps: what looks for one fails there"
        return _passing(s, headline, [built[0].strip()], _AT_START)
    run = _run_without_gpu(s) or _told_run(s)
    if run is None and not (e.has(*_SURE) or (no_smi and shown) or _sees_nothing(s)):
        return None
    if absent := no_libcuda(s):
        headline = "the container gets the GPU without the CUDA part of the driver: there is no libcuda"
        return _passing(s, headline, quoted([absent]), _CAPABILITIES)
    if e.has("nvml-unknown"):
        headline = "the running container lost its GPU: the host took the device files away"
        return _passing(s, headline, quoted([shown]), _ANEW)
    lines = [*quoted([shown]), *([run.text] if run else [])]
    return _passing(s, "the container was started without the GPU", lines, _with_gpu(s, run))


def _with_gpu(s: Situation, run: Command | None) -> Fix:
    """How the program that started the container hands the GPU on."""
    words = run.text if run else s.evidence.text
    if tool := re.search(r"\b(apptainer|singularity)\b", words):
        return fix("start it with --nv, which binds the host's driver in", f"{tool[1]} exec --nv IMAGE nvidia-smi")
    if re.search(r"\bpodman\b", words):
        text = "hand the GPU on by CDI; the host needs its driver and the NVIDIA Container Toolkit, nothing more"
        return fix(text, "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
                   "podman run --rm --device nvidia.com/gpu=all IMAGE nvidia-smi")  # fmt: skip
    if re.search(r"compose\.ya?ml|docker[ -]compose|^services:", words, re.MULTILINE):
        text = (
            "reserve the GPU for the service in the compose file; the host needs its driver and the Container Toolkit"
        )
        return fix(text, _COMPOSE, "docker compose up --force-recreate")
    return _RUN_WITH_GPU


def _sees_nothing(s: Situation) -> bool:
    """A CUDA build inside, no driver seen, and no mask that would explain it."""
    e = s.evidence
    if e.environment.get("CUDA_VISIBLE_DEVICES") is not None:
        return False
    # A CPU build never looks for a driver: "no driver" alone tells a CUDA build; that the host has one, or a card, must
    # be said.
    cuda = s.torch.accelerator == "cuda" or (e.has("no-driver") and (s.driver.known or bool(s.machine.gpus)))
    return cuda and e.has("no-driver", "no-gpus")


def _run_without_gpu(s: Situation) -> Command | None:
    """The last `docker run` if it asks for no GPU."""
    verbs = ("run", "exec", "shell", "build", "up", "start")
    runs = [c for c in s.evidence.commands if c.tool == "docker" and c.verb in verbs]
    return runs[-1] if runs and not _ASKS_FOR_GPU.search(runs[-1].text) else None


def _told_run(s: Situation) -> Command | None:
    """A `docker run` in the middle of a sentence, if it asks for no GPU."""
    if any(c.tool == "docker" for c in s.evidence.commands):
        return None
    found = re.search(r"\b(?:docker|podman) run [^\n]+", s.evidence.text)
    if found is None or _ASKS_FOR_GPU.search(found[0]):
        return None
    return Command(tool="docker", verb="run", text=found[0], line=0)


def _wsl(s: Situation) -> Finding | None:
    """WSL without a way to the Windows driver."""
    e = s.evidence
    shown = e.first(*_IN_WSL) or (e.first("linux-driver-in-wsl") if e.torch.available is False else None)
    if not s.machine.wsl or shown is None or s.torch.accelerator == "cpu":
        return None
    linux_driver = e.first("linux-driver-in-wsl")
    lines = quoted([shown, linux_driver])
    if linux_driver:
        headline = "a Linux NVIDIA driver inside WSL stands in the way of the Windows driver"
        return _passing(s, headline, lines, _NOT_LINUX_DRIVER)
    if _WSL_1.search(e.text):
        way = fix("turn the distribution into WSL 2", "wsl --set-version DISTRIBUTION 2")
        return _passing(s, "WSL 1 has no GPU: only WSL 2 passes it in", lines, way)
    text = "update the NVIDIA driver on Windows and WSL itself, then restart it; never install a Linux driver inside"
    return _passing(s, "WSL does not get the GPU from Windows", lines, fix(text, "wsl --update", "wsl --shutdown"))


def _guest(s: Situation) -> Finding | None:
    """A virtual machine to which the card was not passed through."""
    e = s.evidence
    shown = e.first("no-driver", "no-gpus", "driver-unreachable", "no-devices", "cuda-unavailable")
    if not (e.host.virtual and e.host.gpu_claimed) or e.host.vgpu or not (shown or e.torch.available is False):
        return None
    if s.torch.accelerator == "cpu" or (s.machine.gpus and s.driver.known):
        return None
    way = fix("pass the card through to the guest (PCI passthrough or vGPU), or run on the host")
    return _passing(s, "the virtual machine does not get the GPU of its host", quoted([shown]), way)


def _hosted(s: Situation) -> Finding | None:
    """A notebook of a service, on a machine without a GPU."""
    e = s.evidence
    no_smi = any(problem.code == "no-driver" for problem in s.machine.problems)
    blind = e.torch.available is False or e.has("no-driver", "no-gpus", "cuda-unavailable")
    if not (_HOSTED.search(e.text) and no_smi and blind) or s.torch.accelerator == "cpu":
        return None
    way = fix("choose a runtime or accelerator with a GPU in the notebook's settings; drivers come with it")
    return _passing(s, "the notebook runs on a machine without a GPU", [], way)


def _passing(s: Situation, headline: str, lines: Iterable[str], *ways: Fix) -> Finding:
    fine = ["torch itself is not to blame"]
    # From inside nothing tells whether there is a GPU outside.
    sure: Certainty = "medium" if s.evidence.live and not s.machine.gpus else "high"
    return finding(s, "gpu-not-passed-through", headline, more=lines, fixes=ways, fine=fine, certainty=sure)
