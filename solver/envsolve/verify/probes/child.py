"""The child process: runs the named steps one after the other and tells each start and end at once.

Called as `python -I child.py ORDER`; ORDER is JSON: {"steps": [[name, "module:function"], ...], "torch": bool,
"device": "cuda:0", "options": {...}}. It prints a line `@envsolve {...}` for each event, so that the parent knows which
step was under way when this process died. Whatever else is printed goes to stderr.
"""

import importlib
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

SENTINEL = "@envsolve "
PACKAGE = "envsolve_probes"


class Channel:
    """The parent's pipe; file descriptor 1 is led to stderr, so that no library's chatter gets in."""

    def __init__(self) -> None:
        self.out = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)

    def tell(self, **event: Any) -> None:
        self.out.write("\n" + SENTINEL + json.dumps(event) + "\n")
        self.out.flush()


def load_package() -> None:
    """Make this folder importable as `envsolve_probes` without putting anything on sys.path."""
    here = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        PACKAGE, str(here / "__init__.py"), submodule_search_locations=[str(here)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def load_steps(wanted: Any) -> Any:
    """[(name, function)] for the order's steps; no bytecode is written beside the probes."""
    keep, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    load_package()
    steps = []
    for name, call in wanted:
        module, function = call.split(":")
        steps.append((name, getattr(importlib.import_module(PACKAGE + "." + module), function)))
    sys.dont_write_bytecode = keep
    return steps


def describe(error: BaseException) -> str:
    """The error in one line, and the one that it came from."""
    text = type(error).__name__ + ": " + one_line(str(error))
    cause = error.__cause__ or error.__context__
    if cause is not None and str(cause) not in text:
        text += ", from " + type(cause).__name__ + ": " + one_line(str(cause))
    return text


def one_line(text: str) -> str:
    """The text without the C++ stack that torch appends."""
    kept = []
    for line in text.splitlines():
        if line.startswith(("Exception raised from", "frame #", "Compile with")):
            break
        kept.append(line.strip())
    return " ".join(word for word in kept if word)[:500]


def poisoned(text: str) -> bool:
    """A CUDA error stays with its process: what follows in here would fail for no reason of its own."""
    return "CUDA error" in text or "HIP error" in text or "device-side assert" in text


def import_torch(channel: Channel) -> Any:
    """The torch module; an ImportError or whatever it raises is told as the end of the step "import torch"."""
    channel.tell(event="start", step="import torch")
    began = time.time()
    try:
        torch = importlib.import_module("torch")
    except BaseException as error:
        channel.tell(event="end", step="import torch", raised=describe(error), seconds=time.time() - began)
        return None
    where = {"version": str(getattr(torch, "__version__", "")), "file": str(getattr(torch, "__file__", ""))}
    channel.tell(event="end", step="import torch", value=where, seconds=time.time() - began)
    return torch


def run_step(channel: Channel, name: str, function: Any, context: Any) -> bool:
    """Run one step and tell its end; False when this process is of no further use."""
    protocol = sys.modules[PACKAGE + ".protocol"]
    channel.tell(event="start", step=name)
    began = time.time()
    try:
        value = function(context)
        if context.torch is not None:
            protocol.synchronize(context.torch, context.device)
    except protocol.Skip as skip:
        channel.tell(event="end", step=name, skipped=str(skip), seconds=time.time() - began)
        return True
    except BaseException as error:
        text = describe(error)
        channel.tell(event="end", step=name, raised=text, seconds=time.time() - began)
        return not poisoned(text)
    channel.tell(event="end", step=name, value=value, seconds=time.time() - began)
    return True


def main() -> None:
    order = json.loads(sys.argv[1])
    channel = Channel()
    steps = load_steps(order["steps"])
    protocol = importlib.import_module(PACKAGE + ".protocol")
    torch = None
    if order.get("torch", True):
        torch = import_torch(channel)
        if torch is None:
            return
    context = protocol.Context(torch, order.get("device", "cpu"), order.get("options", {}))
    for name, function in steps:
        if not run_step(channel, name, function, context):
            break
    else:
        channel.tell(event="bye")
    channel.out.flush()
    # Libraries that crash while the interpreter shuts down have said nothing about the environment's answers.
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
