"""Install: lock -> environment, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from envsolve.environment.building import Building
from envsolve.environment.create import interpreter_of
from envsolve.environment.environment import Environment
from envsolve.environment.gather import large_files, missing
from envsolve.environment.marker import Marker, write_marker
from envsolve.environment.order import Order
from envsolve.environment.progress import Progress, untold
from envsolve.environment.proof import Prover
from envsolve.environment.pythons import TargetPython
from envsolve.environment.sizes import download
from envsolve.environment.space import check_space, is_writable, needs, readable
from envsolve.environment.store import Draft, Slot
from envsolve.environment.wanted import Wanted, is_kept, wheels_folder
from envsolve.errors import InputError, OutsideError, RefusedError

Say = Callable[[str], None]


class VerificationFailed(RefusedError):
    """The environment was made and doesn't prove itself; it is kept aside at `path`, with the report inside."""

    def __init__(self, message: str, *, hint: str, path: Path) -> None:
        super().__init__(message, hint=hint)
        self.path = path


def install(
    slot: Slot,
    python: TargetPython | None,
    order: Order,
    *,
    prove: Prover,
    say: Say,
    detail: Say,
    progress: Progress = untold,
) -> Environment:
    """Create, fill and prove an environment, then let the name lead to it. `python` is None where conda brings one.

    Until that last step the name leads to what it led to before, whatever happens. Raises InputError (the name is
    taken), OutsideError (disk, network, installer), RefusedError (a file isn't the lock's), VerificationFailed.
    """
    check_free(slot, replace=order.replace)
    with slot.alone(say):
        check_free(slot, replace=order.replace)
        slot.sweep(keep=slot.failed())
        large = _large_files(slot, order, say)
        with _older_failures_go(slot), slot.new_build() as draft:
            try:
                filled = Building(draft, order, say, detail, progress).build(slot.name, python, large)
                proven = _prove(draft, filled, order, prove, say)
                slot.pointer.point_to(draft.path)
                draft.kept = True
            except OSError as error:
                raise OutsideError(
                    f"can't write {error.filename or draft.path}: {error.strerror}",
                    hint="another disk or folder: ENVSOLVE_HOME (environments), ENVSOLVE_CACHE_DIR (downloads)",
                ) from error
        slot.sweep()
    return environment_of(slot, draft.path, proven)


@contextmanager
def _older_failures_go(slot: Slot) -> Iterator[None]:
    """Of builds that failed verification only the last is kept: they take up gigabytes each."""
    try:
        yield
    except VerificationFailed as failed:
        slot.sweep(keep=(failed.path,))
        raise


def check_free(slot: Slot, *, replace: bool) -> None:
    """Raises InputError when the name is taken and not to be replaced, or belongs to something envsolve didn't make."""
    slot.check_ours()
    if slot.taken and not replace:
        raise InputError(
            f"the environment {slot.shown_name!r} exists already",
            hint="--replace makes a new one; the old one stays until the new one is verified",
        )


def environment_of(slot: Slot, build: Path, marker: Marker) -> Environment:
    """The environment as others see it: by its name's path, which outlives the build."""
    shown = slot.pointer.shown() if slot.pointer.target() == build else build
    return Environment(
        name=slot.name if slot.named else "",
        path=shown,
        interpreter=interpreter_of(shown),
        python=marker.python,
        state="unverified" if marker.stage == "building" else marker.stage,
        lock_sha256=marker.lock_sha256,
        variant=marker.variant,
        torch=marker.torch,
        size_bytes=marker.size_bytes,
    )


def _large_files(slot: Slot, order: Order, say: Say) -> tuple[Wanted, ...]:
    """The files that envsolve fetches itself; raises OutsideError when there is no space for all."""
    fetched = download(order.lock, order.settings)
    large = large_files(order.lock, fetched, order.settings, here=order.here)
    if missing(large, order.settings) and not is_writable(wheels_folder(order.settings)):
        say(f"{order.settings.cache_dir} can't be written: {order.installer.name} fetches everything itself")
        large = tuple(one for one in large if is_kept(one, order.settings))
    if order.here:
        size = sum(path.stat().st_size for path in order.here.values())
        check_space(needs(size, slot.builds, order.installer.name, kept=size, keep=slot.builds)[:-1])
    elif fetched.size:
        todo = sum(one.size or 0 for one in missing(large, order.settings))
        rest = fetched.size - sum(one.size or 0 for one in large) + todo
        if rest:
            say(f"{'up to' if fetched.complete else 'at least'} {readable(rest)} to download")
        keep = wheels_folder(order.settings)
        check_space(needs(fetched.size, slot.builds, order.installer.name, kept=todo, keep=keep))
    return large


def _prove(draft: Draft, filled: Marker, order: Order, prove: Prover, say: Say) -> Marker:
    """The final marker, written. A build that fails is kept, so that one can look at it."""
    if order.verify == "later":
        write_marker(draft.path, filled)
        return filled
    say("verifying")
    proof = prove(interpreter_of(draft.path))
    proven = filled.with_proof(proof)
    write_marker(draft.path, proven)
    if not proof.verified:
        draft.kept = True
        what = ", ".join(proof.failed) or "nothing was computed"
        raise VerificationFailed(
            f"the environment failed verification: {what}; it is kept aside at {draft.path}",
            hint=order.next_best or "envsolve doctor says more; --verify later skips the proof",
            path=draft.path,
        )
    return proven
