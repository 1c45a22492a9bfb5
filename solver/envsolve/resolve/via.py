"""Via: who asks for a package, as closures and locks name it."""

from __future__ import annotations

ASKED = "(asked)"  # stands among the names for the user's own requirements
