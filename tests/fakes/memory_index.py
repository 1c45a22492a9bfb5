"""An Index in memory: stub wheels by folder, no network. It counts what it is asked.

index = MemoryIndex()
index.add("cu128", *stub_family("cu128", torch="2.11.0", tag="cp312-cp312-manylinux_2_28_x86_64"))   # /whl/cu128
index.add("", wheel)                       # the root of the PyTorch index: shows on every variant's page
index.add_default(wheel, yanked="broken")  # the default Python index
"""

from __future__ import annotations

from collections.abc import Sequence
from email.parser import BytesHeaderParser
from urllib.parse import quote

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envsolve.errors import OutsideError
from envsolve.index.release import ReleaseFile, WheelMetadata
from fakes.stub_wheels import StubSdist, StubWheel

WHL = "https://download.pytorch.org/whl"
SIMPLE = "https://index.example/simple"


class MemoryIndex:
    """Implements resolve.protocol.Index."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._files: dict[tuple[str | None, str], list[ReleaseFile]] = {}
        self._wheels: dict[str, StubWheel] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.metadata_asked: list[str] = []
        self.prefetched: list[str] = []
        self.prefetched_metadata: list[str] = []
        self.hashed: list[str] = []
        self.unreachable = False
        self.base = "https://files.example"  # where the default index's files are

    def add(self, folder: str, *wheels: StubWheel, hashed: bool = True) -> None:
        """Files of a variant's folder; "" is the root, whose files every variant lists."""
        base = f"{WHL}/{folder}" if folder else WHL
        for wheel in wheels:
            self._store(folder, wheel, base, hashed=hashed)

    def add_default(self, *packages: StubWheel | StubSdist, yanked: str | None = None, hashed: bool = True) -> None:
        """Files of the default Python index."""
        for package in packages:
            self._store(None, package, self.base, yanked=yanked, hashed=hashed)

    def _store(
        self, folder: str | None, package: StubWheel | StubSdist, base: str, *, yanked: str | None = None, hashed: bool
    ) -> None:
        wheel = isinstance(package, StubWheel)
        name, version, build, tags = (
            parse_wheel_filename(package.filename)
            if wheel
            else (canonicalize_name(package.name), Version(package.version), (), frozenset())
        )
        # The PyTorch pages carry no Requires-Python; the default index does.
        requires = package.requires_python if folder is None else ""
        file = ReleaseFile(
            name=name,
            version=version,
            filename=package.filename,
            url=f"{base}/{quote(package.filename)}",
            source=base,
            sha256=package.sha256 if hashed else None,
            requires_python=SpecifierSet(requires) if requires else None,
            tags=tags,
            build=build,
            yanked=yanked,
            size=len(package.content),
            folder=folder,
        )
        self._files.setdefault((folder, name), []).append(file)
        if wheel:
            self._wheels[file.url] = package

    def files(self, name: str, *, variant: str | None = None, version: Version | None = None) -> Sequence[ReleaseFile]:
        self.asked.append((name, variant))
        if self.unreachable:
            raise OutsideError(f"{SIMPLE}/{name}/ can't be reached")
        found = list(self._files.get((variant, name), []))
        if variant is not None:
            found += self._files.get(("", name), [])
        return [file for file in found if version in (None, file.version)]

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        self.metadata_asked.append(file.filename)
        header = BytesHeaderParser().parsebytes(self._wheels[file.url].metadata)
        python = header.get("Requires-Python")
        return WheelMetadata(
            name=file.name,
            version=file.version,
            requires=tuple(Requirement(text) for text in header.get_all("Requires-Dist", [])),
            extras=frozenset(header.get_all("Provides-Extra", [])),
            requires_python=SpecifierSet(python) if python else None,
        )

    def hash_file(self, file: ReleaseFile) -> str:
        self.hashed.append(file.filename)
        return self._wheels[file.url].sha256

    def prefetch(self, names: Sequence[str]) -> None:
        self.prefetched.extend(names)

    def prefetch_metadata(self, files: Sequence[ReleaseFile]) -> None:
        self.prefetched_metadata.extend(file.filename for file in files)
