"""Fix: a new verified environment beside the ill one, or under its name, from what was asked for of the old one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envsolve.cli import talk
from envsolve.errors import InputError, RefusedError
from envsolve.record import record, replace
from envsolve.regex import regex

if TYPE_CHECKING:
    from envsolve.cli.doctor_remade import Change, Remedy
    from envsolve.doctor.finding import Finding
    from envsolve.doctor.look_place import Place
    from envsolve.doctor.situation import Situation
    from envsolve.doctor.top_level import Held, TopLevel
    from envsolve.environment.environment import Environment
    from envsolve.environment.marker import Marker
    from envsolve.environment.store import Slot
    from envsolve.settings import Settings

# The package that a finding blames: its version goes before anything else does.
_GUILTY = {"numpy-below-2": ("numpy",)}
_NO_NAME = regex(r"[^A-Za-z0-9._-]+")


@record
class Wish:
    """What was asked of --fix: the name of the new environment ("" = that of the old one and "-fixed"), a project to
    install into it, or the old one's own place (`yes`: without asking)."""

    into: str = ""
    in_place: bool = False
    yes: bool = False
    project: Path | None = None
    as_json: bool = False


@record
class Ill:
    """An environment that was looked at, and what is wrong with it; `ours` is its slot where envsolve made it."""

    place: Place
    situation: Situation
    finding: Finding
    ours: Slot | None


def fixed(ill: Ill, wish: Wish, settings: Settings) -> dict[str, Any]:
    """Make the new environment and tell of it; the JSON values of what was made.

    Raises RefusedError where a new environment repairs nothing, where there is no plan, and where the new one does not
    prove itself; the old one is as it was.
    """
    from envsolve.cli.doctor_remade import Remedy, Search, as_json, changes, reinstalls, torches
    from envsolve.cli.planned import Asked
    from envsolve.doctor.look_held import held
    from envsolve.doctor.top_level import top_level
    from envsolve.environment.pythons import find_python

    _check_inside(ill)
    s = ill.situation
    slot, marker = _slot(ill, wish), _marker(ill)
    _check_free(slot, wish)
    python = s.machine.python or ""
    if not (marker and marker.conda):
        find_python(python)  # before anything is asked of an index
    old = _as_asked(held(ill.place), marker)
    wanted = top_level(old, python, s.facts)
    talk.say(f"planning {_told(wanted)}")
    machine, _ = Asked(python=python).settled(source=settings.source, mirror=settings.mirror)
    remedy = Search(machine, python, settings).remedy(wanted, torches(s), _GUILTY.get(ill.finding.code, ()))
    if not isinstance(remedy, Remedy):
        raise _no(remedy)
    project = wish.project or (Path(marker.project) if marker and marker.project else None)
    made = _make(slot, wish, marker, remedy, project, settings)
    changed, again = tuple(changes(old, remedy)), reinstalls(wanted, made, project)
    if not wish.as_json:
        _tell(made, remedy, changed, again)
    return as_json(made, remedy, changed, again)


def _check_free(slot: Slot, wish: Wish) -> None:
    """Raises InputError where the name is taken."""
    from envsolve.environment.install import check_free

    try:
        check_free(slot, replace=wish.in_place)
    except InputError as error:
        raise InputError(error.message, hint=f"--into takes another name; envsolve envs remove {slot.name}") from error


def _check_inside(ill: Ill) -> None:
    """Raises RefusedError where a new environment would be no better."""
    finding = ill.finding
    if not ill.situation.torch.known and finding.status == "unknown":
        raise RefusedError(f"there is nothing to fix: {finding.headline}", hint=finding.missing[0].how)
    if finding.is_elsewhere:
        raise RefusedError(
            f"a new environment would be as ill, so none was made: {finding.headline}",
            hint="the way out above lies outside the environment" if finding.fixes else "see what is missing above",
        )


