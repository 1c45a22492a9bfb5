"""Failed: the requirement that an installer could not meet, in whatever tool's words. Pure reading, no judgement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from envsolve.doctor.evidence import Evidence, Symptom
from envsolve.doctor.torch_state import public, variant_of_label
from envsolve.record import record
from envsolve.regex import regex

FAMILY = ("torch", "torchvision", "torchaudio")
RELATED = (
    *FAMILY,
    "pytorch",
    "pytorch-cuda",
    "cudatoolkit",
    "triton",
    "torchtext",
    "torchdata",
    "cpuonly",
    "pytorch-mutex",
)
_REQUIREMENT = regex(r"^([A-Za-z][\w.-]*?)(?:\[[^\]]*\])?\s*((?:[<>=!~]=?=?\s*[^,\s]+,?\s*)*)$")
_EXACT = regex(r"(?<![<>!~])==?=?\s*([^,\s*]+)")
# A source of poetry, or an index of uv, up to the next table; one that is default or primary replaces the usual index.
_TABLES = regex(
    r"(\[\[tool\.(?:poetry\.source|uv\.index)\]\]\n(?:(?!\[)[^\n]*\n)*?(?:(?!\[)[^\n]*\burl = \"([^\"\n]+)\"[^\n]*\n?)"
    r"(?:(?!\[)[^\n]*\n?)*)"
)
_IS_DEFAULT = regex(r"^\s*(?:default = true|priority = \"(?:primary|default)\")", re.MULTILINE)
# conda's solvers, and pixi's
_CONDA_INLINE = regex(
    r"(?:nothing provides requested|No candidates were found for) ([^\s.]\S*)(?:\s([\d][\d.]*))?"
    r"|package (\S+) does not exist"
)
_CONDA_ITEM = regex(r"^\s*-\s+([\w.-]+?)(?:(?:\[version='?|[ =]*)([<>=]*[\d][^\s'\]]*))?(?:[\s'\]]|$)", re.MULTILINE)


@record
class Failed:
    """A requirement that was not met. `version` and `label` where it names one; `offered` what the index has instead
    (None = not said, () = nothing)."""

    name: str
    text: str
    version: Version | None
    label: str
    specifier: SpecifierSet | None
    offered: tuple[Version, ...] | None
    symptom: Symptom

    @property
    def variant(self) -> str:
        """The variant that the label names."""
        return variant_of_label(self.label)

    @property
    def shown(self) -> str:
        """For sentences: "torch 1.12.1+cu113"."""
        label = f"+{self.label}" if self.label else ""
        return f"{self.name} {self.version}{label}" if self.version else self.text or self.name


def failed(evidence: Evidence) -> tuple[Failed, ...]:
    """Every unmet requirement, those of torch and its companions first."""
    found = [f for symptom in evidence.symptoms if (f := _read(symptom)) is not None]
    if not found:
        unmet = (s for s in evidence.symptoms if s.name == "pip-no-match" and "(from -r" in s.text)
        found = [f for s in unmet if (f := _failed(s.get("requirement"), s, None)) is not None]
    found += _conda(evidence)
    return tuple(sorted({f.text: f for f in reversed(found)}.values(), key=lambda f: (_rank(f.name), f.symptom.line)))


def _rank(name: str) -> int:
    return RELATED.index(name) if name in RELATED else len(RELATED)


def _read(symptom: Symptom) -> Failed | None:
    if symptom.name == "pip-none":
        return _failed(symptom.get("requirement"), symptom, _versions(symptom.get("versions")))
    if symptom.name == "uv-none":
        spec = symptom.get("spec") or symptom.get("spec2")
        name = symptom.get("package") or symptom.get("package2")
        if symptom.get("package2"):
            return _failed(_wanted_beside(symptom, name), symptom, _versions(spec))
        return _failed(f"{name}{spec.rstrip(',')}", symptom, None)
    if symptom.name in ("uv-abi", "uv-platform"):
        return _failed(f"{symptom.get('package')}{symptom.get('spec')}", symptom, None)
    if symptom.name in ("uv-no-wheel", "poetry-none"):
        name = symptom.get("package") or symptom.get("package2")
        return _failed(f"{name}=={symptom.get('version') or symptom.get('version2')}", symptom, None)
    if symptom.name == "poetry-unmatched":
        spec = symptom.get("spec")
        return _failed(f"{symptom.get('package')}{spec if spec[:1] in '<>=!~' else f'=={spec}'}", symptom, None)
    if symptom.name == "torch-placeholder":
        return _failed("torch", symptom, ())
    if symptom.name == "uv-not-in-registry":
        return _failed(symptom.get("package") or symptom.get("package2"), symptom, ())
    return None


def _wanted_beside(symptom: Symptom, name: str) -> str:
    """ "only torch<=2.5 is available and you require torch>=2.6": the second is the requirement."""
    wanted = re.search(rf"(?:require|depends on)s? ({re.escape(name)}[<>=!~][^\s,]*(?:,[<>=!~][^\s,]*)*)", symptom.text)
    return wanted[1] if wanted else name


def _failed(text: str, symptom: Symptom, offered: tuple[Version, ...] | None) -> Failed | None:
    match = _REQUIREMENT.match(text.strip().strip("'\"`"))
    if match is None:
        return None
    exact = _EXACT.search(match[2])
    number = exact[1] if exact else ""
    return Failed(
        name=canonicalize_name(match[1]),
        text=text,
        version=public(number) if number else None,
        label=number.partition("+")[2],
        specifier=_specifier(match[2]),
        offered=offered,
        symptom=symptom,
    )


def _specifier(text: str) -> SpecifierSet | None:
    try:
        return SpecifierSet(re.sub(r"\+[\w.]+", "", text).strip().rstrip(","))
    except InvalidSpecifier:
        return None


def _versions(text: str) -> tuple[Version, ...]:
    """The versions of "(from versions: 2.2.0, 2.2.1)"; () of "none"."""
    numbers = re.findall(r"\d+(?:\.\d+)+[\w.+]*", text)
    return tuple(sorted({v for n in numbers if (v := public(n)) is not None}))


def _conda(evidence: Evidence) -> Iterator[Failed]:
    """The items below conda's PackagesNotFoundError or ResolvePackageNotFound."""
    for symptom in evidence.all("conda-not-found"):
        lines = evidence.text.split("\n")[symptom.line - 1 : symptom.line + 30]
        ended = next(
            (i for i, line in enumerate(lines) if i and re.match(r"\s*(?:Current channels|To search)", line)),
            len(lines),
        )
        block = "\n".join(lines[:ended])
        for match in _CONDA_ITEM.finditer(block):
            name, number = match[1], (match[2] or "").lstrip("=<>").rstrip("*.")
            yield Failed(
                name=name.lower(),
                text=match[0].strip(" -\n"),
                version=public(number) if number else None,
                label="",
                specifier=None,
                offered=None,
                symptom=symptom,
            )
        inline = _CONDA_INLINE.search(block)
        if inline:
            number = inline[2] or ""
            name = re.split(r"[<>= ]", inline[1] or inline[3])
            yield Failed(
                name=name[0].lower(),
                text=inline[0],
                version=public(number or name[-1]),
                label="",
                specifier=None,
                offered=None,
                symptom=symptom,
            )


