"""Tell how this interpreter would import torch, without importing it. Prints one JSON object."""

import importlib.util
import json
import platform
import site
import struct
import sys
import sysconfig
from pathlib import Path
from typing import Optional

HERE = Path(__file__).resolve().parent


def origin(name: str) -> Optional[str]:  # noqa: UP045 - runs on Python 3.6 too
    """The file that `import name` would load, or None."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ())
    return spec.origin or (places[0] if places else None)


def main() -> None:
    # As a user's program sees it: without the folder of this file.
    sys.path = [p for p in sys.path if Path(p or ".").resolve() != HERE]
    thread_free = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    found = {
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}{thread_free}",
        "machine": platform.machine(),
        "bits": struct.calcsize("P") * 8,
        "path": [p for p in sys.path if p],
        "prefix": sys.prefix,
        "base_prefix": getattr(sys, "base_prefix", sys.prefix),
        "user_site": site.getusersitepackages() if getattr(site, "ENABLE_USER_SITE", False) else "",
        "torch": origin("torch"),
    }
    sys.stdout.write(json.dumps(found))


main()
