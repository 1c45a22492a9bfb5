"""A conda environment.yml, with its pip section, and a conda-lock.yml."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envsolve.errors import InputError
from envsolve.lock import environment_in, foreign_requirements
from envsolve.lock.conda import SUBDIRS
from envsolve.lock.conda_lock_yml import build_of
from envsolve.lock.conda_names import pip_name
from envsolve.lock.foreign_pin import Foreign, ForeignPin, judged, only, variant_in
from envsolve.lock.markers import platform_marker


def read(text: str, filename: str) -> Foreign:
    """The Foreign behind such a file. Raises InputError for what is neither."""
    if "\npackage:" in text and "\nmetadata:" in text:
        return _conda_lock(text, filename)
    wishes = environment_in.parse(text, origin=filename)
    pins = [foreign_requirements.pin_of(r, filename) for r in wishes.requirements if judged(r.name)]
    section = foreign_requirements.read(environment_in.pip_text(text, origin=filename), filename)
    variant = wishes.variants[0][1] if wishes.variants else section.variant
    conda = any(pin.name == "torch" for pin in pins)
    return Foreign(
        tool="conda", pins=only([*pins, *section.pins]), pythons=wishes.pythons, variant=variant, conda=conda
    )


def _conda_lock(text: str, filename: str) -> Foreign:
    try:
        entries = yaml.safe_load(text)["package"]
        pins = tuple(_pins(entries, filename))
    except (yaml.YAMLError, KeyError, TypeError, AttributeError, InvalidSpecifier) as error:
        raise InputError(f"{filename} is not a conda-lock.yml: {error}") from error
    conda = any(entry["manager"] == "conda" and pip_name(entry["name"]) == "torch" for entry in entries)
    return Foreign(tool="conda-lock", pins=only(pins), conda=conda)


def _pins(entries: list[dict[str, Any]], filename: str) -> Iterator[ForeignPin]:
    platforms = {subdir: platform for platform, subdir in SUBDIRS.items()}
    for number, entry in enumerate(entries):
        name = pip_name(entry["name"]) if entry["manager"] == "conda" else entry["name"]
        if name is None or not judged(name) or entry["platform"] not in platforms:
            continue
        url, conda = entry["url"], entry["manager"] == "conda"
        yield ForeignPin(
            name=name,
            versions=SpecifierSet(f"=={entry['version']}"),
            where=f"{filename}: package[{number}] ({name})",
            variant=environment_in.variant_of_build(build_of(url)) if conda and name == "torch" else variant_in(url),
            markers=(platform_marker(platforms[entry["platform"]]),),
        )
