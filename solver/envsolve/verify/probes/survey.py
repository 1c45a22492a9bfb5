"""What is installed, read from the files: no package is imported."""

import base64
import csv
import hashlib
import os
import platform
import re
import sys
from pathlib import Path
from typing import Any

from .protocol import Context, Facts

FAMILY = ("torch", "torchvision", "torchaudio")
# Packages that bring torch's libraries. Of these the libraries alone count: some share folders, and replace each
# other's small files.
LIBRARIES = re.compile(r"nvidia-|cuda-|triton|pytorch-triton|intel-|mkl$|tbb$")
BINARY = re.compile(r"\.(so|dll|pyd|dylib)(\.\d+)*$")


def survey(context: Context) -> Facts:
    """The interpreter, every installed distribution with what it requires, and the state of the family's files."""
    dists = installed()
    return {
        "python": ".".join(str(n) for n in sys.version_info[:3]),
        "prefix": sys.prefix,
        "markers": markers(),
        "dists": dists,
        "files": [check_files(d) for d in dists if d["name"] in FAMILY or LIBRARIES.match(d["name"])],
        "torch_build": torch_build(dists),
    }


def markers() -> Facts:
    """The values of PEP 508 markers for this interpreter."""
    version = ".".join(str(n) for n in sys.implementation.version[:3])
    return {
        "implementation_name": sys.implementation.name,
        "implementation_version": version,
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": platform.python_version(),
        "python_version": ".".join(str(n) for n in sys.version_info[:2]),
        "sys_platform": sys.platform,
    }


def installed() -> Any:
    """Every distribution below sys.path, in the order of sys.path; a name can come twice."""
    found = []
    for entry in sys.path:
        folder = Path(entry or ".")
        if not folder.is_dir():
            continue
        for info in sorted(folder.glob("*-info")):
            dist = read_dist(info)
            if dist:
                found.append(dist)
    return found


def read_dist(info: Any) -> Any:
    """Name, version and requirements of a .dist-info or .egg-info folder; None for what holds no metadata."""
    for file in (info / "METADATA", info / "PKG-INFO", info):
        if file.is_file():
            break
    else:
        return None
    dist: Facts = {"name": "", "version": "", "requires": [], "info": str(info)}
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.strip():
                break
            key, _, value = line.partition(":")
            if key == "Name":
                dist["name"] = re.sub(r"[-_.]+", "-", value.strip()).lower()
            elif key == "Version":
                dist["version"] = value.strip()
            elif key == "Requires-Dist":
                dist["requires"].append(value.strip())
    return dist if dist["name"] else None


def check_files(dist: Facts) -> Facts:
    """Compare the files with RECORD: sizes of all, and the hash of the package's version.py and __init__.py; of what
    is not of the family the libraries alone.

    The metadata itself is left out: published wheels have had theirs changed after RECORD was written (torch 1.12.1).
    """
    record = Path(dist["info"]) / "RECORD"
    report: Facts = {"name": dist["name"], "version": dist["version"], "record": record.is_file(), "checked": 0}
    report["wrong"] = []
    if not report["record"]:
        return report
    root, own = Path(dist["info"]).parent, Path(dist["info"]).name + "/"
    hashed = (dist["name"] + "/version.py", dist["name"] + "/__init__.py")
    with record.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines):
            if dist["name"] not in FAMILY and not BINARY.search(row[0]):
                continue
            if len(row) == 3 and row[2] and not row[0].startswith(("..", own)):
                report["checked"] += 1
                fault = file_fault(root / row[0], row[1] if row[0] in hashed else "", int(row[2]))
                if fault and len(report["wrong"]) < 20:
                    report["wrong"].append(row[0] + ": " + fault)
    return report


def file_fault(path: Any, digest: str, size: int) -> str:
    """What is wrong with one file ("" = nothing). `digest` is RECORD's "sha256=..." or "" for no look inside."""
    try:
        real = os.stat(str(path)).st_size  # noqa: PTH116 - half the time of Path.stat, for ten thousand files
    except OSError:
        return "missing"
    if real != size:
        return f"{real} bytes, RECORD says {size}"
    if digest.startswith("sha256="):
        seen = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
        if seen != digest[len("sha256=") :]:
            return "its hash is not RECORD's: something overwrote it"
    return ""


def torch_build(dists: Any) -> Facts:
    """The CUDA and ROCm versions that torch/version.py states, without importing it; "" = None there."""
    facts: Facts = {"cuda": "", "hip": "", "xpu": "", "found": False}
    for dist in dists:
        if dist["name"] != "torch":
            continue
        file = Path(dist["info"]).parent / "torch" / "version.py"
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace")
            for key in ("cuda", "hip", "xpu"):
                match = re.search("^" + key + r"\s*(?::[^=]+)?=\s*['\"]([^'\"]+)['\"]", text, re.M)
                facts[key] = match.group(1) if match else ""
            facts["found"] = True
            break
    return facts
