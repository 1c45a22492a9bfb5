"""`envsolve detect`: show the GPUs, the driver and the host, and where each fact came from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option

if TYPE_CHECKING:
    from envsolve.machine.machine import Machine

app = command_app()

Target = Annotated[
    str | None,
    option("--target", metavar="T", help="Not this machine: a profile, a file of pasted output, or a spec."),
]
Json = Annotated[bool, option("--json", help="Print the profile as JSON.")]
Output = Annotated[Path | None, option("-o", "--output", metavar="FILE", help="Write the profile to a file.")]


@app.command(epilog="Example: envsolve detect -o machine.json")
def detect(target: Target = None, as_json: Json = False, output: Output = None) -> None:
    """Show the GPUs, the driver and the host, and where each fact came from."""
    from envsolve.judge.superchip import with_own_arch
    from envsolve.machine import profile
    from envsolve.machine.detect import detect as look
    from envsolve.machine.target import read_target
    from envsolve.rulebook.load import load

    machine = look(thorough=True) if target is None else with_own_arch(read_target(target), load())
    if output is not None:
        _write(output, profile.dumps(machine))
    if as_json:
        print(profile.dumps(machine), end="")
    else:
        _show(machine)


def _write(path: Path, text: str) -> None:
    """The profile, whole or not at all. Raises OutsideError."""
    from envsolve.cli import talk
    from envsolve.environment.pointer import write_atomically
    from envsolve.errors import OutsideError

    try:
        write_atomically(path, text)
    except OSError as error:
        raise OutsideError(f"can't write {path}: {error.strerror or error}", hint="-o another file") from None
    talk.say(f"wrote {path}; use it elsewhere with --target {path}")


def _show(machine: Machine) -> None:
    from envsolve.machine.show import lines
    from envsolve.rulebook.load import load

    names = load().gpu_names
    for line in lines(machine, lambda name: names.find(name).capability):
        print(line)
