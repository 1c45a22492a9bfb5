"""What the probes report, typed: the survey of an environment, the imported build, the devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envsolve.capability import Capability
from envsolve.record import record


@record
class Dist:
    """One installed distribution: canonical name, version as its metadata has it, requirements, metadata folder."""

    name: str
    version: str
    requires: tuple[str, ...]
    info: str


@record
class FileState:
    """A distribution's files against its RECORD; `record` False = there is none to compare with."""

    name: str
    version: str
    record: bool
    checked: int
    wrong: tuple[str, ...]


@record
class Survey:
    """What is installed, read without importing anything. `cuda`, `hip`, `xpu` are what torch/version.py states."""

    python: str
    prefix: str
    markers: Mapping[str, str]
    dists: tuple[Dist, ...]
    files: tuple[FileState, ...]
    cuda: str
    hip: str
    xpu: str

    def versions(self) -> dict[str, str]:
        """Name -> version; of two distributions of one name, the first on sys.path."""
        found: dict[str, str] = {}
        for dist in self.dists:
            found.setdefault(dist.name, dist.version)
        return found

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Survey:
        """Raises KeyError, TypeError or ValueError for anything that a probe doesn't send."""
        build = value["torch_build"]
        return cls(
            python=str(value["python"]),
            prefix=str(value["prefix"]),
            markers={str(k): str(v) for k, v in value["markers"].items()},
            dists=tuple(_dist(d) for d in value["dists"]),
            files=tuple(_file_state(f) for f in value["files"]),
            cuda=str(build["cuda"]),
            hip=str(build["hip"]),
            xpu=str(build["xpu"]),
        )


@record
class BuildFacts:
    """The imported torch: its version, its CUDA ("" = none) and the code targets of its binary."""

    version: str
    file: str
    cuda: str
    hip: str
    xpu: str
    targets: tuple[str, ...]
    cudnn: str

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BuildFacts:
        """Raises KeyError or TypeError for anything that a probe doesn't send."""
        return cls(
            version=str(value["version"]),
            file=str(value["file"]),
            cuda=str(value["cuda"]),
            hip=str(value["hip"]),
            xpu=str(value["xpu"]),
            targets=tuple(str(t) for t in value["targets"]),
            cudnn=str(value["cudnn"]),
        )


@record
class Device:
    """One device as torch names it ("cuda:0"), its model, and its compute capability where it has one."""

    device: str
    model: str
    capability: Capability | None


@record
class DriverFacts:
    """The devices that torch can use; without one, what torch and libcuda say. `visible` is CUDA_VISIBLE_DEVICES."""

    devices: tuple[Device, ...]
    why: str
    libcuda: str
    visible: str | None

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> DriverFacts:
        """Raises KeyError, TypeError or ValueError for anything that a probe doesn't send."""
        return cls(
            devices=tuple(_device(d) for d in value["devices"]),
            why=str(value["why"]),
            libcuda=str(value.get("libcuda", "")),
            visible=value.get("visible"),
        )


@record
class Measure:
    """One comparison: the error that was measured (relative, or a count of wrong elements) and what is allowed."""

    what: str
    error: float
    tolerance: float

    @property
    def close(self) -> bool:
        """NaN is never close."""
        return self.error <= self.tolerance

    def __str__(self) -> str:
        if self.tolerance == 0:
            return f"{self.what}: {self.error:g} wrong elements"
        return f"{self.what}: relative error {self.error:.1e}"


def measures(value: Mapping[str, Any]) -> tuple[Measure, ...]:
    """The comparisons of a computing step. Raises KeyError, TypeError or ValueError for anything else."""
    errors: Sequence[Mapping[str, Any]] = value["errors"]
    if not errors:
        raise ValueError("nothing was compared")
    return tuple(Measure(what=str(e["what"]), error=float(e["error"]), tolerance=float(e["tolerance"])) for e in errors)


def _dist(value: Mapping[str, Any]) -> Dist:
    requires = tuple(str(r) for r in value["requires"])
    return Dist(name=str(value["name"]), version=str(value["version"]), requires=requires, info=str(value["info"]))


def _file_state(value: Mapping[str, Any]) -> FileState:
    return FileState(
        name=str(value["name"]),
        version=str(value["version"]),
        record=bool(value["record"]),
        checked=int(value["checked"]),
        wrong=tuple(str(w) for w in value["wrong"]),
    )


def _device(value: Mapping[str, Any]) -> Device:
    found = value["capability"]
    capability = Capability(int(found[0]), int(found[1])) if found else None
    return Device(device=str(value["device"]), model=str(value["model"]), capability=capability)
