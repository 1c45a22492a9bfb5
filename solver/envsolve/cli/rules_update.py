"""`envsolve rules update`: what an index has that the rules lack, usable until the rules say more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from envsolve.cli import options, talk
from envsolve.cli.declared import option
from envsolve.errors import OutsideError

if TYPE_CHECKING:
    from envsolve.index.http import Http
    from envsolve.rulebook.rulebook import Rulebook
    from envsolve.updating.listed import Listed
    from envsolve.updating.news import News
    from envsolve.updating.wheel_code import WheelCode

SCHEMA = 1

_DryRun = Annotated[bool, option("--dry-run", help="Only list what is new; write nothing.")]
_Read = Annotated[
    bool, option("--read-wheels", help="Read the code targets of each new CUDA build from one of its wheels.")
]
_Forget = Annotated[bool, option("--forget", help="Drop what former updates found, and stop.")]
_Json = Annotated[bool, option("--json", help="Print JSON.")]


def update(
    mirror: options.Mirror = None,
    dry_run: _DryRun = False,
    read_wheels: _Read = False,
    forget: _Forget = False,
    as_json: _Json = False,
) -> None:
    """List the releases, variants, Pythons and platforms of the PyTorch index that the rules don't know, and use them.

    Which GPUs such a build serves is unknown until its wheel is read: it ranks below every build that the rules know.
    """
    from envsolve.rulebook.overlay_file import overlay_path

    path = overlay_path()
    if forget:
        path.unlink(missing_ok=True)
        talk.say(f"dropped {path}: the rules alone are in force")
        return
    report = _update(path, mirror, dry_run=dry_run, read_wheels=read_wheels)
    print(json.dumps(report) if as_json else "\n".join(_lines(report)))


def _update(path: Path, mirror: str | None, *, dry_run: bool, read_wheels: bool) -> dict[str, Any]:
    from envsolve.index.http import Http
    from envsolve.redact import strip_credentials
    from envsolve.rulebook.load import load, rules_dir
    from envsolve.updating.index_listing import read_listing
    from envsolve.updating.news import news

    settings = options.Sources(mirror=mirror).settings()
    base = settings.torch_bases[0]
    rulebook = load(rules_dir())  # without a former overlay
    http = Http(settings)
    try:
        talk.say(f"reading {strip_credentials(base)}")
        found = news(read_listing(base, sorted({b.variant for b in rulebook.builds}), http), rulebook)
        codes = _read_codes(found, http) if read_wheels else {}
        shown = strip_credentials(base).rstrip("/")
        written = None if dry_run else _write(path, found, rulebook, shown, codes, http)
    finally:
        http.close()
    return _report(found, rulebook, shown, codes, written)


def _read_codes(found: News, http: Http) -> dict[Listed, WheelCode]:
    from envsolve.updating.wheel_code import read_wheel

    codes: dict[Listed, WheelCode] = {}
    for entry in found.builds:
        if not entry.variant.startswith("cu"):
            continue
        talk.say(f"reading a wheel of torch {entry.version} {entry.variant} for {entry.platform}")
        try:
            codes[entry] = read_wheel(entry.url, http)[0]
        except OutsideError as error:
            talk.say(f"not read: {error.message}")
    return codes


def _write(
    path: Path, found: News, rulebook: Rulebook, source: str, codes: dict[Listed, WheelCode], http: Http
) -> str | None:
    """Write the overlay, or drop it where nothing is new; the path where one is in force."""
    from envsolve.rulebook.overlay import parse_overlay
    from envsolve.updating.overlay import keep_read, overlay_of
    from envsolve.updating.pairs import read_pairs

    if not found:
        path.unlink(missing_ok=True)
        return None
    pairs = read_pairs(found, rulebook, http)
    overlay = overlay_of(found, rulebook, source, codes=codes, pairs=pairs)
    if path.exists():
        keep_read(overlay, parse_overlay(path.read_bytes(), str(path)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(overlay, indent=1) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise OutsideError(f"can't write {path}: {error.strerror}", hint="--dry-run writes nothing") from error
    return str(path)


def _report(
    found: News, rulebook: Rulebook, source: str, codes: dict[Listed, WheelCode], written: str | None
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "address": source,
        "rules": rulebook.digest,
        "releases": [str(version) for version in found.releases],
        "builds": [{**_entry(e), **_code(codes.get(e))} for e in found.builds],
        "companions": [_entry(e) for e in found.companions],
        "pythons": [
            {**_entry(n.listed), "python": list(n.pythons), "freethreaded": list(n.freethreaded)} for n in found.pythons
        ],
        "written": written,
    }


def _entry(entry: Listed) -> dict[str, Any]:
    return {
        "package": entry.package,
        "version": str(entry.version),
        "variant": entry.variant,
        "platform": entry.platform,
        "python": list(entry.pythons),
        "freethreaded": list(entry.freethreaded),
    }


def _code(code: WheelCode | None) -> dict[str, Any]:
    return {} if code is None or not code.targets_read else {"sm": list(code.sm), "ptx": list(code.ptx)}


def _lines(report: dict[str, Any]) -> list[str]:
    lines = [f"{report['address']} beside the rules {report['rules'][:12]}:"]
    if not any(report[key] for key in ("builds", "companions", "pythons")):
        return [*lines, "  nothing new"]
    lines += [f"  new releases of torch: {' '.join(report['releases'])}"] if report["releases"] else []
    lines += [f"  {_told(row)}{_targets(row)}" for row in (*report["builds"], *report["companions"])]
    lines += [f"  {_told(row)}: Pythons that the rules lack" for row in report["pythons"]]
    if report["written"]:
        lines.append(f"kept in {report['written']}; builds of unknown targets rank below those that the rules know")
    return lines


def _told(row: dict[str, Any]) -> str:
    pythons = [*row["python"], *(f"{minor}t" for minor in row["freethreaded"])]
    which = f", Python {' '.join(pythons)}" if pythons else ""
    return f"{row['package']} {row['version']} {row['variant']} for {row['platform'].replace('_', ' ', 1)}{which}"


def _targets(row: dict[str, Any]) -> str:
    return f": sm {' '.join(row['sm'])}" if row.get("sm") else ""
