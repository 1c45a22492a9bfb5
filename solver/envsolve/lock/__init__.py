"""Plan <-> text: requirements, environment.yml, pylock.toml."""

import sys

from envsolve.callable_room import CallableRoom

sys.modules[__name__].__class__ = CallableRoom
