"""The plain wheels of the default Python index, as builds: one variant per torch and platform, without a label."""

from __future__ import annotations

from envsolve.record import replace
from envsolve.rulebook.rulebook import Rulebook
from envsolve.rulebook.tables import Build


def pypi_builds(platform: str, rulebook: Rulebook) -> tuple[Build, ...]:
    """The build that `pip install torch` gets without any index option, for each torch that has one there."""
    found = []
    for torch, row in rulebook.pypi_defaults.items():
        variant = row.variants.get(platform, "cpu" if platform.startswith("macos") else None)
        build = rulebook.build(torch, variant, platform) if variant is not None else None
        if build is not None:
            found.append(replace(build, local_tag=False, advertised=True, folder="", certainty=row.certainty))
    return tuple(found)
