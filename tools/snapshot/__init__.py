"""The parts of tools/refresh_snapshot.py."""
