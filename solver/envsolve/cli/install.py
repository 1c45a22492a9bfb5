"""`envsolve install`: create an isolated environment, fill it from a lock, prove it."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from envsolve.cli import options, talk
from envsolve.cli.busy import Busy
from envsolve.errors import InputError

if TYPE_CHECKING:
    from envsolve.environment.environment import Environment
    from envsolve.environment.order import Order
    from envsolve.environment.proof import Proof
    from envsolve.environment.store import Slot
    from envsolve.lock.lock import Lock
    from envsolve.settings import Settings

app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


class Tool(StrEnum):
    """The values of --installer."""

    AUTO = "auto"
    UV = "uv"
    PIP = "pip"


class When(StrEnum):
    """The values of --verify."""

    NOW = "now"
    LATER = "later"


_Name = Annotated[str | None, typer.Option("--name", help="The name of the environment.")]
_Path = Annotated[Path | None, typer.Option("--path", help="A project's own environment, at this folder.")]
_LockFile = Annotated[Path | None, typer.Option("--lock", help="Install from this lock, without planning.")]
_Installer = Annotated[Tool, typer.Option("--installer", help="What fills it; auto: uv where there is one, else pip.")]
_Replace = Annotated[bool, typer.Option("--replace", help="Replace an environment, once the new one is verified.")]
_Verify = Annotated[When | None, typer.Option("--verify", help="now (default), or later: for GPUs elsewhere.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the environment as JSON.")]


@app.command(epilog="Example: envsolve install torch torchvision --name pytorch_new")
def install(
    name: _Name = None,
    path: _Path = None,
    lock_file: _LockFile = None,
    installer: _Installer = Tool.AUTO,
    replace: _Replace = False,
    verify: _Verify = None,
    as_json: _Json = False,
    source: options.Source = None,
    mirror: options.Mirror = None,
    index: options.Index = None,
    extra_index: options.ExtraIndex = None,
    find_links: options.FindLinks = None,
    offline: options.Offline = False,
    refresh: options.Refresh = False,
    cache_dir: options.CacheDir = None,
) -> None:
    """Create an isolated environment, fill it from a lock, prove it; all of it or nothing."""
    from envsolve.environment.install import check_free

    slot = _slot(name, path)
    check_free(slot, replace=replace)
    settings = options.settings_from(
        source=source, mirror=mirror, index=index, extra_index=extra_index, find_links=find_links,
        offline=offline, refresh=refresh, cache_dir=cache_dir,
    )  # fmt: skip
    if lock_file is None:
        raise InputError("--lock FILE is needed", hint="envsolve lock -o requirements.lock.txt")
    order = _order(_read(lock_file), settings, installer=installer, replace=replace, verify=verify or When.NOW)
    _show(_install(slot, order), as_json=as_json)


def _slot(name: str | None, path: Path | None) -> Slot:
    from envsolve.environment.home import data_home
    from envsolve.environment.store import Store, project_slot

    if (name is None) == (path is None):
        raise InputError("give either --name NAME or --path DIR", hint="envsolve install --name pytorch_new")
    return project_slot(path) if path is not None else Store(data_home()).slot(name or "")


def _read(file: Path) -> tuple[Lock, str]:
    from envsolve.lock import requirements_txt

    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read the lock {file}: {error}", hint="envsolve lock writes one") from error
    return requirements_txt.read(text, what=str(file)), text


def _order(locked: tuple[Lock, str], settings: Settings, *, installer: Tool, replace: bool, verify: When) -> Order:
    from envsolve.environment.fill import choose_installer
    from envsolve.environment.order import Order

    lock, text = locked
    return Order(
        lock=lock,
        lock_text=text,
        installer=choose_installer(installer.value),
        settings=settings,
        replace=replace,
        verify=verify.value,
    )


def _install(slot: Slot, order: Order) -> Environment:
    from envsolve.environment.install import install
    from envsolve.environment.interrupts import kill_is_interrupt
    from envsolve.environment.order import check_platform
    from envsolve.environment.pythons import find_python
    from envsolve.machine.host import this_host

    check_platform(order.lock, this_host().platform)
    python = find_python(order.lock.python)
    try:
        with kill_is_interrupt(), Busy() as busy:
            prove = partial(_prove, lock=order.lock, environment=slot.shown_name, busy=busy)
            return install(slot, python, order, prove=prove, say=busy.say, detail=busy.line)
    except KeyboardInterrupt:
        talk.error("interrupted; nothing half-made is left, and what was there before is unchanged", "")
        raise


def _prove(interpreter: Path, *, lock: Lock, environment: str, busy: Busy) -> Proof:
    from envsolve.rulebook.load import load
    from envsolve.verify.as_proof import as_proof
    from envsolve.verify.promise import promise
    from envsolve.verify.run import verify
    from envsolve.verify.text import report_lines

    report = verify(interpreter, promise(lock, load()), progress=busy.line, environment=environment)
    for line in report_lines(report):
        (talk.detail if report.verified else talk.say)(line)
    return as_proof(report)


def _show(environment: Environment, *, as_json: bool) -> None:
    from envsolve.environment.activate import activation_lines
    from envsolve.environment.listing import SCHEMA, environment_json

    if as_json:
        print(json.dumps({"schema": SCHEMA, **environment_json(environment)}))
        return
    talk.say(f"{environment.state}: {environment.path} (Python {environment.python}, torch {environment.torch})")
    talk.say("to switch it on:")
    for shell, line in activation_lines(environment.path).items():
        print(f"{shell + ':':<12}{line}")
