"""Installs that fail for the index: wrong, blocked, out of date, or asked for the wrong packages; hashes, metadata."""

from __future__ import annotations

import re
import shlex

from envsolve.addresses import PYTORCH_INDEX
from envsolve.doctor.failed import FAMILY, RELATED, failed, index_variant, odd_indexes, only_index
from envsolve.doctor.finding import Finding, Fix
from envsolve.doctor.situation import Situation
from envsolve.doctor.wording import quoted
from envsolve.doctor.write import finding, fix
from envsolve.record import replace
from envsolve.regex import regex

TORCH_INDEX = regex(r"pytorch\.org/whl|/whl/(?:nightly/|test/)?(?:cu\d+|cpu|rocm)|torch_stable\.html")
_ELSEWHERE = regex(r"huggingface|github\.com|githubusercontent|hf\.co")
_HOST = regex(r"host='([^']+)'|https?://([\w.-]+)")
_OF_THE_FAMILY = regex(r"/torch(?:vision|audio)?-\d[^/\s]*\.whl")
_UNPINNED = regex(
    r"must have their versions pinned with ==\. These do not:\s+([\w.-]+)[^\n]*\(from ([\w.-]+(?:==[\w.+]+)?)(?:->|\))"
)
_NOT_THERE = ("404", "410", "403")
_PLAN_ALL = "envsolve plan torch torchvision torchaudio"
_FOLDER = f"take the address of the variant's folder, {PYTORCH_INDEX}/VARIANT"
_OTHER_HOST = fix("look the file's present address up on its makers' pages")
# Messages that need no judgement: what each means and the way out.
_PLAIN = {
    "conda-channel": ("a conda channel that is named is not there", fix("take the packages from pip", _PLAN_ALL)),
    "bad-metadata": (
        "the file's metadata and its name do not agree, and the installer refuses it",
        fix("take the packages from the current index", _PLAN_ALL),
    ),
    "legacy-parse": (
        "the file's old metadata is refused by this newer installer",
        fix("take a newer release, or an older pip for this one"),
    ),
    "placeholder": (
        "the default index has a placeholder only: the real files are on the vendor's index",
        fix("give the vendor's index for that package alone"),
    ),
    "uv-indexes": (
        "two parts of the project name different indexes for one package",
        fix("name one index, or part them by an extra or a group and declare these as conflicts", "uv lock"),
    ),
    "uv-environments": (
        "the lock was made for other platforms than this one",
        fix("lock again with this platform among tool.uv.environments", "uv lock"),
    ),
}


def hashes(s: Situation) -> Finding | None:
    """Hashes that are missing, or that are those of other files."""
    shown = s.evidence.first("hash-missing", "hash-mismatch")
    if shown is None:
        return None
    if shown.name == "hash-missing":
        if unpinned := _UNPINNED.search(s.evidence.text):
            headline = f"hashes are required, and the file does not pin {unpinned[1]}, which {unpinned[2]} requires"
            way = fix("lock the whole set, what is required too", "envsolve lock -r requirements.in")
            return finding(s, "index-problem", headline, shown=[shown], fixes=[way])
        way = fix("lock again, for every platform that installs from it", "envsolve lock")
        headline = "the lock has no hash for this platform's file"
        return finding(s, "index-problem", headline, shown=[shown], fixes=[way])
    text = (
        "fetch it anew without the cache; if it stays, the index or mirror has another file than the one that was "
        "locked: lock again"
    )
    headline = "the file is not the one whose hash the lock or the index holds"
    return finding(s, "index-problem", headline, shown=[shown], fixes=[fix(text, "pip cache purge", "envsolve lock")])


