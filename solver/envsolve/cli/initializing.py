"""Initializing: everything is solved and composed first, then written at once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from envsolve.cli import talk
from envsolve.cli.init_inputs import Inputs, read_text, settled_inputs
from envsolve.cli.init_wish import InitWish
from envsolve.errors import InputError, OutsideError, RefusedError
from envsolve.keeping.declared import FILE, Declared, DeclaredTarget
from envsolve.record import record

if TYPE_CHECKING:
    from envsolve.cli.lock_order import LockOrder
    from envsolve.cli.locking import NoLock, WorkedOut
    from envsolve.lock.lock_plan import Locked
    from envsolve.settings import Settings

_FORCE = "--force changes it"


@record
class Made:
    """The texts of all files of the project, as they will be, and the declaration behind them."""

    declared: Declared
    texts: Mapping[Path, str]


def initialize(wish: InitWish, project: Path, settings: Settings, *, dry_run: bool, as_json: bool) -> int:
    """Make a project's files. The exit code: 1 where a target has no lock. Raises InputError, OutsideError and
    RefusedError; then nothing was written."""
    from envsolve.cli.declaration import anchored, within
    from envsolve.cli.locking import NoLock, show_no

    if not project.is_dir():
        raise InputError(f"{project} is no folder", hint="--project DIR")
    seen, anchored_settings = wish.seen_from(project), anchored(settings)
    with within(project):
        made = make(seen, anchored_settings)
        if isinstance(made, NoLock):
            show_no(made, several=len(seen.targets) > 1, as_json=as_json)
            return 1
        changed = {path: text for path, text in made.texts.items() if _text_of(path) != text}
        if dry_run:
            _show_diff(changed)
        else:
            _write(changed)
    _tell(made, changed, dry_run=dry_run, as_json=as_json)
    return 0


def make(wish: InitWish, settings: Settings) -> Made | NoLock:
    """All files of the project in this folder; nothing is written."""
    from envsolve.cli.declaration import read_declaration
    from envsolve.cli.init_targets import declaration
    from envsolve.cli.locking import NoLock, say_notes

    base = read_declaration(Path()) if Path(FILE).is_file() else None
    inputs = settled_inputs(wish, base)
    declared = declaration(wish, base, inputs, settings)
    config = _config(declared, base, wish)
    texts = {Path(inputs.file): inputs.text} if inputs.text is not None else {}
    answers: dict[DeclaredTarget, Locked] = {}
    for targets, order, worked in _solved(declared, inputs, settings, wish):
        if isinstance(worked, NoLock):
            return worked
        say_notes(worked.found)
        answers.update(zip(targets, worked.found, strict=True))
        texts.update(_locks(order, worked, wish))
    _check_variants(declared, answers)
    texts[Path(FILE)] = config
    return Made(declared=declared, texts={**texts, **_around(declared, answers, wish)})


def _solved(
    declared: Declared, inputs: Inputs, settings: Settings, wish: InitWish
) -> Iterator[tuple[list[DeclaredTarget], LockOrder, WorkedOut | NoLock]]:
    """Each group of targets that share their files, solved."""
    from envsolve.cli.checking import groups, order_for
    from envsolve.cli.init_targets import pending
    from envsolve.cli.locking import work_out

    for numbers in groups(declared):
        targets = [declared.targets[number] for number in numbers]
        jobs = [(target, pending(declared, target, inputs)) for target in targets]
        order = order_for(declared, jobs, settings, sources=wish.sources)
        yield targets, order, work_out(order, settings)


def _locks(order: LockOrder, worked: WorkedOut, wish: InitWish) -> dict[Path, str]:
    """The locks; one that holds the same already stays byte for byte. Raises InputError where one would change."""
    from envsolve.lock.stale import difference

    texts = {}
    for path, text in worked.texts.items():
        former = order.former.get(path, "")
        if former and difference(former, text, path.name):
            if not wish.force:
                raise InputError(f"{path} is there and would change", hint=f"{_FORCE}; so does envsolve lock")
            former = ""
        texts[path] = former or text
    return texts


def _config(declared: Declared, base: Declared | None, wish: InitWish) -> str:
    from envsolve.keeping.declared_write import declared_text

    if base == declared:
        return read_text(Path(FILE))  # as its people wrote it
    if base is not None and not wish.force:
        raise InputError(f"{FILE} is there and says otherwise", hint=f"{_FORCE}; or edit it and run envsolve init")
    return declared_text(declared)


def _check_variants(declared: Declared, answers: Mapping[DeclaredTarget, Locked]) -> None:
    for target, answer in answers.items():
        allowed = declared.variants_of(target)
        if allowed and answer.lock.variant not in allowed:
            raise RefusedError(
                f"{target.machine} gets {answer.lock.variant}, and {' or '.join(allowed)} is allowed",
                hint=f"allow it too, or one variant only: --variant {allowed[0]}",
            )


def _around(declared: Declared, answers: Mapping[DeclaredTarget, Locked], wish: InitWish) -> dict[Path, str]:
    """The README and the workflow."""
    from envsolve.cli.init_rows import row_of
    from envsolve.keeping.readme_section import with_section

    texts: dict[Path, str] = {}
    readme = _readme()
    if wish.readme or (wish.readme is None and readme.is_file()):
        rows = [row_of(answers[target], declared.locks_of(target)[0]) for target in declared.targets]
        texts[readme] = with_section(read_text(readme) if readme.is_file() else "", rows)
    return {**texts, **_workflow(wish)}


def _readme() -> Path:
    """README.md, in whatever case it is written."""
    found = sorted(path.name for path in Path().iterdir() if path.name.lower() == "readme.md" and path.is_file())
    return Path(found[0] if found else "README.md")


def _workflow(wish: InitWish) -> dict[Path, str]:
    """The CI step, where it is read: at the top of the repository, though the project may be a folder in it."""
    from envsolve.keeping.workflow import MARK, path_of, workflow_text

    top = _repository()
    inside = "" if top in (None, Path.cwd()) else Path.cwd().relative_to(top).as_posix()
    above = Path(*[".."] * len(Path(inside).parts))
    if not (wish.ci == "github" or (wish.ci == "auto" and (above / ".github").is_dir())):
        return {}
    path, wanted = above / path_of(inside), workflow_text(inside)
    there = read_text(path) if path.is_file() else ""
    if there and not there.startswith(MARK):
        if wish.ci == "github":
            raise InputError(f"{path} is there and was not made by envsolve init", hint="--ci none leaves it alone")
        talk.say(f"note: {path} is somebody's own and was left alone")
        return {}
    if there and there != wanted and not wish.force:
        raise InputError(f"{path} is there and was changed", hint=f"{_FORCE}; --ci none leaves it alone")
    return {path: wanted}


def _repository() -> Path | None:
    """The top of the Git repository around this folder (a submodule is one too); None where there is none."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)


