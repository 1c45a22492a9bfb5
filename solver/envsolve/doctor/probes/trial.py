"""Import torch and its companions and compute once on the GPU, as the user's program would. Prints one JSON object
on the last line; a traceback goes to stderr as it would for the user."""

import json
import os
import sys
import traceback

FOUND = {}


def main(names):
    sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]
    for name in names:
        try:
            __import__(name)
        except BaseException:
            traceback.print_exc()
            FOUND["failed"] = name
            return
    if "torch" in names:
        ask(sys.modules["torch"])


def ask(torch):
    FOUND["version"] = torch.__version__
    FOUND["file"] = torch.__file__
    FOUND["cuda"] = torch.version.cuda
    FOUND["hip"] = getattr(torch.version, "hip", None)
    FOUND["available"] = torch.cuda.is_available()
    FOUND["count"] = torch.cuda.device_count()
    if not FOUND["available"]:
        return
    FOUND["targets"] = list(getattr(torch.cuda, "get_arch_list", list)())
    FOUND["gpus"] = [
        [torch.cuda.get_device_name(i), list(torch.cuda.get_device_capability(i))] for i in range(FOUND["count"])
    ]
    try:
        for i in range(FOUND["count"]):
            ones = torch.ones(64, 64, device="cuda:%d" % i)
            FOUND["computed"] = float((ones @ ones).sum()) == 64.0**3
    except Exception:
        traceback.print_exc()
        FOUND["failed"] = "computation"


main(sys.argv[1:])
print("\n" + json.dumps(FOUND))