def blocked(s: Situation) -> Finding | None:
    """A host that cannot be reached, or that refuses."""
    e = s.evidence
    shown = e.first("blocked", "http")
    if shown is None or (e.has("traceback") and not re.search(r"\bpip\b|\buv\b|conda|poetry", e.text)):
        return None
    if _ELSEWHERE.search(shown.text) and "pytorch" not in shown.text:
        return None
    host = _host(shown.text) or _host(e.text) or "the index"
    status = next((found for n in ("status", "status2", "status3", "status4") if (found := shown.get(n))), "")
    if shown.name == "http" and status in _NOT_THERE:
        headline = f"{host} refuses or does not have that file ({status}): a wrong or moved address, or a filter"
        way = fix(_FOLDER, "envsolve plan torch") if "pytorch" in host else _OTHER_HOST
        if "pytorch" not in host and _OF_THE_FAMILY.search(shown.text):
            text = f"see what {host} lists in that folder, and have its keeper fetch the file"
            way = fix(text, "envsolve plan torch --mirror URL")
        return finding(s, "index-problem", headline, shown=[shown], fixes=[way])
    if re.search(r"not yet valid|has expired", e.text):
        way = fix("set the clock of this machine right; if it is, the server's certificate has run out", "date")
        headline = f"the certificate of {host} is not valid at the time that this machine shows"
        return finding(s, "index-problem", headline, shown=[shown], fixes=[way])
    if re.search(r"certificate|ssl|UnknownIssuer", shown.text, re.IGNORECASE):
        way = fix("give the installer the company's certificate", "pip config set global.cert /path/to/company-ca.pem")
        headline = f"the certificate of {host} is not trusted here (a company proxy?)"
        return finding(s, "index-problem", headline, shown=[shown], fixes=[way])
    if "407" in shown.text:
        way = fix("give the proxy's user and password", "export HTTPS_PROXY=http://USER:PASSWORD@PROXY:PORT")
        return finding(s, "index-problem", "the proxy wants a log-in (407)", shown=[shown], fixes=[way])
    text = f"allow {host} as well: files may lie on another host than the index; name and hash tell the file"
    lines = quoted(e.all("blocked", "http")[-2:])
    return finding(s, "index-problem", f"{host} cannot be reached from here", more=lines, fixes=[fix(text)])


def _host(text: str) -> str:
    match = _HOST.search(text)
    return (match[1] or match[2]) if match else ""


def confused(s: Situation) -> Finding | None:
    """Packages taken from the wrong one of several indexes."""
    hint = s.evidence.first("uv-hint-index")
    if hint:
        headline = f"{hint.get('package')} is taken from {hint.get('index')}, which has not the version that is needed"
        return finding(s, "index-problem", headline, shown=[hint], fixes=[_apart(s, hint.get("index"), "")])
    for unmet in failed(s.evidence):
        url = unmet.symptom.get("index") or only_index(s.evidence)
        if unmet.name not in RELATED and TORCH_INDEX.search(url):
            headline = f"{unmet.shown} is looked for on the PyTorch index, which holds torch and few other packages"
            return finding(s, "index-problem", headline, shown=[unmet.symptom], fixes=[_apart(s, url, unmet.text)])
    return None


def _apart(s: Situation, url: str, other: str) -> Fix:
    """torch from its index, the rest from the default one, with the tool that was used."""
    last = next((c for c in reversed(s.evidence.commands) if c.tool in ("pip", "uv")), None)
    variant = index_variant(url)
    torches = [r for r in last.requirements if r.startswith("torch")] if last else []
    if last is not None and last.tool == "uv" and last.text.startswith("uv pip") and variant and torches:
        plain = [torch.partition("+")[0] for torch in torches]
        text = "uv pip has an option that takes torch's own packages from that index and the rest from the default one"
        return fix(text, shlex.join(["uv", "pip", "install", *plain, "--torch-backend", variant]))
    if last is not None and last.tool == "pip" and other:
        first = fix("take it from the default index first, and give the PyTorch index for torch's own packages alone")
        return replace(
            first,
            commands=(
                shlex.join(["pip", "install", other]),
                f"pip install {shlex.join(torches) or 'torch'} --index-url {url}",
            ),
        )
    return _explicit(s, url)


