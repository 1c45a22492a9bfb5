"""What the default Python index has of a package: its wheels for the platforms that the rules know, their METADATA."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from envsolve.index.fitting import Target
from envsolve.index.http import Http
from envsolve.index.page import ACCEPT
from envsolve.index.page_reader import parse_page
from envsolve.index.ranged import ranged_metadata
from envsolve.index.release import ReleaseFile
from envsolve.index.release_file import release_file
from envsolve.settings import Settings
from snapshot.metadata_text import Requires, condensed

PLATFORMS = ("linux_x86_64", "linux_aarch64", "windows_amd64", "windows_arm64", "macos_arm64", "macos_x86_64")
PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.15")
_TARGETS = [Target(python=python, platform=platform) for python in PYTHONS for platform in PLATFORMS]


class DefaultIndex:
    """Each page and each METADATA is asked for once."""

    def __init__(self, settings: Settings) -> None:
        self._base = settings.default_index
        self._http = Http(settings)
        self._pages: dict[str, list[ReleaseFile]] = {}
        self._texts: dict[str, str] = {}

    @property
    def asked(self) -> int:
        """How many requests were made."""
        return self._http.count

    def close(self) -> None:
        self._http.close()

    def files(self, name: str) -> Sequence[ReleaseFile]:
        """The wheels of a package that somebody may install, yanked ones left out."""
        if name not in self._pages:
            reply = self._http.get(f"{self._base}/{name}/", {"Accept": ACCEPT})
            links = parse_page(reply.body, reply.content_type, reply.url) if reply.status == 200 else []
            found = (release_file(link, name, self._base) for link in links if _fits(link.filename))
            self._pages[name] = [file for file in found if file is not None and file.yanked is None and file.sha256]
        return self._pages[name]

    def load(self, files: Iterable[ReleaseFile]) -> None:
        """Read the METADATA of these wheels, several at a time."""
        fresh = [file for file in {f.url: f for f in files}.values() if file.url not in self._texts]
        with ThreadPoolExecutor(8) as pool:
            for file, text in zip(fresh, pool.map(self._read, fresh), strict=True):
                self._texts[file.url] = text

    def text(self, file: ReleaseFile) -> str:
        """The METADATA of a wheel."""
        self.load([file])
        return self._texts[file.url]

    def requires(self, file: ReleaseFile) -> Requires:
        return condensed(self.text(file))

    def _read(self, file: ReleaseFile) -> str:
        return ranged_metadata(self._http, file).decode("utf-8", errors="replace")


def _fits(filename: str) -> bool:
    return "musllinux" not in filename and any(target.fits(filename) for target in _TARGETS)


def system_of(filename: str) -> str:
    """The operating system and architecture that a wheel is for: METADATA is read once for each."""
    platform = filename.removesuffix(".whl").rpartition("-")[2]
    system = next(
        (s for s in ("win", "mac", "linux") if platform.startswith(s)), "linux" if "linux" in platform else "any"
    )
    return f"{system}_{'x86_64' if platform.endswith(('x86_64', 'amd64')) else 'arm64'}" if system != "any" else system


def representatives(files: Iterable[ReleaseFile]) -> Iterator[ReleaseFile]:
    """One wheel of each version for each operating system and architecture."""
    seen: dict[tuple[str, str], ReleaseFile] = {}
    for file in files:
        seen.setdefault((str(file.version), system_of(file.filename)), file)
    yield from seen.values()
