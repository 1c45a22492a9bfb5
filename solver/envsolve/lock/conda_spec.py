"""CondaSpec: one entry of a conda environment, read as conda does."""

from __future__ import annotations

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from envsolve.errors import InputError
from envsolve.record import record
from envsolve.regex import regex

_SPEC = regex(r"(?:(?P<channel>[^\s\[]+)::)?(?P<name>[A-Za-z0-9_.-]+)\s*(?P<version>[^\[\]]*?)\s*(?:\[(?P<keys>.*)\])?")
_FUZZY = regex(
    r"(?P<sign>=?)(?P<version>[0-9][\w!+]*(?:\.[\w!+]+)*)(?P<star>\.?\*)?(?:=(?P<build>\S*)|\s+(?P<spaced>\S+))?"
)
_EXACT = regex(r"==\s*(?P<version>[0-9][\w.!+]*)(?:(?:=|\s+)(?P<build>\S+))?")
_VERSION_KEY = regex(r"version\s*=\s*(['\"]?)(?P<version>[^'\"\]]+)\1")


@record
class CondaSpec:
    """`version` as pip writes it; `build` is conda's build string ("" = any)."""

    name: str
    version: SpecifierSet
    build: str = ""


def conda_spec(text: str, where: str) -> CondaSpec:
    """The CondaSpec of `python=3.11`, `numpy>=1.26,<2`, `conda-forge::pytorch=2.5.1=cuda126_py312*` and the like.

    Raises InputError with `where` for what has no counterpart among pip's specifiers.
    """
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{where}: {text!r} is not a conda package", hint="write it like: numpy=1.26")
    version = match["version"]
    if match["keys"] and (key := _VERSION_KEY.search(match["keys"])):
        version = key["version"]
    try:
        specifier, build = _version(version.strip())
    except InvalidSpecifier:
        raise InputError(
            f"{where}: the version of {text!r} can't be read", hint="write it like: numpy>=1.26,<2"
        ) from None
    return CondaSpec(name=match["name"].lower(), version=specifier, build=build)


def _version(text: str) -> tuple[SpecifierSet, str]:
    """The versions and the build. A single `=` asks for a version and what is below it: 3.11 takes 3.11.7.

    Raises InvalidSpecifier.
    """
    if text in ("", "*", "=*"):
        return SpecifierSet(), ""
    if exact := _EXACT.fullmatch(text):
        return SpecifierSet(f"=={exact['version']}"), exact["build"] or ""
    if fuzzy := _FUZZY.fullmatch(text):
        build = fuzzy["build"] or fuzzy["spaced"] or ""
        # With a build beside it the version is meant as it stands, as `conda env export` writes it.
        wide = bool(fuzzy["star"]) or (bool(fuzzy["sign"]) and not build)
        return SpecifierSet(f"=={fuzzy['version']}" + (".*" if wide else "")), build
    return SpecifierSet(text.replace(" ", ",") if "," not in text else text), ""
