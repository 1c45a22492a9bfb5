"""What a source build takes: jobs from cores and memory, hours, disk."""

from __future__ import annotations

from packaging.version import Version

from envsolve.capability import Capability
from envsolve.record import record
from envsolve.rulebook.ways_tables import Ways


@record
class Cost:
    """`job_mib`: memory of one compile job in MiB. `core_hours`: of one core, for all jobs. `disk_gib` in GiB.

    `flash`: the flash-attention kernels are compiled, which need most of the memory.
    """

    job_mib: int
    core_hours: int
    disk_gib: int
    flash: bool
    source: str

    def jobs(self, cores: int, memory_mib: int) -> int:
        """How many jobs a machine can bear: by its cores, and by its memory."""
        return max(1, min(cores, memory_mib // self.job_mib))

    def hours(self, jobs: int) -> float:
        """The hours that so many jobs take, roughly."""
        return self.core_hours / jobs


def cost_of(torch: Version, found: tuple[Capability, ...], ways: Ways) -> Cost:
    """The cost of compiling a torch for these capabilities."""
    memory = next(
        row
        for row in ways.job_memory
        if row.torch.contains(torch) and (row.first is None or any(c >= row.first for c in found))
    )
    total = [row for row in ways.build_costs if row.torch.contains(torch)][-1]
    return Cost(
        job_mib=memory.mib,
        core_hours=total.core_hours + total.core_hours_each * len(found),
        disk_gib=total.disk_gib,
        flash=memory.first is not None,
        source=f"{memory.source}; {total.source} ({total.certainty} certainty)",
    )
