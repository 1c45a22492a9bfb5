"""Answering: whether a lock still holds what its inputs ask for, as far as that is seen without an index."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from envsolve.keeping.finding import Finding
from envsolve.lock.lock import Lock, LockedPackage
from envsolve.lock.wishes import Wishes
from envsolve.machine.machine import Machine
from envsolve.resolve.request import TRIO
from envsolve.resolve.target_env import target_env
from envsolve.resolve.via import ASKED
from envsolve.rulebook.rulebook import Rulebook

_AGAIN = "envsolve lock --upgrade-package {name}"


def answer_problems(
    lock: Lock, wishes: Wishes, machine: Machine, rulebook: Rulebook, *, file: str, inputs: str
) -> Iterator[Finding]:
    """What the inputs ask for and the lock does not hold, and the other way round. `inputs` names their files.

    What packages need themselves is not looked at: that takes an index (`envsolve check --solve`).
    """
    env = target_env(machine, lock.python)
    held = {package.name: package for package in lock.packages}
    asked = [wish for wish in wishes.requirements if env.holds(wish.marker)]
    for wish in asked:
        yield from _wish(wish, held.get(canonicalize_name(wish.name)), file, inputs)
    for bound in wishes.constraints:
        package = held.get(canonicalize_name(bound.name))
        if package is not None and env.holds(bound.marker) and not _takes(bound, package):
            text = f"a constraint says {bound}, and the lock has {_version(package)}"
            yield Finding(code="requirement-unmet", text=text, file=file, hint=_AGAIN.format(name=package.name))
    names: set[str] = {canonicalize_name(wish.name) for wish in asked}
    yield from _no_longer(lock, names, rulebook, file, inputs)
    yield from _unasked(lock, names, file)
    for where, spec in wishes.pythons:
        if not spec.contains(f"{lock.python.rstrip('t')}.99", prereleases=True):
            text = f"{where} asks for Python {spec}, and the lock is for {lock.python}"
            yield Finding(code="python-unmet", text=text, file=file, hint="name another python in the target's machine")


def _wish(wish: Requirement, package: LockedPackage | None, file: str, inputs: str) -> Iterator[Finding]:
    if package is None:
        text = f"{inputs} asks for {_shown(wish)}, and the lock does not hold it"
        yield Finding(code="requirement-missing", text=text, file=file, hint="envsolve lock makes it anew")
    elif not _takes(wish, package):
        text = f"{inputs} asks for {_shown(wish)}, and the lock has {_version(package)}"
        yield Finding(code="requirement-unmet", text=text, file=file, hint=_AGAIN.format(name=package.name))


def _takes(wish: Requirement, package: LockedPackage) -> bool:
    if wish.url is not None:
        addresses = [file.url for file in package.files if file.url]
        return not addresses or wish.url.split("#")[0] in addresses
    return wish.specifier.contains(_version(package), prereleases=True)


def _version(package: LockedPackage) -> Version:
    """The version with its label, which only the wheel's name holds in some formats."""
    name = package.files[0].filename if package.direct and package.files else ""
    return parse_wheel_filename(name)[1] if name.endswith(".whl") else package.version


def _shown(wish: Requirement) -> str:
    return str(wish).split(";")[0].strip()


def _no_longer(lock: Lock, asked: set[str], rulebook: Rulebook, file: str, inputs: str) -> Iterator[Finding]:
    """Packages that are there only because they were asked for. torch comes with its family, and NumPy by torch's
    rule, unasked."""
    spared = {TRIO[0]} | ({"numpy"} if _numpy_ruled(lock, rulebook) else set())
    for package in lock.packages:
        if package.via == (ASKED,) and package.name not in asked | spared and asked:
            text = f"holds {package.name} because it was asked for, and {inputs} no longer does"
            yield Finding(code="no-longer-asked", text=text, file=file, hint="envsolve lock makes it anew")


def _unasked(lock: Lock, asked: set[str], file: str) -> Iterator[Finding]:
    """Packages that nothing asks for, here or in the inputs: the lock was edited. Some formats say of none who asks."""
    held = {package.name for package in lock.packages}
    for package in lock.packages if any(package.via for package in lock.packages) else ():
        via = {canonicalize_name(name) for name in package.via}
        if ASKED not in package.via and package.name not in asked and not via & held:
            whom = (
                f"for {', '.join(package.via)}, which it does not hold" if package.via else "though nothing asks for it"
            )
            text = f"holds {package.name} {whom}: it was edited"
            yield Finding(code="nobody-asks", text=text, file=file, hint="envsolve lock makes it anew")


def _numpy_ruled(lock: Lock, rulebook: Rulebook) -> bool:
    torch = next((package.version for package in lock.packages if package.name == TRIO[0]), None)
    return torch is not None and rulebook.numpy_rule(Version(torch.public), lock.platform) is not None
