"""The installed torch: its version, its variant and how that is known, and the build that the rules hold of it."""

from __future__ import annotations

import re

from packaging.version import InvalidVersion, Version

from envsolve.doctor.evidence import Evidence, Installed
from envsolve.dotted import Dotted
from envsolve.record import record, replace
from envsolve.regex import regex
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build

_VARIANT = regex(r"cu\d{2,3}|cpu|xpu|rocm\d+(?:\.\d+)*")
_VENDOR_LABEL = regex(r"^(?:nv[\d.]*|[0-9a-f]{6,10}(?:\.nv[\d.]*)?|git[0-9a-f]{6,}|\w+\.nv\d[\d.]*)$")
_CONDA_CUDA = regex(r"(?:^|_)cuda[_-]?(\d+)\.?(\d)?")
# What only a build with CUDA code says: the default index's CPU build is then not the one.
_ONLY_CUDA = (
    "not-compatible", "supported-list", "gpu-too-old", "capability-range", "no-kernel-image", "driver-old",
    "no-driver", "no-gpus", "out-of-memory", "ptx-toolchain", "error-803", "error-804", "launch-failure",
)  # fmt: skip
_CPUONLY = regex(r"^\s*-\s+cpuonly\b|^\s*cpuonly\s+\d|\b(?:conda|mamba)\b[^\n]* cpuonly\b", re.MULTILINE)
_TOOLKIT = regex(r"\b(?:cudatoolkit|pytorch-cuda)\s?=+\s?(\d+\.\d+)")
_PLATFORMS = ("linux_x86_64", "windows_amd64", "linux_aarch64", "macos_arm64", "macos_x86_64")


@record
class Torch:
    """What is known of the installed torch. `variant` "" = not known; `why` says where it comes from.

    `vendor` = a build of a board or image vendor (NGC, Jetson, a source build): on no index, its kernels not in the
    rules. `build` is what the rules hold of it, with the arch list that it printed itself in place of theirs.
    """

    text: str = ""
    version: Version | None = None
    variant: str = ""
    why: str = ""
    certain: bool = False
    vendor: bool = False
    cuda: Dotted | None = None
    build: Build | None = None
    distributor: str = ""  # "conda" where conda made it
    unlabelled: bool = False  # on macOS, where files carry no label

    @property
    def known(self) -> bool:
        """Whether any torch was seen."""
        return self.version is not None

    @property
    def accelerator(self) -> str:
        """cuda, cpu, rocm, xpu; "" where it is not known."""
        if self.variant.startswith("cu"):
            return "cuda"
        if self.variant:
            return re.split(r"\d", self.variant)[0]
        return "cuda" if self.cuda or self.build is not None else ""

    @property
    def shown(self) -> str:
        """For sentences: "torch 2.9.1+cu130"."""
        if not self.known:
            return "torch"
        label = f"+{self.variant}" if self.variant and "+" not in self.text and not self.unlabelled else ""
        return f"torch {self.text}{label}"


def torch_of(evidence: Evidence, rulebook: Rulebook) -> Torch:
    """The torch of the evidence."""
    row = _row(evidence)
    version = public(row.version) if row else public(evidence.torch.version or "")
    variant, why, certain = _variant(evidence, row, version, rulebook)
    text = row.version if row else evidence.torch.version or ""
    torch = Torch(
        text=text,
        version=version,
        variant=variant,
        why=why,
        certain=certain,
        vendor=bool(_VENDOR_LABEL.match(text.partition("+")[2])) or bool(re.search(r"\da0\+", text)),
        cuda=cuda_of(variant) or _dotted(evidence.torch.cuda),
        distributor="conda" if row and (row.build or row.name == "pytorch") else "",
        unlabelled=evidence.machine.os == "macos" and "os" in evidence.host.known,
    )
    return replace(torch, build=_build(torch, evidence, rulebook))


def _row(evidence: Evidence) -> Installed | None:
    """What is said of torch; conda's list of its pytorch outranks a sentence about torch."""
    torch, pytorch = evidence.installed.get("torch"), evidence.installed.get("pytorch")
    if torch is None or (torch.source == "said" and pytorch is not None and pytorch.source == "listed"):
        return pytorch or torch
    return torch


def public(text: str) -> Version | None:
    """The public version of a text; None where it is no version."""
    try:
        return Version(text.split("+", 1)[0])
    except InvalidVersion:
        return None


def variant_of_label(label: str) -> str:
    """The variant in a local label: "cu118" of "cu118", "cu118" of "cu118.with.pypi.cudnn"; "" in others."""
    match = _VARIANT.match(label)
    return match[0] if match else ""


def variant_of_build(build: str) -> str:
    """The variant in a conda build string: "py3.10_cuda11.8_cudnn8.7.0_0" -> cu118, "py3.9_cpu_0" -> cpu."""
    match = _CONDA_CUDA.search(build)
    if match and (match[2] or len(match[1]) == 3):  # conda cuts long builds: "py3.10_cuda11.~"
        return f"cu{match[1]}{match[2] or ''}"
    return "cpu" if re.search(r"(?:^|_)cpu", build) else ""


def cuda_of(variant: str) -> Dotted | None:
    """The CUDA of a variant: cu118 -> 11.8."""
    match = re.fullmatch(r"cu(\d+)(\d)", variant)
    return Dotted.parse(f"{match[1]}.{match[2]}") if match else None


def variant_of_cuda(cuda: str) -> str:
    """The variant of a CUDA: "11.8", "10.0.130" -> cu118, cu100."""
    return "cu" + "".join(cuda.split(".")[:2])


