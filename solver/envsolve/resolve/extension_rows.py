"""Extension rows: which rows libraries with CUDA code of their own leave over, and where their wheels are."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envsolve.judge.fit import Note, Refusal
from envsolve.machine.machine import Machine
from envsolve.record import record
from envsolve.resolve.request import Request
from envsolve.rulebook.extension_names import may_be_known
from envsolve.rulebook.tables import Build


@record
class Extensions:
    """The libraries with CUDA code that a request asks for. `binding`: without a wheel of each a row is out.

    Where the user takes source archives, a library without a wheel is built from its source.
    """

    requirements: tuple[Requirement, ...]
    binding: bool

    def refusals(self, build: Build, machine: Machine) -> list[Refusal]:
        """What they have against a build."""
        if not (self.requirements and self.binding):
            return []
        from envsolve.rulebook.ways_tables import load_ways
        from envsolve.ways.extensions import constraint

        said = (constraint(requirement, build, machine, load_ways()) for requirement in self.requirements)
        return [one for one in said if isinstance(one, Refusal)]

    def unverified(self, build: Build, machine: Machine) -> bool:
        """Whether nobody knows a wheel of one of them for a build."""
        if not self.requirements:
            return False
        from envsolve.rulebook.ways_tables import load_ways
        from envsolve.ways.extensions import UNVERIFIED, constraint

        said = (constraint(requirement, build, machine, load_ways()) for requirement in self.requirements)
        return any(isinstance(one, Note) and one.code == UNVERIFIED for one in said)

    def wheels(self, build: Build, machine: Machine) -> tuple[Requirement, ...]:
        """Those whose wheel for a build is on no index, with its address: `flash-attn @ https://…whl`."""
        found = self._addresses(build, machine)
        return tuple(Requirement(f"{r.name} @ {url}") for r, url in found if url.endswith(".whl"))

    def pages(self, build: Build, machine: Machine) -> tuple[str, ...]:
        """The pages, for --find-links, of wheels for a build that are on no index."""
        found = self._addresses(build, machine)
        return tuple(dict.fromkeys(url for _, url in found if url and not url.endswith(".whl")))

    def _addresses(self, build: Build, machine: Machine) -> list[tuple[Requirement, str]]:
        if not self.requirements:
            return []
        from envsolve.rulebook.ways_tables import load_ways
        from envsolve.ways.extensions import address_of

        return [(r, address_of(r, build, machine, load_ways())) for r in self.requirements]


def extensions_of(request: Request, others: Sequence[Requirement]) -> Extensions:
    """Those of the requirements beside the torch family that the rules know as such libraries."""
    known: tuple[Requirement, ...] = ()
    if others and may_be_known(canonicalize_name(requirement.name) for requirement in others):
        from envsolve.rulebook.ways_tables import load_ways
        from envsolve.ways.extensions import known as known_of

        known = known_of(others, load_ways())
    return Extensions(requirements=known, binding=not request.sdists)
