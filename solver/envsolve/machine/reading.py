"""Reading: what one source says of a machine. None is "this source does not say"; nothing here is a default."""

from __future__ import annotations

from envsolve.dotted import Dotted
from envsolve.machine.machine import Arch, Gpu, Libc, Os, Problem, Vendor
from envsolve.record import record


@record
class Reading:
    """The facts of one source ("nvidia-smi table", "nvml", "spec"), before they are merged into a Machine.

    `gpus` None = nothing said of GPUs, () = said that there are none that this source can see. `partial` = the source
    lists some GPUs only (a kernel log names the ignored one), so that its GPUs add to those of others.
    """

    source: str
    os: Os | None = None
    arch: Arch | None = None
    python: str | None = None
    libc: Libc | None = None
    driver: Dotted | None = None
    cuda_max: Dotted | None = None
    gpus: tuple[Gpu, ...] | None = None
    partial: bool = False
    wsl: bool | None = None
    tegra: bool | None = None
    vendor: Vendor | None = None
    pythons: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
