"""Prove an environment, in child processes, inside it."""
