"""Finding: one thing that does not fit, or that ends."""

from __future__ import annotations

from envsolve.record import record


@record
class Finding:
    """A code, what is the matter, the file that it is about ("" = none), and the way out ("" = none known).

    `certainty` and `source` are those of the rule that says so, "" where no rule is behind it.
    """

    code: str
    text: str
    file: str = ""
    hint: str = ""
    certainty: str = ""
    source: str = ""


# What each code means, for the docs.
PROBLEMS = {
    "lock-missing": "a lock that is declared is not there, or holds nothing for this target",
    "lock-unreadable": "a file is not a lock of this version of envsolve",
    "does-not-run": "the pinned torch family does not run on the target",
    "more-must-be-known": "the target leaves open what decides",
    "cpu-build": "the lock holds the CPU build for a target with a GPU, and the file does not allow that",
    "variant-not-allowed": "the lock's variant is not among those that are allowed",
    "wheel-unfit": "a locked wheel can't be installed on the target",
    "glibc-too-old": "the locked wheels need a newer glibc than the target has",
    "hash-missing": "a package is locked without a hash",
    "requirement-missing": "something is asked for that the lock has not",
    "requirement-unmet": "the locked version is not one that is asked for",
    "no-longer-asked": "a package is locked because it was asked for, and it no longer is",
    "nobody-asks": "a package is locked that nothing in the lock asks for: it was edited",
    "python-unmet": "the inputs don't take the lock's Python",
    "locks-differ": "two locks of the same target pin different versions",
    "stale": "solved anew, the lock would be another one (--solve)",
}
WARNINGS = {
    "card-last-wheel": "the newest torch has no kernels for the card any more",
    "variant-last-wheel": "the lock's variant is no longer published",
    "driver-ended": "the driver's branch is past its end",
    "driver-ending": "the driver's branch ends soon",
    "python-ended": "the Python is past its end",
    "python-ending": "the Python ends soon",
    "python-last-wheel": "the newest torch has no build for this Python any more",
}