def _slot(ill: Ill, wish: Wish) -> Slot:
    """Where the new environment goes. Raises InputError."""
    from envsolve.cli.installing import slot_of

    if wish.in_place:
        assert ill.ours is not None  # a foreign one is mended by its own installer
        return ill.ours
    return slot_of(wish.into or _beside(ill), None)


def _beside(ill: Ill) -> str:
    """The old one's name, or that of its folder (of the project's for a .venv), and "-fixed"."""
    if ill.ours is not None and ill.ours.named:
        return f"{ill.ours.name}-fixed"
    folder = ill.place.interpreter.parent.parent
    name = folder.parent.name if folder.name.startswith(".") or folder.name in ("venv", "env") else folder.name
    return f"{_NO_NAME.sub('-', name).strip('-._') or 'environment'}-fixed"


def _marker(ill: Ill) -> Marker | None:
    from envsolve.environment.marker import read_marker

    build = ill.ours.current() if ill.ours else None
    return read_marker(build) if build else None


def _as_asked(old: tuple[Held, ...], marker: Marker | None) -> tuple[Held, ...]:
    """What envsolve installed was all named by its lock: there the words of the command line tell what was wanted."""
    if marker is None or not marker.asked:
        return old
    from envsolve.cli.asked import requirement
    from envsolve.cli.planned import Asked

    named = {requirement(text).name.lower().replace("_", "-") for text in Asked.from_words(marker.asked).requirements}
    return tuple(replace(one, requested=one.name in named) for one in old)


def _told(wanted: TopLevel) -> str:
    more = len(wanted.pins) + len(wanted.direct)
    return f"{' '.join(wanted.family)}{f' and {more} more' if more else ''} for this machine"


def _no(answer: object) -> RefusedError:
    """No plan: the reason and what would help, the first of the ways out with a command as the hint."""
    from envsolve.resolve.answer_text import as_text
    from envsolve.resolve.plan import NeedsInput, NoPlan

    assert isinstance(answer, NoPlan | NeedsInput)
    remedies = answer.remedies if isinstance(answer, NoPlan) else ()
    hint = next((r.command for r in remedies if r.command), "") or next((r.text for r in remedies), "")
    return RefusedError(f"no build runs here, so no environment was made\n{as_text(answer)}", hint=hint)


def _make(
    slot: Slot, wish: Wish, marker: Marker | None, remedy: Remedy, project: Path | None, settings: Settings
) -> Environment:
    from envsolve.cli.chosen import Manager
    from envsolve.cli.installing import Job, make

    conda = marker is not None and bool(marker.conda)
    job = Job(
        slot=slot,
        settings=settings,
        manager=Manager.CONDA if conda else Manager.VENV,
        channels=marker.channels if marker and conda else (),
        replace=wish.in_place,
        project=project,
        asked=remedy.asked,
        as_json=wish.as_json,
    )
    return make(job, remedy.chosen)


def _tell(made: Environment, remedy: Remedy, changed: tuple[Change, ...], again: tuple[str, ...]) -> None:
    from envsolve.cli.installing import show

    print("changed:" if changed else "changed: no version, only files")
    for one in changed:
        print(f"  {one.name} {one.before or '(not there)'} -> {one.after}")
    if remedy.loosened:
        print("could not stay as they were:")
        for pin in remedy.loosened:
            print(f"  {pin}")
    if again:
        print("to be installed again, since no lock takes it:")
        for command in again:
            print(f"  {command}")
    show(made, as_json=False)


def slot_here(place: Place) -> Slot | None:
    """The slot of an environment that envsolve made, whichever way it was named; None for a foreign one."""
    from envsolve.environment.home import data_home
    from envsolve.environment.marker import read_marker
    from envsolve.environment.store import Store, project_slot

    folder = place.interpreter.parent.parent
    marker = read_marker(folder)
    if marker is None:
        return None
    real = Path(os.path.realpath(folder))
    candidates = (Store(data_home()).slot(marker.name), project_slot(real.parent.parent.parent / marker.name))
    for slot in candidates:
        build = slot.current()
        if build is not None and build.resolve() == real:
            return slot
    return None