def default_variant(package_torch: Version, platform: str, rulebook: Rulebook) -> str:
    """What the plain wheel of the default Python index is for this torch; "" where the rules don't say."""
    row = rulebook.pypi_defaults.get(package_torch)
    return (row.variants.get(platform) or "") if row else ""


def _variant(
    evidence: Evidence, row: Installed | None, version: Version | None, rulebook: Rulebook
) -> tuple[str, str, bool]:
    """(variant, where it comes from, whether that is sure)"""
    if named := _said_variant(evidence, row):
        return *named, True
    if row is None or version is None or row.build or row.name == "pytorch" or "+" in row.version:
        return "", "", False
    if (named_by := _of_files(evidence, row.version)) or (named_by := _of_index(evidence)):
        return named_by, "where it was installed from", False
    if named_by := _of_runtime(evidence):
        return named_by, "the CUDA runtime that it requires", False
    if named_by := _of_conda(evidence, row.version):
        return named_by, "what conda was asked for", False
    platform = evidence.machine.platform
    default = default_variant(version, platform, rulebook) if "os" in evidence.host.known else ""
    if default == "cpu" and evidence.has(*_ONLY_CUDA):
        default = ""
    return default, "the default Python index" if default else "", False


def _said_variant(evidence: Evidence, row: Installed | None) -> tuple[str, str] | None:
    """The variant that the version or torch itself names, and where; None where neither does."""
    label = variant_of_label(row.label) if row else ""
    if label:
        return label, "its label"
    if row and (build := variant_of_build(row.build)):
        return build, "conda's build string"
    said = evidence.torch
    if said.hip:
        return f"rocm{'.'.join(said.hip.split('.')[:2])}", "torch.version.hip"
    if said.cuda:
        return variant_of_cuda(said.cuda), "torch.version.cuda"
    if said.cuda == "":
        return "cpu", "torch.version.cuda is None"
    if row is None:
        asked = _CPUONLY.search(evidence.text) and not evidence.has(*_ONLY_CUDA)
        return ("cpu", "what conda was asked for") if asked else None
    return ("cpu", "its own message") if evidence.has("not-compiled") else None


def _of_files(evidence: Evidence, version: str) -> str:
    """The label of the wheel that this version came in."""
    for name in reversed(evidence.files):
        parts = name.split("-")
        if parts[0] == "torch" and parts[1].split("+")[0] == version.split("+")[0]:
            return variant_of_label(parts[1].partition("+")[2])
    return ""


def _of_runtime(evidence: Evidence) -> str:
    """The variant by the CUDA runtime package beside it, which torch's wheels for Linux pin exactly."""
    found = evidence.installed.items()
    cudas = [row.version for name, row in found if re.fullmatch(r"nvidia-cuda-runtime(?:-cu\d+)?", name)]
    if len(cudas) != 1 or evidence.machine.os != "linux":
        return ""
    return variant_of_cuda(".".join(cudas[0].split(".")[:2]))


def _of_conda(evidence: Evidence, version: str) -> str:
    """cpu where conda is given cpuonly; else the variant of the toolkit that stands beside its `pytorch=VERSION`."""
    if _CPUONLY.search(evidence.text) and not evidence.has(*_ONLY_CUDA):
        return "cpu"
    asked = re.search(rf"\bpytorch\s?=+\s?{re.escape(version)}(?![\w.]*\+)", evidence.text)
    toolkit = _TOOLKIT.search(evidence.text)
    return variant_of_cuda(toolkit[1]) if asked and toolkit else ""


def _of_index(evidence: Evidence) -> str:
    """The variant of the only index that the last command for torch was given, whose old files carry no label."""
    for command in reversed(evidence.commands):
        if command.tool in ("pip", "uv") and any(re.match(r"torch\b(?!-)", r) for r in command.requirements):
            tail = command.index[-1].rstrip("/").rsplit("/", 1)[-1] if command.index else ""
            # A label is only left off on aarch64 and on the cpu index for macOS: elsewhere its absence means PyPI.
            return variant_of_label(tail) if evidence.machine.arch != "x86_64" else ""
    return ""


def _dotted(cuda: str | None) -> Dotted | None:
    return Dotted.parse(".".join(cuda.split(".")[:2])) if cuda else None


def _build(torch: Torch, evidence: Evidence, rulebook: Rulebook) -> Build | None:
    """The build of the rules, with the arch list that torch printed; None where neither rules nor torch say enough."""
    said = evidence.torch.targets
    if torch.version is None or not (torch.variant or said):
        return None
    platforms = dict.fromkeys((evidence.machine.platform, *(() if "os" in evidence.host.known else _PLATFORMS)))
    held = None
    if torch.variant and not torch.vendor:
        held = next((b for p in platforms if (b := rulebook.build(torch.version, torch.variant, p))), None)
    if held is None and (torch.accelerator == "cuda" or not torch.variant):
        held = _unheld(torch, evidence)
    if held is None or not said or held.accelerator != "cuda":
        return held
    return replace(
        held,
        sm=tuple(t for t in said if t.kind == "sm"),
        ptx=tuple(t for t in said if t.kind == "compute"),
        targets_known=True,
        source="torch.cuda.get_arch_list()",
    )


def _unheld(torch: Torch, evidence: Evidence) -> Build:
    """A build that the rules don't hold: its CUDA is known, its kernels only where it printed them."""
    assert torch.version is not None
    return Build(
        torch=torch.version,
        variant=torch.variant,
        platform=evidence.machine.platform,
        accelerator="cuda",
        cuda=torch.cuda,
        sm=(),
        ptx=(),
        targets_known=False,
        python=(Dotted.parse("3.0"), Dotted.parse("3.99")),
        freethreaded=(),
        glibc_min=None,
        local_tag=True,
        advertised=False,
        folder=torch.variant,
        certainty="low",
        source="the report",
    )
