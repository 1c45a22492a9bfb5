"""Installs that fail for the index: wrong, blocked, incomplete, or asked for the wrong packages; hashes, conflicts."""

from __future__ import annotations

import re

from packaging.utils import canonicalize_name

from envsolve.doctor.failed import FAMILY, RELATED, failed, index_urls, index_variant, only_index
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.situation import Situation
from envsolve.doctor.torch_state import public
from envsolve.doctor.wording import quoted

_TORCH_INDEX = re.compile(r"pytorch\.org/whl|/whl/(?:nightly/|test/)?(?:cu\d+|cpu|rocm)|torch_stable\.html")


def hostile(s: Situation) -> Finding | None:
    """A package that must not be installed."""
    e = s.evidence
    for name in s.facts.bad_names:
        seen = name in e.installed or re.search(rf"\b{re.escape(name)}[-= ]+\d", e.text)
        bad = s.facts.bad_name(name) if seen else None
        if bad:
            return Finding(
                code="index-problem",
                headline=f"{name}: {bad[1]}",
                certainty="high",
                evidence=tuple(line.strip() for line in e.text.split("\n") if name in line)[:4],
                fixes=(
                    Fix(
                        text=f"remove it, treat the machine as compromised (change its keys and tokens), and install anew with one index; what was meant is {bad[0]}",
                        commands=(f"pip uninstall {name}", "pip cache purge"),
                    ),
                ),
            )
    return None


def hashes(s: Situation) -> Finding | None:
    """Hashes that are missing, or that are those of other files."""
    shown = s.evidence.first("hash-missing", "hash-mismatch")
    if shown is None:
        return None
    missing = shown.name == "hash-missing"
    headline = (
        "the lock has no hash for this platform's file"
        if missing
        else "the file is not the one whose hash the lock or the index holds"
    )
    fix = (
        "lock again, for every platform that installs from it"
        if missing
        else "fetch it anew without the cache; if it stays, the index or mirror has another file than the one that was locked: lock again"
    )
    return _index(
        s,
        headline,
        quoted([shown]),
        Fix(text=fix, commands=("envsolve lock",) if missing else ("pip cache purge", "envsolve lock")),
    )


def blocked(s: Situation) -> Finding | None:
    """A host that cannot be reached, or that refuses."""
    shown = s.evidence.first("blocked", "http")
    if shown is None or s.evidence.has("traceback") and not re.search(r"\bpip\b|\buv\b|conda|poetry", s.evidence.text):
        return None
    if re.search(r"huggingface|github\.com|githubusercontent|hf\.co", shown.text) and "pytorch" not in shown.text:
        return None
    host = re.search(r"host='([^']+)'|https?://([\w.-]+)", shown.text) or re.search(
        r"host='([^']+)'|https?://([\w.-]+)", s.evidence.text
    )
    name = next((g for g in host.groups() if g), "the index") if host else "the index"
    status = next((shown.get(g) for g in ("status", "status2", "status3", "status4") if shown.get(g)), "")
    if status in ("404", "410", "403") and shown.name == "http":
        url = re.search(r"https?://\S+", shown.text)
        headline = f"{url[0].rstrip('.,)') if url else name} is not there ({status}): a wrong or moved address"
        return _index(
            s,
            headline,
            quoted([shown]),
            Fix(
                text="take the address of the variant's folder, https://download.pytorch.org/whl/VARIANT",
                commands=("envsolve plan torch",),
            ),
        )
    if re.search(r"certificate|ssl|UnknownIssuer", shown.text, re.I):
        return _index(
            s,
            f"the certificate of {name} is not trusted here (a company proxy?)",
            quoted([shown]),
            Fix(
                text="give the installer the company's certificate",
                commands=("pip config set global.cert /path/to/company-ca.pem",),
            ),
        )
    fix = Fix(
        text=f"allow {name} as well: file links may lead to another host than the index; name and hash tell the file, not its address"
    )
    return _index(s, f"{name} cannot be reached from here", quoted(s.evidence.all("blocked", "http")[-2:]), fix)


def confused(s: Situation) -> Finding | None:
    """Packages taken from the wrong one of several indexes."""
    e = s.evidence
    hint = e.first("uv-hint-index")
    if hint:
        headline = f"{hint.get('package')} is taken from {hint.get('index')}, which has not the version that is needed"
        return _index(s, headline, quoted([hint]), _explicit(hint.get("index")))
    for unmet in failed(e):
        url = _index_of(s, unmet.symptom.get("index"))
        if unmet.name not in RELATED and url and _TORCH_INDEX.search(url):
            headline = f"{unmet.shown} is looked for on the PyTorch index, which holds torch and few other packages"
            return _index(s, headline, quoted([unmet.symptom]), _explicit(url))
    return None


