"""Tell how this interpreter would import torch, without importing it. Prints one JSON object."""

import importlib.util
import json
import os
import platform
import site
import struct
import sys


def origin(name):
    """The file that `import name` would load, or None."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    if spec is None:
        return None
    places = list(spec.submodule_search_locations or ())
    return spec.origin or (places[0] if places else None)


def main():
    # As `python -c` and a script both see it: without the folder of this file.
    sys.path = [p for p in sys.path if os.path.abspath(p or ".") != os.path.dirname(os.path.abspath(__file__))]
    print(
        json.dumps(
            {
                "python": "%d.%d%s" % (sys.version_info[0], sys.version_info[1], _abi()),
                "machine": platform.machine(),
                "bits": struct.calcsize("P") * 8,
                "path": [os.path.abspath(p) for p in sys.path if p],
                "prefix": sys.prefix,
                "user_site": site.getusersitepackages() if getattr(site, "ENABLE_USER_SITE", False) else "",
                "torch": origin("torch"),
            }
        )
    )


def _abi():
    import sysconfig

    return "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""


main()
