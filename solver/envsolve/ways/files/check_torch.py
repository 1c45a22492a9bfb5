"""Whether torch in this image is what was locked and computes on every GPU. Written by envsolve; needs nothing else.

check_torch.py --static        when the image is built: versions, imports, the arch list; needs no GPU
check_torch.py [-- COMMAND]    when it runs: the same, then each GPU computes, then COMMAND takes over
SKIP_GPU_CHECK=1 leaves out what needs a GPU. Exit code 1: the check failed. Python 3.6 syntax.
"""

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any, List  # noqa: UP035

HERE = Path(__file__).resolve().parent


def main(arguments: List[str]) -> int:  # noqa: UP006
    expected = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
    static = arguments[:1] == ["--static"] or os.environ.get("SKIP_GPU_CHECK") == "1"
    problems = build_problems(expected)
    if not problems and not static:
        problems = gpu_problems(expected)
    for problem in problems:
        sys.stderr.write(f"check_torch: {problem}\n")
    if problems:
        return 1
    command = arguments[arguments.index("--") + 1 :] if "--" in arguments else []
    if command:
        return take_over(command)
    told = "is what was locked" if static else "works"
    sys.stdout.write("check_torch: torch {} {}\n".format(expected["versions"]["torch"], told))
    return 0


def take_over(command: List[str]) -> int:  # noqa: UP006
    """Become the command; returns only where that can't be done."""
    try:
        os.execvp(command[0], command)
    except OSError as error:
        sys.stderr.write(f"check_torch: can't run {command[0]}: {error}\n")
    return 127


def build_problems(expected: Any) -> Any:
    """What is wrong with the files: versions, imports, CUDA, code targets."""
    try:
        torch: Any = importlib.import_module("torch")
    except Exception as error:
        return [f"import torch: {error}"]
    problems = []
    for name, version in sorted(expected["versions"].items()):
        found = installed_version(name)
        if found != version:
            problems.append(f"{name} is {found}, locked was {version}")
    cuda = getattr(torch.version, "cuda", None) or "none"
    wanted = expected["cuda"] or "none"
    if cuda != wanted:
        problems.append(f"torch was built with CUDA {cuda}, locked was {wanted}")
    return problems + target_problems(expected, torch)


def installed_version(name: str) -> str:
    try:
        return str(importlib.import_module(name).__version__)
    except Exception as error:
        return f"not importable ({error})"


def target_problems(expected: Any, torch: Any) -> Any:
    """The arch list is asked of the binary: get_arch_list() is empty where there is no GPU."""
    flags = getattr(torch._C, "_cuda_getArchFlags", None)
    targets = (flags() or "").split() if flags else []
    lacking = [code for code in expected["codes"] if targets and code not in targets]
    return ["torch has no {} (has {})".format(code, " ".join(targets)) for code in lacking]


def gpu_problems(expected: Any) -> Any:
    """What is wrong with the GPUs: none to be seen, or a wrong result."""
    torch: Any = importlib.import_module("torch")
    kind = "xpu" if expected["device"] == "xpu" else "cuda"
    if expected["device"] == "cpu":
        return compute_problems(torch, "cpu")
    api = getattr(torch, kind)
    if not api.is_available():
        return ["no GPU can be used in here: start the container with {}".format(expected["run"])]
    found: Any = []
    for number in range(api.device_count()):
        found += compute_problems(torch, f"{kind}:{number}")
    return found


def compute_problems(torch: Any, device: str) -> Any:
    """A matrix product against the same one on the CPU in double precision."""
    a, b = torch.randn(257, 129), torch.randn(129, 65)
    want = torch.matmul(a.double(), b.double())
    try:
        got = torch.matmul(a.to(device), b.to(device)).cpu().double()
        error = float((got - want).norm().item() / want.norm().item())
    except Exception as problem:
        return [f"{device}: {problem}"]
    return [] if error < 0.01 else [f"{device}: a matrix product is wrong by {error:.3g}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