def _index_of(s: Situation, said: str) -> str:
    return said or only_index(s.evidence)


def _explicit(url: str) -> Fix:
    text = "use that index for the packages that need it alone: mark it explicit and name it as their source"
    return Fix(
        text=text,
        commands=(
            '[[tool.uv.index]]\nname = "pytorch"\nurl = "%s"\nexplicit = true' % url.rstrip(",."),
            '[tool.uv.sources]\ntorch = { index = "pytorch" }',
        ),
    )  # noqa: UP031


def conflict(s: Situation) -> Finding | None:
    """A resolver's "impossible": files missing from the index, or pins that exclude each other."""
    e = s.evidence
    if not e.has("conflict", "uv-no-solution", "no-dist-for", "conda-unsatisfiable", "poetry-because"):
        return None
    gone = _missing_dependencies(s)
    if gone:
        headline = f"torch itself is there; what it requires is missing on the given index: {', '.join(gone)}"
        return _index(
            s,
            headline,
            quoted(e.all("conflict-line", "no-dist-for")[:2]),
            Fix(
                text="let the default Python index serve those: give the PyTorch index beside it, not in place of it",
                commands=("pip install torch==VERSION --extra-index-url https://download.pytorch.org/whl/VARIANT",),
            ),
        )
    return _pins(s) or _conda_conflict(s)


def _missing_dependencies(s: Situation) -> list[str]:
    listed = s.evidence.first("no-dist-for")
    names = listed.get("packages").split() if listed else []
    names += [f.name for f in failed(s.evidence)]
    return [
        n
        for n in dict.fromkeys(names)
        if n.startswith("nvidia-") or (n not in RELATED and _TORCH_INDEX.search(only_index(s.evidence) or ""))
    ]


def _pins(s: Situation) -> Finding | None:
    """torchvision, torchaudio or another package that pins another torch than the one that is asked for."""
    lines = s.evidence.all("conflict-line", "poetry-because", "uv-none", "dependency-warning")
    for symptom in lines:
        match = re.search(
            r"(torchvision|torchaudio|torchtext|xformers|triton)[ =]+=?v?(\d[\w.+]*)[^\n]*?(?:depends on|requires) (torch[ <>=!~][^\s;,]*)",
            symptom.text,
        )
        if match and not symptom.get("need").startswith("numpy"):
            return Finding(
                code="companion-mismatch",
                headline=f"{match[1]} {match[2]} requires {match[3]}, which is not the torch that is asked for",
                certainty="high",
                evidence=tuple(quoted(lines[:4])),
                fixes=(
                    Fix(text=_belongs(s, match[1], match[2]), commands=("envsolve plan torch torchvision torchaudio",)),
                ),
            )
    return None


def _belongs(s: Situation, name: str, version: str) -> str:
    number = public(version)
    torch = s.torch_for(name, number) if number else None
    return (
        f"{name} {version} belongs to torch {torch}: change one of the two pins"
        if torch
        else "change one of the two pins"
    )


def _conda_conflict(s: Situation) -> Finding | None:
    """conda: no CUDA seen, a toolkit pin against a build, an old glibc, a wrong Python."""
    e = s.evidence
    shown = e.first("conda-no-cuda")
    if shown:
        return _index(
            s,
            "conda's solver sees no CUDA driver on this machine and so refuses the CUDA build",
            quoted([shown]),
            Fix(
                text="tell it the CUDA that the target's driver speaks",
                commands=("CONDA_OVERRIDE_CUDA=VERSION conda install -c conda-forge pytorch",),
            ),
        )
    shown = e.first("conda-unsatisfiable")
    if shown is None:
        return None
    text = e.text
    if (
        re.search(r"cudatoolkit|cuda-toolkit|pytorch-cuda|cuda-version", text)
        and re.search(r"pytorch", text)
        and not re.search(r"- python(?:_abi)?[ =\[]", text)
    ):
        return Finding(
            code="variant-mismatch",
            headline="the pinned CUDA toolkit and the pytorch build ask for different CUDA lines",
            certainty="medium",
            evidence=tuple(quoted([shown])),
            fixes=(
                Fix(
                    text="drop the toolkit pin: the build brings its own CUDA",
                    commands=("envsolve plan torch torchvision torchaudio",),
                ),
            ),
        )
    if re.search(r"python[ =\[>_]", text) and re.search(r"pytorch|torch", text):
        return Finding(
            code="python-unsupported",
            headline="that pytorch has no build for the Python of this environment",
            certainty="medium",
            evidence=tuple(quoted([shown])),
            fixes=(
                Fix(
                    text="make an environment with an older Python, or take a newer pytorch",
                    commands=("envsolve plan torch",),
                ),
            ),
        )
    return None


