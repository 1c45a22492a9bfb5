"""Diagnose: the causes in order, the most specific and decisive first; the first that holds is the answer."""

from __future__ import annotations

from collections.abc import Callable

from envsolve.doctor.causes import (
    builds,
    companion_causes,
    driver_causes,
    extension_causes,
    healthy,
    imports,
    install_index,
    install_platform,
    install_version,
    outside,
    replaced,
    surroundings,
)
from envsolve.doctor.evidence import Evidence
from envsolve.doctor.facts import Facts
from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.rulebook.rulebook import Rulebook

Cause = Callable[[Situation], Finding | None]

CAUSES: tuple[Cause, ...] = (
    install_index.hostile,
    # What the driver and the kernel say of themselves is beyond doubt.
    driver_causes.library_mismatch,
    driver_causes.dropped_gpu,
    surroundings.not_passed,
    # An install that failed left no environment to look at.
    install_index.hashes,
    install_index.confused,
    install_index.blocked,
    install_platform.platform,
    install_version.wrong_tag,
    install_version.unmet_version,
    install_version.required_python,
    install_index.conflict,
    install_index.channel,
    install_index.unlisted,
    # What is imported is not what is installed.
    imports.shadowed,
    imports.numpy_two,
    replaced.replaced,
    imports.stray_libraries,
    imports.missing_libraries,
    builds.wrong_accelerator,
    companion_causes.two_distributors,
    companion_causes.wrong_version,
    companion_causes.variant,
    companion_causes.by_symptom,
    extension_causes.extension,
    # The build and the machine.
    builds.vendor_needed,
    builds.no_such_gpu,
    surroundings.masked,
    surroundings.job_without_gpu,
    surroundings.mig_without_instance,
    driver_causes.older_than_gpu,
    driver_causes.not_loaded,
    builds.no_kernels,
    builds.no_gfx_code,
    driver_causes.too_old,
    builds.cpu_build,
    builds.kernels_in_doubt,
    install_index.superfluous,
    surroundings.no_permission,
    outside.known_message,
    healthy.harmless,
    healthy.fits,
    outside.other_module,
)


def diagnose(evidence: Evidence, rulebook: Rulebook, facts: Facts) -> Finding:
    """The finding of an environment; unknown, with what is missing, where no cause holds."""
    situation = Situation(evidence=evidence, rulebook=rulebook, facts=facts)
    return next((found for cause in CAUSES if (found := cause(situation)) is not None), None) or outside.unknown(
        situation
    )