def index_urls(evidence: Evidence) -> tuple[str, ...]:
    """The indexes that the text names for an install: options, "Looking in indexes", configuration, error messages."""
    found = [u for c in evidence.commands for u in (*c.index, *c.extra, *c.links)]
    found += re.findall(r"https?://[^\s'\",)<>`]+", evidence.text)
    return tuple(dict.fromkeys(u.rstrip("/.,:") for u in found))


def odd_indexes(evidence: Evidence) -> list[str]:
    """Addresses below the PyTorch index that are no folder of it."""
    urls = [u for u in index_urls(evidence) if "pytorch.org/whl" in u]
    return [u for u in urls if not index_variant(u) and not u.endswith(("whl", ".html"))]


def only_index(evidence: Evidence) -> str:
    """The --index-url that replaces the default index in the last install command; "" where none does."""
    installs = [
        c for c in evidence.commands if c.verb in ("install", "download", "add", "sync") and c.tool in ("pip", "uv")
    ]
    for command in reversed(installs):
        if command.index:
            return command.index[-1] if not command.extra else ""
    looking = re.findall(r"Looking in indexes: ([^\n]+)", evidence.text)
    urls = [u.strip() for u in looking[-1].split(",")] if looking else []
    return urls[0] if len(urls) == 1 else _of_project(evidence) or _of_a_sentence(evidence.text)


def _of_a_sentence(text: str) -> str:
    """The index of a command that stands in the middle of a sentence; "" where there are several."""
    named = set(re.findall(r"--index-url[ =]([^\s'\",)<>`]+)", text))
    return named.pop().rstrip(".,:") if len(named) == 1 and "--extra-index-url" not in text else ""


def _of_project(evidence: Evidence) -> str:
    """The index that a project's own file puts in place of the default one; "" where it has none or several."""
    named = list(dict.fromkeys(url for table, url in _TABLES.findall(evidence.text) if _IS_DEFAULT.search(table)))
    return named[0] if len(named) == 1 else ""


def index_variant(url: str) -> str:
    """The variant of a folder of the PyTorch index: ".../whl/cu118" -> cu118."""
    tail = url.rstrip("/").rsplit("/", 1)[-1]
    return variant_of_label(tail) if "pytorch.org/whl" in url or "/whl/" in url else ""