def superfluous(s: Situation) -> Finding | None:
    """NVIDIA packages beside a CPU build: metadata listed them; they are not needed."""
    e = s.evidence
    if s.torch.accelerator != "cpu" or not s.torch.certain:
        return None
    came = [c.name for c in e.changes if re.fullmatch(r"nvidia-[\w-]+-cu\d+", c.name)] or [
        n for n in e.installed if re.fullmatch(r"nvidia-[\w-]+-cu\d+", n)
    ]
    if not came or s.machine.gpus or e.host.gpu_claimed:
        return None
    headline = f"the CPU build needs none of the {len(came)} nvidia packages: the index's metadata listed them"
    fix = Fix(text="remove them, and lock again from the cpu index", commands=(f"pip uninstall {' '.join(came[:8])}",))
    return _index(s, headline, [f"installed: {s.torch.shown} and {', '.join(came[:4])}"], fix, certainty="medium")


def channel(s: Situation) -> Finding | None:
    """conda channels that have ended or cannot be used, metadata that newer installers refuse."""
    e = s.evidence
    shown = e.first("conda-channel", "bad-metadata", "legacy-parse", "uv-environments", "uv-indexes", "placeholder")
    if shown is None or (shown.name == "legacy-parse" and not re.search(r"torch", e.text)):
        return None
    what = {
        "conda-channel": "a conda channel that is named is not there",
        "bad-metadata": "the file's metadata and its name do not agree, and the installer refuses it",
        "legacy-parse": "the file's old metadata is refused by this newer installer",
        "placeholder": "the default index has a placeholder only: the real files are on the vendor's index",
        "uv-indexes": "two parts of the project name different indexes for one package",
        "uv-environments": "the lock was made for other platforms than this one",
    }[shown.name]
    fix = {
        "legacy-parse": Fix(
            text="take a newer release, or an older pip for this one", commands=('pip install "pip<24.1"',)
        ),
        "placeholder": Fix(
            text="give the vendor's index for that package alone",
            commands=("pip install PACKAGE --extra-index-url https://INDEX-OF-THE-VENDOR",),
        ),
        "uv-indexes": Fix(
            text="name one index, or part them by an extra or a group and declare these as conflicts",
            commands=("uv lock",),
        ),
        "uv-environments": Fix(text="lock again with this platform among tool.uv.environments", commands=("uv lock",)),
    }.get(
        shown.name,
        Fix(text="take the packages from the current index", commands=("envsolve plan torch torchvision torchaudio",)),
    )
    return _index(s, what, quoted([shown]), fix)


def unlisted(s: Situation) -> Finding | None:
    """A torch that exists for this Python and platform and was still not found: the index is the cause."""
    unmet = next(
        (
            f
            for f in failed(s.evidence)
            if f.name in FAMILY and f.symptom.name in ("pip-none", "uv-none", "uv-not-in-registry", "poetry-none")
        ),
        None,
    )
    if unmet is None:
        return None
    urls = [u for u in index_urls(s.evidence) if "whl" in u or "simple" in u or "pypi" in u]
    odd = [u for u in urls if "pytorch.org/whl" in u and not index_variant(u) and not u.endswith(("whl", ".html"))]
    what = (
        f"the address {odd[0]} is no folder of the PyTorch index"
        if odd
        else f"{unmet.shown} exists, but not on the given index"
    )
    return _index(
        s,
        what,
        quoted([unmet.symptom]),
        Fix(
            text="take the address of the variant's folder",
            commands=(f"envsolve plan {unmet.name}{f'=={unmet.version}' if unmet.version else ''}",),
        ),
        certainty="medium",
    )


def _index(s: Situation, headline: str, lines: list[str], fix: Fix, *, certainty: str = "high") -> Finding:
    return Finding(code="index-problem", headline=headline, certainty=certainty, evidence=tuple(lines), fixes=(fix,))  # type: ignore[arg-type]


def canonical(name: str) -> str:
    """The canonical form of a package name."""
    return canonicalize_name(name)
