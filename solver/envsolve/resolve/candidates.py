"""Candidates: from the files of a package to the Listing of what a target can install, and what fell out."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from envsolve.index.release import ReleaseFile
from envsolve.resolve.listing import Dropped, Listing
from envsolve.resolve.target_env import TargetEnv

__all__ = ["Dropped", "Listing", "fitting_listing", "planned_listing"]


def fitting_listing(name: str, files: Sequence[ReleaseFile], env: TargetEnv) -> Listing:
    """The Listing of the wheels that install on the target, the best file of each version first.

    Where the target takes source archives, those of versions without such a wheel come after all wheels.
    """
    ranked: list[tuple[int, ReleaseFile]] = []
    archives: list[ReleaseFile] = []
    platform = python = sdists = 0
    for file in files:
        rank = env.best_rank(file.tags)
        if not file.is_wheel:
            sdists += 1
            archives.append(file)
        elif rank is None:
            platform += 1
        elif not env.allows_python(file.requires_python):
            python += 1
        else:
            ranked.append((rank, file))
    ranked.sort(key=_preference, reverse=True)
    finals = len(ranked) < len(files) and any(not file.version.is_prerelease for file in files)
    dropped = Dropped(other_platform=platform, other_python=python, sdists=sdists, finals=finals)
    wheels = [file for _, file in ranked]
    if not env.sdists:
        return Listing.of_files(name, wheels, dropped)
    versions = {file.version for file in wheels}
    built = [f for f in archives if f.version not in versions and env.allows_python(f.requires_python)]
    return Listing.of_files(name, [*wheels, *built], dropped)


def planned_listing(name: str, label: Version, folder: str, files: Sequence[ReleaseFile], env: TargetEnv) -> Listing:
    """The Listing of the one planned version of a torch-family package: its exact label, +variant included.

    Unlabelled wheels also lie in the root of the index, beside those of the variant: a root file is taken only where
    the variant's own folder (or find-links) has none. Of files that fit equally well the index's order decides.
    """
    exact = [file for file in files if file.version == label]
    listing = fitting_listing(name, exact, env)
    if not listing.texts:
        return listing
    fitting = listing.files(0)
    own = [file for file in fitting if file.folder in (None, folder)] or fitting
    # One wheel is pinned by its address: the best of the folder's.
    return Listing.of_files(name, own[:1], listing.dropped)


def _preference(ranked: tuple[int, ReleaseFile]) -> tuple[bool, int, tuple[int, str] | tuple[()]]:
    rank, file = ranked
    return (file.yanked is None, -rank, file.build)
