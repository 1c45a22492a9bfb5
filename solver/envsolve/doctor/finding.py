"""Finding: the one cause that the doctor names, why, and the way out."""

from __future__ import annotations

from typing import Literal

from envsolve.record import record
from envsolve.resolve.plan import Missing
from envsolve.rulebook.tables import Certainty

Status = Literal["healthy", "ill", "unknown"]

# The codes of the contract and what each means; the docs list them from here.
CODES: dict[str, str] = {
    "ok": "the set fits the machine, nothing to do",
    "harmless-warning": "something is printed or superfluous, nothing is wrong",
    "unknown": "a fact that decides is not known; `missing` names it",
    "no-kernels": "the torch build, or a library of it, has no code for a GPU in use",
    "cpu-build": "torch is the CPU build though a GPU is to be used",
    "build-replaced": "a later install put another torch in place of the right one",
    "variant-mismatch": "the versions belong together, the builds do not",
    "companion-mismatch": "torchvision, torchaudio or a pinned library has a version that is not this torch's",
    "driver-too-old": "the driver cannot serve the CUDA of the build",
    "driver-too-new": "the driver branch has dropped the GPU",
    "driver-library-mismatch": "kernel module and user-space driver do not go together",
    "driver-not-reachable": "a GPU is there, the driver is not loaded, not usable or of the wrong kind",
    "gpu-hidden": "a mask (CUDA_VISIBLE_DEVICES and the like) hides the GPU",
    "gpu-not-passed-through": "the host has the GPU, a container, WSL or guest does not get it",
    "wrong-accelerator": "the build is for another accelerator",
    "vendor-index-needed": "only the vendor's builds serve this board",
    "python-unsupported": "that release has no file for this Python",
    "no-wheel": "name, version or label exists for no one, or not for this platform",
    "platform-unsupported": "no wheels for this C library, system or processor",
    "numpy-below-2": "torch was built for NumPy 1, NumPy 2 is installed",
    "damaged-install": "files, a required package or the Python itself are missing, or closed to this user",
    "shadowed-torch": "another torch than the one installed here is imported",
    "foreign-extension": "torch fits, a third-party CUDA extension does not",
    "index-problem": "an index, its metadata, a hash, a mirror or a channel is at fault",
    "not-torch": "the trouble is a package or program outside the torch set",
}
LIVE_ONLY = ("damaged-install",)  # what no pasted text shows
_HEALTHY = ("ok", "harmless-warning")
# Where the cause lies outside the environment, so that a new one would be as ill.
_ELSEWHERE = (
    "driver-too-new", "driver-library-mismatch", "driver-not-reachable", "gpu-hidden", "gpu-not-passed-through",
    "vendor-index-needed", "not-torch", "unknown",
)  # fmt: skip


@record
class Fix:
    """One way out: what to do, and the commands that do it (may be none)."""

    text: str
    commands: tuple[str, ...] = ()


@record
class Finding:
    """The answer: a code of `CODES`, one headline, the lines that show it, ways out best first, what is fine.

    `missing` names what would settle it; an unknown always names something; `elsewhere`: the cause lies outside the
    environment, though others of its code lie in it. Raises ValueError for a finding that says
    nothing: the tables of causes are data, and a mistake in one must not reach a user as an empty answer.
    """

    code: str
    headline: str
    certainty: Certainty
    evidence: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    missing: tuple[Missing, ...] = ()
    fine: tuple[str, ...] = ()
    elsewhere: bool = False

    def __post_init__(self) -> None:
        if self.code not in CODES or not self.headline.strip():
            raise ValueError(f"a finding without a known code or a headline: {self.code!r} {self.headline!r}")
        if self.code == "unknown" and not self.missing:
            raise ValueError("an unknown that asks for nothing")

    @property
    def is_elsewhere(self) -> bool:
        """Whether a new environment would be as ill: the cause is the driver, a mask, a variable, another program."""
        return self.elsewhere or self.code in _ELSEWHERE

    @property
    def status(self) -> Status:
        """healthy, ill or unknown."""
        if self.code == "unknown":
            return "unknown"
        return "healthy" if self.code in _HEALTHY else "ill"
