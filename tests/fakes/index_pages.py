"""The HTML and JSON of index pages, in every form that the PyTorch index and a default Python index have had."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from urllib.parse import quote

UPLOADED = "2026-05-01T10:00:00Z"


@dataclass(frozen=True, kw_only=True)
class Link:
    """One file on a page. `path` is its path on the server; `form` the letter of the PyTorch index's link forms.

    A root-relative, fragment, both metadata attributes · B absolute, upload time · C fragment only · D hash missing ·
    E as D, nightly · F absolute to NVIDIA's host, `<br>`, no metadata · G absolute to the default index's file host,
    requires-python, yanked, provenance · H absolute to a CDN · I root-relative among absolute links, fragment only.
    """

    path: str
    filename: str
    sha256: str
    metadata_sha256: str
    size: int
    form: str = "A"
    requires_python: str = ""
    yanked: str | None = None


# form -> (absolute href, sha256 fragment, metadata attributes)
_SHAPES = {
    "A": (False, True, True),
    "B": (True, True, True),
    "C": (False, True, False),
    "D": (False, False, True),
    "E": (False, False, True),
    "F": (True, True, False),
    "G": (True, True, True),
    "H": (True, True, False),
    "I": (False, True, False),
}


def anchor(link: Link, base: str) -> str:
    """One line of a page; `base` is the server's address without a slash at the end."""
    absolute, hashed, metadata = _SHAPES[link.form]
    href = (base if absolute else "") + quote(link.path) + (f"#sha256={link.sha256}" if hashed else "")
    attributes = [f'href="{html.escape(href)}"']
    if link.form == "G" and link.requires_python:
        attributes.append(f'data-requires-python="{html.escape(link.requires_python)}"')
    if metadata:
        attributes.append(f'data-dist-info-metadata="sha256={link.metadata_sha256}"')
        attributes.append(f'data-core-metadata="sha256={link.metadata_sha256}"')
    if link.form == "B":
        attributes.append(f'data-upload-time="{UPLOADED}"')
    if link.form == "G":
        attributes.append(f'data-provenance="{base}/provenance/{link.filename}"')
    if link.yanked is not None:
        attributes.append(f'data-yanked="{html.escape(link.yanked)}"')
    end = "<br>" if link.form in "FG" else "<br/>"
    return f"    <a {' '.join(attributes)}>{html.escape(link.filename)}</a>{end}"


def file_page(name: str, links: list[Link], base: str) -> str:
    """A page of the PyTorch index; mirrored pages have a head, first-party ones a comment after </html>."""
    mirrored = any(link.form in "FG" for link in links)
    head = f"  <head>\n    <title>Links for {name}</title>\n  </head>\n" if mirrored else ""
    lines = "\n".join(anchor(link, base) for link in links)
    tail = "" if mirrored else "\n<!--TIMESTAMP 1700000000-->"
    return (
        f"<!DOCTYPE html>\n<html>\n{head}  <body>\n    <h1>Links for {name}</h1>\n{lines}\n  </body>\n</html>{tail}\n"
    )


def list_page(names: list[str]) -> str:
    """A package-list page: relative links, no head, a comment after </html>."""
    lines = "\n".join(f'    <a href="{name}/">{name}</a><br/>' for name in names)
    return f"<!DOCTYPE html>\n<html>\n  <body>\n{lines}\n  </body>\n</html>\n<!--TIMESTAMP 1700000000-->\n"


def simple_page(name: str, links: list[Link], base: str) -> str:
    """PEP 503 as a default Python index writes it."""
    lines = []
    for link in links:
        href = f"{base}{quote(link.path)}#sha256={link.sha256}"
        attributes = [f'href="{html.escape(href)}"']
        if link.requires_python:
            attributes.append(f'data-requires-python="{html.escape(link.requires_python)}"')
        if link.metadata_sha256:
            attributes.append(f'data-core-metadata="sha256={link.metadata_sha256}"')
        if link.yanked is not None:
            attributes.append(f'data-yanked="{html.escape(link.yanked)}"')
        lines.append(f"    <a {' '.join(attributes)}>{html.escape(link.filename)}</a><br />")
    meta = '<meta name="pypi:repository-version" content="1.1">'
    body = "\n".join(lines)
    return (
        f"<!DOCTYPE html>\n<html>\n  <head>\n    {meta}\n    <title>Links for {name}</title>\n  </head>\n"
        f"  <body>\n    <h1>Links for {name}</h1>\n{body}\n  </body>\n</html>\n"
    )


def simple_json(name: str, links: list[Link], base: str) -> str:
    """PEP 691 with the keys of PEP 700 and 714."""
    files = [
        {
            "filename": link.filename,
            "url": base + quote(link.path),
            "hashes": {"sha256": link.sha256},
            "requires-python": link.requires_python or None,
            "yanked": False if link.yanked is None else link.yanked or True,
            "core-metadata": {"sha256": link.metadata_sha256} if link.metadata_sha256 else False,
            "size": link.size,
            "upload-time": UPLOADED,
        }
        for link in links
    ]
    return json.dumps({"meta": {"api-version": "1.1"}, "name": name, "files": files})
