"""Diagnose: the causes in order, the most specific and decisive first; the first that holds is the answer."""

from __future__ import annotations

from collections.abc import Callable

from envsolve.doctor.beliefs import with_truths
from envsolve.doctor.causes import (
    companion_causes,
    containers,
    cpu_build,
    damaged,
    driver_age,
    driver_loading,
    extension_building,
    extension_causes,
    healthy,
    install_conflict,
    install_extras,
    install_index,
    install_platform,
    install_python,
    install_version,
    install_words,
    kernels,
    kinds,
    libraries,
    masks,
    outside,
    replaced,
    shadows,
    unknown,
)
from envsolve.doctor.evidence import Evidence
from envsolve.doctor.facts import Facts
from envsolve.doctor.finding import Finding
from envsolve.doctor.situation import Situation
from envsolve.rulebook.rulebook import Rulebook

Cause = Callable[[Situation], Finding | None]

CAUSES: tuple[Cause, ...] = (
    install_extras.hostile,
    # What the driver and the kernel say of themselves is beyond doubt.
    driver_loading.library_mismatch,
    driver_age.dropped_gpu,
    containers.not_passed,
    # An install that failed left no environment to look at.
    install_index.hashes,
    install_index.confused,
    install_index.blocked,
    install_index.no_page,
    install_index.lock_of_others,
    install_platform.platform,
    kinds.board_without_wheel,
    install_python.wrong_tag,
    install_version.unmet_version,
    install_python.required_python,
    install_conflict.conflict,
    install_words.unreadable,
    install_index.plain_words,
    install_index.unlisted,
    # What is imported is not what is installed, or does not belong together.
    shadows.stray,
    damaged.damaged,
    shadows.shadowed,
    libraries.numpy_two,
    replaced.replaced,
    libraries.stray_libraries,
    libraries.missing_libraries,
    kinds.wrong_accelerator,
    companion_causes.two_distributors,
    companion_causes.wrong_version,
    companion_causes.variant,
    companion_causes.by_symptom,
    extension_causes.extension,
    extension_building.building,
    # The build and the machine.
    kinds.vendor_needed,
    kinds.no_such_gpu,
    masks.masked,
    masks.job_without_gpu,
    masks.mig_without_instance,
    driver_loading.no_permission,
    driver_loading.unlicensed,
    driver_loading.libcuda_unseen,
    driver_loading.unreadable,
    driver_loading.no_kfd,
    driver_loading.no_xpu,
    driver_age.older_than_gpu,
    driver_loading.not_loaded,
    kernels.no_kernels,
    kernels.no_gfx_code,
    driver_age.too_old,
    cpu_build.cpu_build,
    kernels.below_every_build,
    kernels.in_doubt,
    libraries.unmet_needs,
    install_extras.superfluous,
    install_extras.cuda_for_the_cpu,
    # Nothing is wrong with the set, or something else is.
    outside.saved_on_gpu,
    outside.faulty_file,
    outside.no_triton,
    outside.no_compiler,
    outside.known_message,
    healthy.harmless,
    healthy.fits,
    extension_building.not_built,
    outside.other_module,
    outside.expects_other_torch,
    outside.newer_torch_wanted,
    outside.other_traceback,
    outside.other_install,
    outside.collective,
)


def diagnose(evidence: Evidence, rulebook: Rulebook, facts: Facts) -> Finding:
    """The finding of an environment; unknown, with what is missing, where no cause holds."""
    situation = Situation(evidence=evidence, rulebook=rulebook, facts=facts)
    found = (cause(situation) for cause in CAUSES)
    first = next((finding for finding in found if finding is not None), None) or unknown.unknown(situation)
    return with_truths(first, situation)
