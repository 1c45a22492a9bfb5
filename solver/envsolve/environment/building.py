"""Building: one build on its way: create, fetch, fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve import __version__
from envsolve.environment.create import create, interpreter_of
from envsolve.environment.fill import fill, fill_project
from envsolve.environment.gather import drop_damaged, gather, missing
from envsolve.environment.handed import handed
from envsolve.environment.marker import LOCK_COPY, Marker, write_marker
from envsolve.environment.order import Order, has_sources, torch_version
from envsolve.environment.progress import Progress
from envsolve.environment.pythons import TargetPython, ask
from envsolve.environment.store import Draft
from envsolve.environment.tree import folder_size
from envsolve.environment.wanted import Wanted
from envsolve.errors import EnvsolveError, OutsideError
from envsolve.record import replace
from envsolve.settings import Settings, redact

if TYPE_CHECKING:
    from envsolve.environment.conda import Conda
    from envsolve.environment.pip_wheel import PipWheel

Say = Callable[[str], None]


class Building:
    """Fills a draft as an order says."""

    def __init__(self, draft: Draft, order: Order, say: Say, detail: Say, progress: Progress) -> None:
        self._draft = draft
        self._order = order
        self._say = say
        self._detail = detail
        self._progress = progress
        self._pip: PipWheel | None = None
        self._relocatable = False

    def build(self, name: str, python: TargetPython | None, large: tuple[Wanted, ...]) -> Marker:
        """The marker of the filled build. Raises OutsideError, RefusedError, OSError."""
        path, order = self._draft.path, self._order
        made_from = self._conda(order.conda) if order.conda else self._venv(python)
        marker = _marker(made_from, order, name)
        write_marker(path, marker)
        (path / LOCK_COPY).write_text(order.lock_text, encoding="utf-8", newline="\n")
        if not self._from_cache(large):
            self._restore_origins(self._filled(large))
        if order.project:
            self._add_project(order.project)
        return replace(marker, stage="unverified", size_bytes=folder_size(path))

    def _venv(self, python: TargetPython | None) -> TargetPython:
        assert python is not None
        created = create(
            python, self._draft.path, cache_dir=self._order.settings.cache_dir, uv=self._order.installer.uv
        )
        self._pip, self._relocatable = created.pip_to_add, created.relocatable
        self._say(f"created an environment with Python {python.version} from {python.found_in} ({created.tool})")
        return python

    def _conda(self, conda: Conda) -> TargetPython:
        from envsolve.environment.conda import create_with_conda  # seldom wanted

        path = self._draft.path
        self._say(f"creating an environment with {conda.shown} from {', '.join(map(redact, conda.channels))}")
        create_with_conda(conda, path, self._order.settings, on_line=self._detail, keep_open=(self._draft.held,))
        python = ask(interpreter_of(path), "conda")
        if python is None:
            raise OutsideError(f"{conda.shown} made no Python that runs in {path}")
        self._say(f"created an environment with Python {python.version} from {conda.shown}")
        return python

    def _from_cache(self, large: tuple[Wanted, ...]) -> bool:
        """Whether uv had everything in its own cache, so that nothing needs to be fetched."""
        settings = self._order.settings
        if not self._order.installer.uv or not missing(large, settings):
            return False
        try:
            self._fill(replace(settings, offline=True), {})
        except EnvsolveError:
            return False
        self._say(f"installed {len(self._order.lock.packages)} packages from uv's cache")
        return True

    def _filled(self, large: tuple[Wanted, ...]) -> Mapping[str, Path]:
        """Fill it with large files that are here and small ones that the installer fetches; the former, by hash.

        The installer checks every hash. Where it fails because a wheel that was kept has been damaged on the disk, that
        one is fetched again.
        """
        settings = self._order.settings
        here = {**self._order.here, **self._fetch(large)}
        count = len(self._order.lock.packages)
        self._say(f"installing {count} package{'s' if count != 1 else ''} with {self._order.installer.shown}")
        try:
            self._fill(settings, here)
        except EnvsolveError:
            if not drop_damaged(large, settings):
                raise
            here = {**self._order.here, **self._fetch(large)}
            self._fill(settings, here)
        return here

    def _fetch(self, large: tuple[Wanted, ...]) -> dict[str, Path]:
        if not large:
            return {}
        if todo := missing(large, self._order.settings):
            self._say(f"fetching {len(todo)} large file{'s' if len(todo) > 1 else ''} (what is here already is kept)")
        return gather(self._order.lock, large, self._order.settings, progress=self._progress)

    def _fill(self, settings: Settings, here: Mapping[str, Path]) -> None:
        path, order = self._draft.path, self._order
        sources = has_sources(order.lock)
        with handed(order.lock, path, settings, pip=self._pip, here=here) as lock_file, ExitStack() as stack:
            held: tuple[int, ...] = ()
            if self._relocatable and not sources:  # what is built may note where it was built for
                path, held = stack.enter_context(self._draft.slot.stand_in(path))
            fill(
                interpreter_of(path),
                lock_file,
                installer=order.installer,
                settings=settings,
                on_line=self._detail,
                keep_open=(self._draft.held, *held),
                sources=sources,
            )

    def _restore_origins(self, here: Mapping[str, Path]) -> None:
        if here:
            from envsolve.environment.origin import restore_origins

            restore_origins(self._draft.path, self._order.lock.packages, here)

    def _add_project(self, project: Path) -> None:
        self._say(f"installing the project {project} (editable)")
        fill_project(
            interpreter_of(self._draft.path),
            project,
            installer=self._order.installer,
            settings=self._order.settings,
            on_line=self._detail,
            keep_open=(self._draft.held,),
        )


def _marker(python: TargetPython, order: Order, name: str) -> Marker:
    from hashlib import sha256  # loaded while uv made the environment

    return Marker(
        name=name,
        stage="building",
        python=python.version,
        platform=order.lock.platform,
        variant=order.lock.variant,
        torch=torch_version(order.lock),
        lock_sha256=sha256(order.lock_text.encode()).hexdigest(),
        made_by=f"envsolve {__version__}",
        plan=order.plan,
        asked=order.asked,
        project=str(order.project) if order.project else "",
        conda=order.conda.shown if order.conda else "",
        channels=order.conda.public_channels if order.conda else (),
    )