def _text_of(path: Path) -> str | None:
    return read_text(path) if path.is_file() else None


def _write(texts: Mapping[Path, str]) -> None:
    """All files at once; folders that were made for them go again where that fails."""
    from envsolve.cli.written import write_all

    made: list[Path] = []
    try:
        for folder in dict.fromkeys(above for path in texts for above in reversed(path.parents)):
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
        write_all(texts)
    except OSError as error:
        _unmake(made)
        raise OutsideError(f"can't make a folder: {error}") from error
    except BaseException:
        _unmake(made)
        raise


def _unmake(folders: list[Path]) -> None:
    for folder in reversed(folders):
        with contextlib.suppress(OSError):  # not empty: somebody else's files are in it
            folder.rmdir()


def _show_diff(texts: Mapping[Path, str]) -> None:
    from difflib import unified_diff

    for path, text in texts.items():
        before = _text_of(path)
        old = f"a/{path.as_posix()}" if before is not None else "/dev/null"
        lines = unified_diff((before or "").splitlines(), text.splitlines(), old, f"b/{path.as_posix()}", lineterm="")
        print("\n".join(lines))


def _tell(made: Made, changed: Mapping[Path, str], *, dry_run: bool, as_json: bool) -> None:
    if as_json and not dry_run:
        files = [{"path": path.as_posix(), "written": path in changed} for path in made.texts]
        targets = [target.machine for target in made.declared.targets]
        print(json.dumps({"schema": 1, "files": files, "targets": targets}, ensure_ascii=False))
        return
    for path in made.texts:
        verb = "would write" if dry_run else "wrote"
        talk.say(f"{verb} {path.as_posix()}" if path in changed else f"unchanged {path.as_posix()}")
    if changed and not dry_run:
        talk.say("next: commit them; `envsolve check` holds the locks to .envsolve.toml")
