"""The torch family on the PyTorch index: which METADATA each wheel that was seen has, and how that is known."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.rulebook.load import rules_dir
from envsolve.rulebook.wheels import SeenWheel, SeenWheels
from snapshot.metadata_text import (
    Requires,
    condensed,
    for_all_of_linux,
    labelled,
    names,
    proved,
    with_block,
    with_pins,
    without_cuda,
)

FOLDERS = ("cpu", "cu118", "cu121", "cu124", "cu126", "cu128", "cu129", "cu130")
OLDEST = {"torch": Version("2.0"), "torchvision": Version("0.15"), "torchaudio": Version("2.0")}
# What belongs to the CUDA toolkit is the same in all releases of one variant; the rest changes with the release.
_TOOLKIT = re.compile(r"nvidia-(cublas|cuda-\w+|cufft|cufile|curand|cusolver|cusparse|nvjitlink|nvtx)(-cu\d\d)?$")


@dataclass(frozen=True, kw_only=True)
class Family:
    """`texts` holds METADATA of the default index's wheels by (name, version) and operating system."""

    wheels: SeenWheels
    texts: Mapping[tuple[str, str], Mapping[str, str]]
    how: Counter[str]  # counts how the METADATA of wheels is known: "hash", "locks", "same version"

    def held(self, name: str) -> Iterator[tuple[SeenWheel, Requires]]:
        """The wheels of a package whose hash and METADATA are known."""
        for wheel in self.wheels.of(name):
            label = wheel.filename.split("-")[1]
            if wheel.sha256 is None or wheel.inferred or wheel.folder not in FOLDERS or not _is_release(name, label):
                continue
            requires = self._requires(name, label, wheel)
            if requires is not None:
                yield wheel, requires

    def _requires(self, name: str, label: str, wheel: SeenWheel) -> Requires | None:
        texts = self.texts.get((name, label.partition("+")[0]))
        if not texts:
            return None
        own = texts.get(_system(wheel.filename)) or next(iter(texts.values()))
        ordered = list(dict.fromkeys([own, *texts.values()]))
        if name != "torch":
            # METADATA of torchvision and torchaudio differs in the pin of torch only, where the rules outrank it.
            return self._known("same version", labelled(own, label))
        if wheel.metadata_sha256:
            text = proved(self._candidates(ordered, label, wheel.folder), label, wheel.metadata_sha256)
            return self._known("hash", text) if text else None
        text = self._as_locked(ordered, own, label, wheel.folder)
        return self._known("locks", text) if text else None

    def _known(self, how: str, text: str) -> Requires:
        self.how[how] += 1
        return condensed(text)

    def _candidates(self, texts: Sequence[str], label: str, folder: str) -> Iterator[str]:
        """The ways in which METADATA of this variant may have been written."""
        for text in texts:
            yield from (text, without_cuda(text), for_all_of_linux(text))
            if folder != "cpu":
                for pins in self._pins(text, label, folder):
                    yield from with_pins(text, pins)

    def _pins(self, text: str, label: str, folder: str) -> Iterator[Mapping[str, Sequence[str]]]:
        """What locks hold of this wheel; else the toolkit of another release of the variant, the rest from here."""
        if label in self._locked:
            yield self._locked[label]
            return
        suffix = folder[:4]
        own: dict[str, Sequence[str]] = {
            canonicalize_name(r.name): [str(r.specifier).removeprefix("==")]
            for r in map(Requirement, _cuda_lines(text))
        }
        rest = {n: p for n, p in own.items() if (n.endswith(suffix) or n == "triton") and not _TOOLKIT.match(n)}
        for other, pins in self._locked.items():
            if other.endswith(f"+{folder}"):
                yield {**{n: p for n, p in pins.items() if n.startswith("nvidia-")}, **rest}

    def _as_locked(self, texts: Sequence[str], own: str, label: str, folder: str) -> str | None:
        """The METADATA whose names and pins are those that locks hold; where the index gives no hash of it."""
        if "+" not in label:  # macOS and old aarch64: built as on the default index
            return own if folder == "cpu" else None
        pins = self._locked.get(label)
        if pins is None:
            return None
        quoted = self._quoted.get(label)
        choices = [with_block(own, quoted)] if quoted else [*texts, *map(without_cuda, texts)]
        if folder != "cpu" and not quoted and Version(label) < Version("2.6"):
            choices += [text for base in texts for text in with_pins(base, pins)][:1]
        return next((text for text in choices if _agrees(condensed(text), pins)), None)

    @cached_property
    def _facts(self) -> dict[str, dict[str, dict[str, object]]]:
        facts: dict[str, dict[str, dict[str, object]]] = json.loads(
            (rules_dir() / "torch/requires.json").read_text(encoding="utf-8")
        )
        return facts

    @cached_property
    def _locked(self) -> dict[str, dict[str, list[str]]]:
        return {label: row["requires"] for label, row in self._facts["locked"].items()}  # type: ignore[misc]

    @cached_property
    def _quoted(self) -> dict[str, list[str]]:
        return {label: row["requires"] for label, row in self._facts["quoted"].items()}  # type: ignore[misc]


def _is_release(name: str, label: str) -> bool:
    version = Version(label)
    return version >= OLDEST[name] and not version.is_prerelease


def _system(filename: str) -> str:
    platform = filename.removesuffix(".whl").rpartition("-")[2]
    system = "win" if platform.startswith("win") else "mac" if platform.startswith("mac") else "linux"
    return f"{system}_{'x86_64' if platform.endswith(('x86_64', 'amd64')) else 'arm64'}"


def _cuda_lines(text: str) -> list[str]:
    lines = [line.partition(": ")[2] for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    return [line for line in lines if line.startswith(("nvidia-", "triton", "cuda-"))]


def _agrees(requires: Requires, pins: Mapping[str, Sequence[str]]) -> bool:
    """Whether the names are those of the locks, and each lock's version is one that the requirement allows."""
    # What is required for some Pythons only may be in a lock or not.
    optional = {"setuptools", "mkl"}
    if (names(requires) ^ set(pins)) - optional:
        return False
    found = [Requirement(line) for line in requires.requires]
    exact = [r for r in found if "extra ==" not in str(r.marker) and pins.get(canonicalize_name(r.name))]
    return all(any(r.specifier.contains(v) for v in pins[canonicalize_name(r.name)]) for r in exact)
