"""Provider: what resolvelib asks, answered by the Choices of one target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from resolvelib import AbstractProvider

from envsolve.resolve.choices import Choices, Preference
from envsolve.resolve.listing import Candidate
from envsolve.resolve.need import Need


class Provider(AbstractProvider[Need, Candidate, str]):
    """The resolvelib provider."""

    def __init__(self, choices: Choices) -> None:
        self._choices = choices

    def identify(self, requirement_or_candidate: Need | Candidate) -> str:
        return requirement_or_candidate.key

    def get_preference(
        self,
        identifier: str,
        resolutions: Mapping[str, Candidate],
        candidates: Mapping[str, Iterator[Candidate]],
        information: Mapping[str, Iterator[Any]],
        backtrack_causes: Sequence[Any],
    ) -> Preference:
        return self._choices.preference(identifier, (info.requirement for info in information[identifier]))

    def narrow_requirement_selection(
        self,
        identifiers: Iterable[str],
        resolutions: Mapping[str, Candidate],
        candidates: Mapping[str, Iterator[Candidate]],
        information: Mapping[str, Iterator[Any]],
        backtrack_causes: Sequence[Any],
    ) -> Iterable[str]:
        """After a conflict, settle the packages that took part in it before all others."""
        names = list(identifiers)
        culprits = {cause.requirement.key for cause in backtrack_causes}
        culprits.update(cause.parent.key for cause in backtrack_causes if cause.parent is not None)
        return [name for name in names if name in culprits] or names

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Need]],
        incompatibilities: Mapping[str, Iterator[Candidate]],
    ) -> Sequence[Candidate]:
        # None: only a pin that was taken back had asked for it, so that any version will do until it is left out.
        needs = list(requirements[identifier]) or [self._choices.anything(identifier)]
        name, extra = needs[0].name, needs[0].extra
        if name.startswith("<"):
            return ()
        every = [*needs, *(requirements[name] if extra and name in requirements else ())]
        refused = {candidate.place for candidate in incompatibilities[identifier]}
        return list(self._choices.candidates(name, extra, self._choices.places(every) - refused))

    def is_satisfied_by(self, requirement: Need, candidate: Candidate) -> bool:
        return candidate.place in requirement.allowed

    def get_dependencies(self, candidate: Candidate) -> Sequence[Need]:
        return self._choices.dependencies(candidate)
