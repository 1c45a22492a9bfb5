"""Changes that files tell of: a torch that is younger than its companions and not theirs was put in later. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from packaging.version import Version

from envsolve.doctor.evidence import Change, Command
from envsolve.doctor.look_files import Dist
from envsolve.doctor.torch_state import public, variant_of_label
from envsolve.rulebook.rulebook import Rulebook

_APART_SECONDS = 60.0  # one run of an installer writes its packages within this time
_COMPANIONS = ("torchvision", "torchaudio")


def later_install(dists: Sequence[Dist], rulebook: Rulebook) -> tuple[tuple[Change, ...], tuple[Command, ...]]:
    """The swap of torch that the times show, with the install that did it; empty where they show none."""
    torch = next((d for d in dists if d.name == "torch"), None)
    elder = [
        d for d in dists if torch and d.name in _COMPANIONS and torch.installed_at - d.installed_at > _APART_SECONDS
    ]
    for companion in elder:
        before = _torch_of(companion, rulebook)
        if torch is None or before is None or before.split("+")[0] == torch.version.split("+")[0]:
            continue
        change = Change(name="torch", before=before, after=torch.version, line=2)
        return (change,), (_command(torch, dists),)
    return (), ()


def _torch_of(companion: Dist, rulebook: Rulebook) -> str | None:
    """The torch that was there when a companion was installed: the one that it belongs to, with its label."""
    version = public(companion.version)
    found = [t for t, row in rulebook.companions.items() if version in row.versions.get(companion.name, ())]
    label = variant_of_label(companion.version.partition("+")[2])
    newest: Version | None = max(found, default=None)
    return f"{newest}{f'+{label}' if label else ''}" if newest else None


def _command(torch: Dist, dists: Sequence[Dist]) -> Command:
    """The install that brought this torch: what was asked for by name in the same run."""
    together = [d for d in dists if abs(d.installed_at - torch.installed_at) <= _APART_SECONDS]
    asked = tuple(d.name for d in together if d.requested)
    names = asked or tuple(d.name for d in together if d.name != "torch")[:4]
    tool = torch.installer if torch.installer in ("pip", "uv", "conda") else "pip"
    # What it was for is not known where torch came alone and nobody marked it.
    text = " ".join([tool, *(["pip"] if tool == "uv" else []), "install", *names]) if names else ""
    return Command(tool="uv" if tool == "uv" else "pip", verb="install", text=text, line=1, requirements=names)
