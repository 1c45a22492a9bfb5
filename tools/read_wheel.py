#!/usr/bin/env python3
"""Read what a torch wheel tells of itself: its CUDA version and its code targets, as a row for rules/torch/builds.yaml.

    read_wheel.py URL|FILE|torch==VERSION [--python 3.11] [--platform linux_x86_64] [--json]

A wheel at an address is read by ranges: a few megabytes of several hundred. torch==VERSION is looked up on the Python
index that pip is configured for.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from envsolve.errors import EnvsolveError, InputError
from envsolve.index.fitting import Target
from envsolve.index.http import Http
from envsolve.index.package_index import open_index
from envsolve.settings import Settings, load_settings
from envsolve.updating.wheel_code import WheelCode, read_wheel


def located(text: str, settings: Settings, python: str, platform: str) -> str | Path:
    """The file or the address that a word of the command line means. Raises InputError or OutsideError."""
    if text.startswith(("http://", "https://")):
        return text
    if Path(text).is_file():
        return Path(text)
    requirement = Requirement(text)
    with open_index(settings, python=python, platform=platform) as index:
        files = index.files("torch", version=_exact(requirement))
        target = Target(python=python, platform=platform)
        fitting = [file for file in files if file.is_wheel and target.fits(file.filename)]
    if not fitting:
        raise InputError(f"no wheel of {text} for Python {python} on {platform}", hint="--python, --platform")
    return fitting[0].url


def _exact(requirement: Requirement) -> Version:
    pins = [s.version for s in requirement.specifier if s.operator == "=="]
    if len(pins) != 1:
        raise InputError(f"{requirement}: give one version", hint="torch==2.9.1")
    return Version(pins[0])


def as_yaml(code: WheelCode) -> str:
    """The fields of a row of builds.yaml."""
    if not code.targets_read:
        return f"# {code.version}: CUDA {code.cuda}, its list of targets was not found"
    sm, ptx = (f"[{', '.join(listed)}]" for listed in (code.sm, code.ptx))
    kind = f"CUDA {code.cuda}" if code.cuda else f"ROCm {code.hip}" if code.hip else "no CUDA"
    return f"# {code.version}: {kind}\nsm: {sm}\nptx: {ptx}"


def main(words: list[str]) -> int:
    """Print what the wheel tells; 1 where it has CUDA and its targets were not found, 2 and 3 for errors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel")
    parser.add_argument("--python", default=f"{sys.version_info.major}.{sys.version_info.minor}")
    parser.add_argument("--platform", default="linux_x86_64")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    settings = load_settings({"source": "pypi"})
    http = Http(settings)
    try:
        code, fetched = read_wheel(located(given.wheel, settings, given.python, given.platform), http)
    except EnvsolveError as error:
        print(f"error: {error.message}", *([f"hint: {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        return error.exit_code
    finally:
        http.close()
    print(json.dumps({**asdict(code), "fetched": fetched}) if given.json else as_yaml(code))
    print(f"{fetched / 1e6:.1f} MB fetched in {http.count} requests", file=sys.stderr)
    return 0 if code.targets_read else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
