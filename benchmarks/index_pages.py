"""How long a large index page takes: to parse, to filter for a target, to read back from the cache.

    python benchmarks/index_pages.py [--links 2855] [--rounds 7]

Medians in milliseconds, from a page made here in the form of the PyTorch index; pypi-simple's parser beside it.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from pypi_simple import RepositoryPage

from envsolve.index.cache import Cache
from envsolve.index.fitting import Target
from envsolve.index.page import Link
from envsolve.index.page_reader import parse_page
from envsolve.index.release_file import release_file
from fakes.index_pages import Link as FakeLink
from fakes.index_pages import file_page

BASE = "https://index.example"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "win_amd64")


def made_page(count: int) -> bytes:
    """A page with `count` torch wheels of many versions, variants, Pythons and platforms."""
    links = []
    for number in range(count):
        variant = f"cu{118 + number % 7}"
        python = f"cp3{9 + number // 7 % 6}"
        platform = PLATFORMS[number // 42 % 3]
        name = f"torch-2.{number // 126}.0+{variant}-{python}-{python}-{platform}.whl"
        sha = f"{number:064x}"
        links.append(
            FakeLink(path=f"/whl/{variant}/{name}", filename=name, sha256=sha, metadata_sha256=sha, size=1, form="A")
        )
    return file_page("torch", links, BASE).encode()


def median_ms(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def read_all(links: Iterable[Link]) -> int:
    return sum(release_file(link, "torch", BASE, f"{BASE}/whl") is not None for link in links)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=2855)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    body = made_page(args.links)
    links = parse_page(body, "text/html", f"{BASE}/whl/torch/")
    target = Target(python="3.12", platform="linux_x86_64")
    fitting = [links[place] for place in target.places([link.filename for link in links])]
    print(f"{len(links)} links, {len(body) / 1e3:.0f} kB of HTML, {len(fitting)} fit Python 3.12 on linux_x86_64")
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        cache.write("page", "all", {}, links)
        cache.write("view", "some", {}, fitting)
        rows: dict[str, Callable[[], object]] = {
            "pypi-simple: parse the page": lambda: RepositoryPage.from_html(body.decode()),
            "parse the page": lambda: parse_page(body, "text/html", f"{BASE}/whl/torch/"),
            "filter by tags": lambda: target.places([link.filename for link in links]),
            "make release files of what fits": lambda: read_all(fitting),
            "make release files of everything": lambda: read_all(links),
            "cache: write the page": lambda: cache.write("page", "all", {}, links),
            "cache: read the page": lambda: cache.read("page", "all"),
            "cache: read a view": lambda: cache.read("view", "some"),
        }
        for name, work in rows.items():
            print(f"{median_ms(work, args.rounds):8.2f} ms  {name}")


if __name__ == "__main__":
    main()
