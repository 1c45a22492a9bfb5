"""Detect: this machine as it is, from the sources that answer."""

from __future__ import annotations

from envsolve.machine.host import read_host
from envsolve.machine.machine import Machine
from envsolve.machine.merge import merge
from envsolve.machine.probe import Probe
from envsolve.machine.probe_smi import ask_smi


def detect(probe: Probe | None = None) -> Machine:
    """This machine: its GPUs, driver and host, each fact with its source."""
    probe = probe or Probe()
    return merge([*ask_smi(probe), read_host(probe)])