def _explicit(s: Situation, url: str) -> Fix:
    text = "use that index for the packages that need it alone: mark it explicit and name it as their source"
    if "[[tool.poetry.source]]" in s.evidence.text:
        source = f'[[tool.poetry.source]]\nname = "pytorch"\nurl = "{url}"\npriority = "explicit"'
        return fix(text, source, "poetry lock")
    index = f'[[tool.uv.index]]\nname = "pytorch"\nurl = "{url.rstrip(",.")}"\nexplicit = true'
    return fix(text, index, '[tool.uv.sources]\ntorch = { index = "pytorch" }')


def lock_of_others(s: Situation) -> Finding | None:
    """uv's lock has torch for another platform alone, as uv says itself."""
    shown = s.evidence.first("uv-hint-platform")
    if shown is None or "required-environments" not in s.evidence.text:
        return None
    what = " ".join(filter(None, [shown.get("package") or "a package", shown.get("version")]))
    tags = re.search(r"following platforms?: ([^\n;]*)", s.evidence.text)
    headline = f"the lock holds {what} for other platforms alone{f' ({tags[1]})' if tags else ''}"
    here = "sys_platform == 'linux' and platform_machine == 'x86_64'"
    text = "name every platform that the lock is for, and give torch an index that has it there; then lock again"
    way = fix(text, f'[tool.uv]\nrequired-environments = ["{here}"]', "uv lock")
    return finding(s, "index-problem", headline, shown=[shown], fixes=[way])


def no_page(s: Situation) -> Finding | None:
    """A mirror whose answers no installer takes for an index page."""
    shown = s.evidence.first("skipped-page")
    if shown is None:
        return None
    headline = (
        f"{_host(shown.text) or 'the mirror'} answers with {shown.get('type')}, which no installer takes for an index"
    )
    way = fix("have its keeper serve the pages as text/html, or name another index", "envsolve plan torch --mirror URL")
    return finding(s, "index-problem", headline, shown=[shown], fixes=[way])


def plain_words(s: Situation) -> Finding | None:
    """Messages of installers that need no judgement."""
    shown = s.evidence.first(*_PLAIN)
    if shown is None or (shown.name == "legacy-parse" and "torch" not in s.evidence.text):
        return None
    headline, way = _PLAIN[shown.name]
    if shown.name == "legacy-parse":
        way = fix(way.text, f'pip install "{s.facts.installer_before("legacy-metadata")}"')
    return finding(s, "index-problem", headline, shown=[shown], fixes=[way])


def unlisted(s: Situation) -> Finding | None:
    """A torch that exists for this Python and platform and was still not found: the index is the cause."""
    kinds = ("pip-none", "uv-none", "uv-not-in-registry", "uv-no-wheel", "poetry-none")
    unmet = next((f for f in failed(s.evidence) if f.name in FAMILY and f.symptom.name in kinds), None)
    if unmet is None:
        return None
    odd = odd_indexes(s.evidence)
    headline = f"{unmet.shown} exists, but not on the given index"
    if odd:
        headline = f"the address {odd[0]} is no folder of the PyTorch index"
    pin = f"=={unmet.version}" if unmet.version else ""
    index = only_index(s.evidence)
    if index and "pytorch.org" not in index and unmet.offered and not odd:
        variant = re.search(r"/(cu\d{2,3}|cpu|xpu|rocm[\d.]+)/?(?:simple/?)?$", index)
        headline = f"{unmet.shown} is not on this mirror, whose newest is {unmet.offered[-1]}"
        there = f"pip install {unmet.name}{pin} --index-url {PYTORCH_INDEX}/{variant[1] if variant else 'VARIANT'}"
        ways = [fix("take it from the PyTorch index itself, or have the mirror brought up to date", there)]
        return finding(s, "index-problem", headline, shown=[unmet.symptom], fixes=ways, certainty="medium")
    way = fix(_FOLDER, f"envsolve plan {unmet.name}{pin}")
    return finding(s, "index-problem", headline, shown=[unmet.symptom], fixes=[way], certainty="medium")
