"""`envsolve plan --from FILE`: whether the pins of another tool run here, and the nearest set that does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli.planned import Asked
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.lock.foreign_judged import Judged


def plan_from(
    file: Path, wanted: Asked, *, source: str | None, mirror: str | None, explain: bool, as_json: bool
) -> int:
    """Judge the pins in a file and print the answer. The exit code: 0 if they run, 1 if not. Raises InputError."""
    from envsolve.lock.foreign import read_foreign
    from envsolve.lock.foreign_judged import judge_foreign
    from envsolve.rulebook.load import load

    if wanted.requirements or wanted.files or wanted.extras or wanted.groups:
        raise InputError("--from FILE says what is pinned: give no requirements beside it", hint=f"--from {file}")
    foreign = read_foreign(_text(file), file.name)
    machine, request = wanted.settled(source=source, mirror=mirror, pythons=foreign.pythons)
    judged = judge_foreign(foreign, machine, request, load())
    print(
        json.dumps(_as_json(judged, file), ensure_ascii=False) if as_json else _as_text(judged, file, explain=explain)
    )
    return 0 if judged.runs else 1


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"can't read {file}: {error.strerror}", hint="--from uv.lock") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8 text") from error


def _as_json(judged: Judged, file: Path) -> dict[str, object]:
    """The contract's answer for the pins, with the file, its pins and the nearest plan beside it."""
    from envsolve.resolve.answer_json import as_json

    pins = [{"name": pin.name, "versions": str(pin.specifier)} for pin in judged.pins]
    return {
        **as_json(judged.answer),
        "from": {"file": file.as_posix(), "tool": judged.foreign.tool, "pins": pins, "runs": judged.runs},
        "nearest": as_json(judged.nearest) if judged.nearest else None,
    }


def _as_text(judged: Judged, file: Path, *, explain: bool) -> str:
    from envsolve.resolve.answer_text import as_text
    from envsolve.resolve.plan import NeedsInput

    pins = ", ".join(f"{pin.name} {_shown(str(pin.specifier))}".rstrip() for pin in judged.pins)
    head = f"{file} ({judged.foreign.tool}) pins {pins}"
    if isinstance(judged.answer, NeedsInput):
        return f"{head}\n{as_text(judged.answer)}"
    verdict = "these pins run here:" if judged.runs else "these pins don't run here:"
    lines = [head, verdict, as_text(judged.answer, explain=explain)]
    if judged.nearest:
        lines += ["", "the nearest set that runs:", as_text(judged.nearest, explain=explain)]
    return "\n".join(lines)


def _shown(specifier: str) -> str:
    return specifier.removeprefix("==") if "," not in specifier else specifier
