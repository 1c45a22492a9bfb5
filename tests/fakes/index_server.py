"""A fake PyTorch index and a fake default Python index on 127.0.0.1, with faults to switch on.

with IndexServer() as server:
    server.add_wheel("cu128", wheel)                    # /whl/cu128/<file>, listed on /whl/cu128/<package>/, form A
    server.add_wheel("cu128", wheel, form="B")          # forms A to I of Link in index_pages.py
    server.add_wheel("cu128", wheel, form="A", metadata_file=False)    # attribute there, .metadata is a 404
    server.add_root(wheel)                              # /whl/<file>, listed on every variant page
    server.add_package(wheel_or_sdist, yanked="broken") # the default index
    server.add_link(wheel)                              # the flat find-links page
    server.whl, server.simple, server.links             # the addresses to configure
    server.fault("*/torch-*.whl", html=True)            # see Fault; several may be set
    server.require_login("/simple/*", "user", "secret")
    server.ranges = False; server.json = False          # no Range requests; HTML only
    server.count("*/torch/"), server.requests           # what was asked
    server.write_tree(tmp_path)                         # the same pages and files on disk, for file:// sources
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

from fakes.http_server import Answer, FakeHttp
from fakes.index_pages import Link, file_page, list_page, simple_json, simple_page
from fakes.stub_wheels import StubSdist, StubWheel

JSON_TYPE = "application/vnd.pypi.simple.v1+json"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class IndexServer(FakeHttp):
    """Serves what was added until the `with` block ends; everything may be changed while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.json = True
        self._files: dict[str, bytes] = {}
        self._variant_links: dict[tuple[str, str], list[Link]] = {}
        self._root_links: dict[str, list[Link]] = {}
        self._simple_links: dict[str, list[Link]] = {}
        self._flat_links: list[Link] = []

    @property
    def whl(self) -> str:
        """The base address of the fake PyTorch index."""
        return f"{self.base}/whl"

    @property
    def simple(self) -> str:
        """The address of the fake default Python index."""
        return f"{self.base}/simple"

    @property
    def links(self) -> str:
        """A flat page for find-links."""
        return f"{self.base}/links/"

    # -- what is served -------------------------------------------------------------------------------------------

    def add_wheel(
        self, variant: str, wheel: StubWheel | StubSdist, *, form: str = "A", metadata_file: bool = True
    ) -> str:
        """List a file on /whl/<variant>/<package>/ in a form of the index; returns its address.

        Form E belongs to a nightly folder ("nightly/cu128"); forms F, G and H lie on other hosts in real life.
        """
        name = canonical(wheel.name)
        folder = {"F": f"/nvidia/{name}", "G": "/packages", "H": f"/cdn/whl/{variant}"}.get(form, f"/whl/{variant}")
        link = self._store(folder, wheel, form=form, metadata_file=metadata_file)
        self._variant_links.setdefault((variant, name), []).append(link)
        return self.base + link.path

    def add_root(self, wheel: StubWheel, *, form: str = "A", metadata_file: bool = True) -> str:
        """A file in /whl/ itself: listed on the page of its package in every variant."""
        link = self._store("/whl", wheel, form=form, metadata_file=metadata_file)
        self._root_links.setdefault(canonical(wheel.name), []).append(link)
        return self.base + link.path

    def add_package(
        self, wheel: StubWheel | StubSdist, *, yanked: str | None = None, metadata_file: bool = True
    ) -> str:
        """A file of the default index; `metadata_file` False: neither offered nor there (no PEP 658)."""
        link = self._store("/packages", wheel, form="G", metadata_file=metadata_file, yanked=yanked)
        self._simple_links.setdefault(canonical(wheel.name), []).append(link)
        return self.base + link.path

    def add_link(self, wheel: StubWheel, *, form: str = "C") -> str:
        """A file of the flat find-links page."""
        link = self._store("/links/files", wheel, form=form, metadata_file=False)
        self._flat_links.append(link)
        return self.base + link.path

    def replace(self, url: str, content: bytes) -> None:
        """Other bytes at an address that is listed already."""
        self._files[unquote(url.removeprefix(self.base))] = content

    def _store(
        self,
        folder: str,
        wheel: StubWheel | StubSdist,
        *,
        form: str,
        metadata_file: bool,
        yanked: str | None = None,
    ) -> Link:
        path = f"{folder}/{wheel.filename}"
        self._files[path] = wheel.content
        offered = wheel.metadata_sha256 if isinstance(wheel, StubWheel) else ""
        if folder == "/packages" and not metadata_file:
            offered = ""
        if metadata_file and offered and form not in "CFHI":
            self._files[f"{path}.metadata"] = wheel.metadata
        return Link(
            path=path,
            filename=wheel.filename,
            sha256=wheel.sha256,
            metadata_sha256=offered,
            size=len(wheel.content),
            form=form,
            requires_python=wheel.requires_python,
            yanked=yanked,
        )

    # -- answering ------------------------------------------------------------------------------------------------

    def answer(self, path: str, accept: str) -> Answer:
        """The whole body of a path, as if nothing were wrong."""
        if path in self._files:
            return Answer(body=self._files[path])
        page = self._page(path, accept)
        if page is None:
            return Answer(body=b"<html><body>404 Not Found</body></html>", type="text/html", status=404)
        text, kind = page
        return Answer(body=text.encode(), type=kind, headers={"Cache-Control": "max-age=600, must-revalidate"})

    def _page(self, path: str, accept: str) -> tuple[str, str] | None:
        if path == "/links/":
            return file_page("links", self._flat_links, self.base), "text/html"
        if path.startswith("/simple/"):
            return self._simple(path.removeprefix("/simple/").strip("/"), accept)
        if path.startswith("/whl/") and path.endswith("/"):
            text = self._variant_page(path.removeprefix("/whl/").strip("/"))
            return None if text is None else (text, "text/html")
        return None

    def _simple(self, name: str, accept: str) -> tuple[str, str] | None:
        if not name:
            return list_page(sorted(self._simple_links)), "text/html"
        links = self._simple_links.get(name)
        if links is None:
            return None
        if self.json and JSON_TYPE in accept:
            return simple_json(name, links, self.base), JSON_TYPE
        return simple_page(name, links, self.base), "text/html; charset=utf-8"

    def _variant_page(self, rest: str) -> str | None:
        variants = {variant for variant, _ in self._variant_links}
        names = {name for _, name in self._variant_links} | set(self._root_links)
        if not rest:
            return list_page(sorted(names | variants))
        if rest in variants:
            own = {name for variant, name in self._variant_links if variant == rest}
            return list_page(sorted(own | set(self._root_links)))
        variant, _, name = rest.rpartition("/")
        if not variant and name in names:
            every = [link for (_, owner), links in self._variant_links.items() if owner == name for link in links]
            return file_page(name, every + self._root_links.get(name, []), self.base)
        links = self._variant_links.get((variant, name), []) + self._root_links.get(name, [])
        return file_page(name, links, self.base) if variant in variants and links else None

    # -- on disk --------------------------------------------------------------------------------------------------

    def write_tree(self, folder: Path) -> None:
        """Write every page and file below a folder: <folder>/whl/…, <folder>/simple/…, hrefs as they are served."""
        paths = {f"/whl/{variant}/{name}/" for variant, name in self._variant_links}
        paths |= {f"/whl/{variant}/{name}/" for variant, _ in self._variant_links for name in self._root_links}
        paths |= {f"/whl/{variant}/" for variant, _ in self._variant_links}
        paths |= {f"/simple/{name}/" for name in self._simple_links}
        for path in paths:
            _write(folder / path.strip("/") / "index.html", self.answer(path, "text/html").body)
        for path, body in self._files.items():
            _write(folder / path.strip("/"), body)


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(body)
