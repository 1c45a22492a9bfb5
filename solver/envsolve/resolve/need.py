"""Need: a wish together with the versions that satisfy it, worked out beforehand."""

from __future__ import annotations

from packaging.specifiers import SpecifierSet

from envsolve.resolve.listing import Candidate, Listing
from envsolve.resolve.wish import PYTHON, Wish, key_of

__all__ = ["PYTHON", "Need", "need_of", "same_version"]


class Need:
    """One requirement on one package or on one extra of it; `text` is how its author wrote it.

    `allowed` holds the places in the package's listing that satisfy it, so that a check is a look-up.
    """

    __slots__ = ("allowed", "bounded", "exact", "extra", "key", "name", "prereleases", "text", "wanted")

    def __init__(
        self,
        *,
        key: str,
        name: str,
        extra: str,
        text: str,
        allowed: frozenset[int],
        exact: bool,
        bounded: bool,
        prereleases: bool,
        wanted: str = "",
    ) -> None:
        self.key = key
        self.name = name
        self.extra = extra
        self.text = text
        self.allowed = allowed
        self.exact = exact
        self.bounded = bounded
        self.prereleases = prereleases
        self.wanted = wanted  # the specifier as text

    @property
    def specifier(self) -> SpecifierSet:
        return SpecifierSet(self.wanted)

    def __str__(self) -> str:
        return self.text


def need_of(wish: Wish, listing: Listing | None) -> Need:
    """The Need of a wish; without a listing nothing can satisfy it."""
    return Need(
        key=key_of(wish),
        name=wish.name,
        extra=wish.extra,
        text=wish.text,
        allowed=listing.allowed(wish.specifier) if listing is not None else frozenset(),
        exact=wish.exact,
        bounded=wish.bounded,
        prereleases=wish.prereleases,
        wanted=wish.specifier,
    )


def same_version(candidate: Candidate) -> Need:
    """An extra needs its own package at its own version."""
    return Need(
        key=candidate.name,
        name=candidate.name,
        extra="",
        text=f"{candidate.name}=={candidate.text}",
        allowed=frozenset((candidate.place,)),
        exact=True,
        bounded=True,
        prereleases=True,
    )
