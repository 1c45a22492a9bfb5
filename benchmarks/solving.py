"""Solving: `envsolve lock` beside uv and others, on the trio (a) and on the trio with six large libraries (b).

    python benchmarks/solving.py warm [--rounds 9]      # b, all cached, offline; a from the bundled snapshot
    python benchmarks/solving.py cold [--rounds 3]      # b, empty caches, the default Python index; requests a package
    python benchmarks/solving.py others [--rounds 3]    # b beside pip, pip-tools, pdm and poetry, where on PATH
    python benchmarks/solving.py growth                 # 30, 100 and 300 stub packages from an index on this machine

The commands take turns in one run, so that the ratios hold on a noisy machine; shown are medians, and each tool's peak
memory. The torch family is stub wheels with the real requirements, served here as the PyTorch index serves them, the
same ones to every tool; the rest of b is what the default Python index has today.
For Linux x86_64 and the running Python.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from runs import compile_package, once, take_turns
from solving_clients import Client, envsolve, from_snapshot, others, uv
from solving_worlds import TRIO, B, growing_world, named, torch_world

# Counts what goes over the wire: every request of requests and of pypi-simple ends in urllib3's connection pool.
COUNTED = """
import sys, threading, urllib3.connectionpool as pool
lock, seen, real = threading.Lock(), [0], pool.HTTPConnectionPool._make_request
def counted(*args, **kwargs):
    with lock: seen[0] += 1
    return real(*args, **kwargs)
pool.HTTPConnectionPool._make_request = counted
from envsolve.cli.app import run
code = run(sys.argv[2:])
open(sys.argv[1], "w").write(str(seen[0]))
sys.exit(code)
"""


def warm(folder: Path, rounds: int) -> None:
    """Set b with every cache full and the network off, then set a from the bundled snapshot."""
    with torch_world("cu128") as world:
        ours, theirs = envsolve(folder, world, "cu128", B), uv(folder, world, "cu128", B)
        for client in (ours, theirs):
            once(client.job())
        jobs = [client.job(offline=True) for client in (ours, theirs)]
        take_turns(jobs, rounds, title="b, warm, offline", base=theirs.name)
        compare(ours, theirs)
        trio = uv(folder, world, "cu128", TRIO)
        once(trio.job())
        jobs = [from_snapshot(folder).job(), trio.job(offline=True)]
        take_turns(jobs, rounds, title="a, warm for uv, from the snapshot for envsolve", base=trio.name)


def cold(folder: Path, rounds: int) -> None:
    """Set b with empty caches."""
    with torch_world("cu128") as world:
        ours, theirs = envsolve(folder, world, "cu128", B), uv(folder, world, "cu128", B)
        take_turns([c.job(fresh=True) for c in (ours, theirs)], rounds, title="b, cold", base=theirs.name)
        compare(ours, theirs)
        count, packages = requests(ours, folder), len(ours.pins())
        print(f"envsolve, cold: {count} requests for {packages} packages, {count / packages:.2f} a package")


def beside_others(folder: Path, rounds: int) -> None:
    """Set b for the CPU, each tool with its own cache full."""
    with torch_world("cpu") as world:
        clients = [envsolve(folder, world, "cpu", B), uv(folder, world, "cpu", B), *others(folder, world, B)]
        for client in clients:
            once(client.job())
        take_turns([client.job() for client in clients], rounds, title="b for the CPU, warm", base=clients[0].name)


def growth(folder: Path, rounds: int) -> None:
    """What more packages cost."""
    for count in (30, 100, 300):
        own = folder / str(count)
        own.mkdir()
        with growing_world(count) as world:
            names = ["torch", *(named(number) for number in range(10))]
            ours = envsolve(own, world, "cpu", names, index=world.simple)
            theirs = uv(own, world, "cpu", names, index=world.simple)
            for client in (ours, theirs):
                once(client.job())
            jobs = [client.job(offline=True) for client in (ours, theirs)]
            take_turns(jobs, rounds, title=f"{len(ours.pins())} packages, warm, offline", base=theirs.name)
            compare(ours, theirs)


def requests(client: Client, folder: Path) -> int:
    """How many requests one cold run sends."""
    count = folder / "requests"
    at = list(client.command).index("envsolve") + 1
    counted = replace(client, command=[sys.executable, "-c", COUNTED, str(count), *client.command[at:]])
    once(counted.job(fresh=True))
    return int(count.read_text())


def compare(ours: Client, theirs: Client) -> None:
    """Print where the pins differ."""
    a, b = ours.pins(), theirs.pins()
    different = [name for name in sorted({*a, *b}) if a.get(name) != b.get(name)]
    print(f"pins: {len(a)} of {ours.name}, {len(b)} of {theirs.name}, {len(different)} differ")
    for name in different:
        print(f"  {name}: {a.get(name)} and {b.get(name)}")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"warm": warm, "cold": cold, "others": beside_others, "growth": growth}
    parser.add_argument("kind", choices=kinds)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args(arguments)
    compile_package()
    with tempfile.TemporaryDirectory() as folder:
        kinds[chosen.kind](Path(folder), chosen.rounds)


if __name__ == "__main__":
    main(sys.argv[1:])
