"""Links: the needs that lead from what the user asks for to the packages that a conflict is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from packaging.requirements import Requirement

from envsolve.resolve.choices import Choices
from envsolve.resolve.listing import Candidate
from envsolve.resolve.need import Need
from envsolve.resolve.wish import key_of, wishes_of

_Step = tuple[Candidate, Need]


def links(roots: Sequence[Requirement], parents: Iterable[Candidate], choices: Choices) -> Iterator[str]:
    """For each parent the shortest way to it, a need a line: "accelerate 1.0 needs huggingface-hub>=0.21"."""
    starts = [key_of(wish) for root in roots for wish in wishes_of(root)]
    known = choices.known_needs()
    for parent in dict.fromkeys(parents):
        for candidate, need in _way(starts, parent, known):
            if need.name != candidate.name:
                yield f"{candidate} needs {need.text}"


def _way(starts: Collection[str], parent: Candidate, known: Mapping[Candidate, Sequence[Need]]) -> list[_Step]:
    """The steps from one of the starts to a candidate; none where it is a start itself, or no way is known."""
    ways: dict[str, list[_Step]] = {key: [] for key in starts}
    ahead = list(ways)
    while ahead and parent.key not in ways:
        key = ahead.pop(0)
        for candidate, needs in known.items():
            for need in needs if candidate.key == key else ():
                fits = need.key != parent.key or parent.place in need.allowed
                if fits and need.key not in ways:
                    ways[need.key] = [*ways[key], (candidate, need)]
                    ahead.append(need.key)
    return ways.get(parent.key, [])
