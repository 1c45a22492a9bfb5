"""Import torch and its companions and compute once on every GPU, as the user's program would. Prints one JSON object
on the last line; a traceback goes to stderr as it would for the user."""

import ctypes
import json
import sys
import traceback
from pathlib import Path
from typing import Any, Dict, List  # noqa: UP035 - runs on Python 3.6 too

HERE = Path(__file__).resolve().parent
FOUND: Dict[str, Any] = {}  # noqa: UP006


def main(names: List[str]) -> None:  # noqa: UP006
    sys.path = [p for p in sys.path if Path(p or ".").resolve() != HERE]
    for name in names:
        try:
            __import__(name)
        except BaseException:
            traceback.print_exc()
            FOUND["failed"] = name
            return
    if "torch" in names:
        ask(sys.modules["torch"])


def ask(torch: Any) -> None:
    FOUND["version"] = str(torch.__version__)
    FOUND["file"] = torch.__file__
    FOUND["cuda"] = torch.version.cuda
    FOUND["hip"] = getattr(torch.version, "hip", None)
    FOUND["available"] = torch.cuda.is_available()
    FOUND["count"] = torch.cuda.device_count()
    if not FOUND["available"]:
        if FOUND["cuda"]:
            why(torch)
        return
    FOUND["targets"] = list(getattr(torch.cuda, "get_arch_list", list)())
    numbers = range(FOUND["count"])
    FOUND["gpus"] = [[torch.cuda.get_device_name(i), list(torch.cuda.get_device_capability(i))] for i in numbers]
    foreign(torch)
    try:
        FOUND["computed"] = all(product(torch, i) for i in numbers)
    except Exception:
        traceback.print_exc()
        FOUND["failed"] = "computation"


def foreign(torch: Any) -> None:
    """torch's words where the cuDNN that is loaded is not its own; it computes without it."""
    try:
        torch.backends.cudnn.version()
    except Exception as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")


def why(torch: Any) -> None:
    """is_available() swallows the reason; the first real use of the GPU tells it."""
    try:
        torch.cuda.init()
    except Exception as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        if "no NVIDIA driver" in str(error) and sys.platform.startswith("linux"):
            loaded()


def loaded() -> None:
    """Whether the loader finds the driver's library: torch says "no NVIDIA driver" of a damaged one, too."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        absent = "cannot open shared object" in str(error)
        sys.stderr.write("libcuda.so.1 not found\n" if absent else f"libcuda: {error}\n")


def product(torch: Any, index: int) -> bool:
    """Whether a matrix product on one GPU comes out right."""
    ones = torch.ones(64, 64, device=f"cuda:{index}")
    return float((ones @ ones).sum()) == 64.0**3


main(sys.argv[1:])
sys.stdout.write("\n" + json.dumps(FOUND) + "\n")
