"""Contents: what is inside files: METADATA, by the cheapest way there is, and hashes."""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path

from envsolve.errors import OfflineError, OutsideError
from envsolve.index.cache import Cache
from envsolve.index.http import Http, RangesIgnored
from envsolve.index.limits import PAGE_SECONDS
from envsolve.index.local import path_of
from envsolve.index.metadata import Condensed, condense, expand
from envsolve.index.ranged import ranged_metadata
from envsolve.index.release import ReleaseFile, WheelMetadata
from envsolve.index.shelf import Shelf
from envsolve.index.snapshot import Snapshot
from envsolve.index.wheel_tail import local_metadata, metadata_of
from envsolve.index.whole import Signs, signs, stream
from envsolve.redact import redact
from envsolve.settings import Settings

_METADATA, _HASH = "metadata", "hash"
_BY_HASH = "by hash"
_SPOOL_BYTES = 16 << 20  # a larger wheel goes to disk


class Contents:
    """METADATA and hashes of files, each read once in a run; from the cache where the hash says that it is the same."""

    def __init__(
        self, settings: Settings, http: Http, cache: Cache, snapshot: Snapshot | None, warnings: list[str]
    ) -> None:
        self._settings = settings
        self._snapshot = snapshot
        self._http = http
        self._cache = cache
        self._shelf = Shelf(cache, _METADATA, _BY_HASH)
        self._warnings = warnings
        self._known: dict[str, Condensed] = {}
        self._expanded: dict[str, WheelMetadata] = {}

    def metadata(self, file: ReleaseFile) -> WheelMetadata:
        """The METADATA of a wheel."""
        key = _key(file)
        if key not in self._expanded:
            self._expanded[key] = expand(self._condensed(file), file)
        return self._expanded[key]

    def has(self, file: ReleaseFile) -> bool:
        """Whether the METADATA is at hand without a request."""
        return _key(file) in self._known or self._cached(file) is not None

    def preload(self, file: ReleaseFile) -> None:
        """Load METADATA for later; an error is left to the one who really needs it."""
        with contextlib.suppress(OutsideError):
            self._condensed(file)

    def _condensed(self, file: ReleaseFile) -> Condensed:
        key = _key(file)
        if key not in self._known:
            self._known[key] = self._cached(file) or self._load(file)
        return self._known[key]

    def _cached(self, file: ReleaseFile) -> Condensed | None:
        if self._settings.refresh or file.is_local:
            return None
        if file.sha256 or file.metadata_sha256:
            found = self._shelf.get(_key(file))
            return found if _is_condensed(found) else None
        entry = self._cache.read(_METADATA, _key(file))
        if entry is None or not _is_condensed(entry.body):
            return None
        return entry.body if self._settings.offline or entry.age < PAGE_SECONDS else None

    def _keep(self, file: ReleaseFile, condensed: Condensed) -> None:
        if file.sha256 or file.metadata_sha256:
            self._shelf.put(_key(file), condensed)
        else:  # what an address leads to may change: a file with a date of its own
            self._cache.write(_METADATA, _key(file), {}, condensed)

    def save(self) -> None:
        """Write what was read into the cache."""
        self._shelf.save()

    def _load(self, file: ReleaseFile) -> Condensed:
        if file.is_local:
            path = path_of(file.url)
            local = local_metadata(path, file) if file.is_wheel else self._local_sdist(path, file)
            return condense(local, file, str(path))
        condensed = self._snapshot.metadata(file) if self._snapshot else None
        if condensed is not None:
            return condensed
        self._must_be_online(f"METADATA of {file.filename}")
        condensed = self._offered(file)
        if condensed is not None:
            self._keep(file, condensed)
            return condensed
        content = self._from_wheel(file) if file.is_wheel else self._from_sdist(file)
        condensed = condense(content, file, redact(file.url))
        # Where the index promised another METADATA, the key names that one and must not lead to this one.
        if file.metadata_sha256 in (None, "", hashlib.sha256(content).hexdigest()):
            self._keep(file, condensed)
        return condensed

    def _offered(self, file: ReleaseFile) -> Condensed | None:
        """METADATA from beside the wheel (PEP 658); None if it isn't offered, or isn't what was promised."""
        if file.metadata_sha256 is None:
            return None
        path, mark, query = file.url.partition("?")
        url = f"{path}.metadata{mark}{query}"
        reply = self._http.get(url, passes=(403,))
        if reply.status != 200:
            return None
        if file.metadata_sha256 and hashlib.sha256(reply.body).hexdigest() != file.metadata_sha256:
            self._warnings.append(f"{redact(url)} has another hash than the index says; the wheel itself was read")
            return None
        try:
            return condense(reply.body, file, redact(url))
        except OutsideError as error:
            self._warnings.append(f"{error.message}; the wheel itself was read")
            return None

    def _from_wheel(self, file: ReleaseFile) -> bytes:
        """METADATA out of the wheel: by ranges, or else out of the whole of it, which gives its hash as well."""
        try:
            return ranged_metadata(self._http, file)
        except RangesIgnored:
            import tempfile

            with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
                digest, found = stream(self._http, file, spool)
                self._keep_hash(file.url, digest, found)
                return metadata_of(spool, file, redact(file.url))

    def _from_sdist(self, file: ReleaseFile) -> bytes:
        """What a source archive says of itself: the whole of it is read, none of its code is run."""
        import tempfile

        from envsolve.index.sdist import sdist_metadata

        with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as spool:
            digest, found = stream(self._http, file, spool)
            self._keep_hash(file.url, digest, found)
            spool.seek(0)
            return sdist_metadata(spool, file.filename, redact(file.url))

    def _local_sdist(self, path: Path, file: ReleaseFile) -> bytes:
        from envsolve.index.sdist import sdist_metadata

        try:
            with path.open("rb") as archive:
                return sdist_metadata(archive, file.filename, str(path))
        except OSError as error:
            raise OutsideError(f"{path} can't be read: {error.strerror}") from error

    def hash_file(self, file: ReleaseFile) -> str:
        """The SHA-256 of a whole file. It is kept as long as size and date, or the server's ETag, stay the same."""
        if file.is_local:
            return self._hash_local(path_of(file.url))
        kept = self._kept_hash(file.url)
        if kept is not None:
            return kept
        self._must_be_online(f"the hash of {file.filename}")
        digest, found = stream(self._http, file)
        self._keep_hash(file.url, digest, found)
        return digest

    def _kept_hash(self, url: str) -> str | None:
        """A hash from the cache, if the server says that the file is still the same; offline the cache is believed."""
        entry = None if self._settings.refresh else self._cache.read(_HASH, url)
        if entry is None or not isinstance(entry.body, str):
            return None
        if self._settings.offline or entry.age < PAGE_SECONDS:
            return entry.body
        known, now = entry.head.get("signs"), signs(self._http.get(url, method="HEAD").headers)
        return entry.body if known and known == now else None

    def _keep_hash(self, url: str, digest: str, found: Signs | None) -> None:
        self._cache.write(_HASH, url, {"signs": found}, digest)

    def _hash_local(self, path: Path) -> str:
        try:
            state = path.stat()
            found = [str(state.st_size), str(state.st_mtime_ns)]
            entry = self._cache.read(_HASH, path.as_uri())
            if entry is not None and isinstance(entry.body, str) and entry.head.get("signs") == found:
                return entry.body
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise OutsideError(f"{path} can't be read: {error.strerror}") from error
        self._cache.write(_HASH, path.as_uri(), {"signs": found}, digest)
        return digest

    def _must_be_online(self, what: str) -> None:
        if self._settings.offline:
            raise OfflineError(f"offline, and {what} is not in the cache", hint="run once without --offline")


def _key(file: ReleaseFile) -> str:
    """Names the content of METADATA by a hash where there is one, else by the address."""
    if file.metadata_sha256:
        return f"metadata {file.name} {file.version} {file.metadata_sha256}"
    return f"wheel {file.name} {file.sha256}" if file.sha256 else file.url


def _is_condensed(body: object) -> bool:
    return isinstance(body, dict) and {"version", "requires", "extras", "requires_python"} <= set(body)
