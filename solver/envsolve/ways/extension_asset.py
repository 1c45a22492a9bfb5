"""The address of a wheel that is on no index, from the package's template and the build that it goes with."""

from __future__ import annotations

from envsolve.rulebook.tables import Build
from envsolve.rulebook.ways_rows import ExtensionPackage, ExtensionWheel
from envsolve.rulebook.ways_tables import Ways


def asset_address(wheel: ExtensionWheel, package: ExtensionPackage, build: Build, python: str, ways: Ways) -> str:
    """Where the file (or the page of files) is; "" where an index has it, or where its name can't be told."""
    if not wheel.asset or not package.asset:
        return ""
    abi = cxx_abi(build, ways)
    if "{abi}" in package.asset and (abi is None or not python or build.cuda is None):
        return ""
    return package.asset.format(
        version=wheel.version,
        cuda_major=build.cuda.major if build.cuda else "",
        torch_minor=f"{build.torch.major}.{build.torch.minor}",
        abi=abi,
        py=python_tag(python),
        variant=build.variant,
    )


def cxx_abi(build: Build, ways: Ways) -> str | None:
    """The C++ ABI of a torch wheel as assets name it: "TRUE" or "FALSE"; None where the rules don't say."""
    for row in ways.abis:
        if row.torch.contains(build.torch, prereleases=True) and (
            "any" in row.variants or build.variant in row.variants
        ):
            return row.abi
    return None


def python_tag(python: str) -> str:
    """The tag of a CPython: "3.12.1" -> cp312."""
    return "cp" + "".join(python.removesuffix("t").split(".")[:2])
