"""Causes: each a small function from a Situation to a Finding, or None where it does not hold. All pure."""
