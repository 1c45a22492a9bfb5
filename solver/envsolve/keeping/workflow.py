"""The CI step: a workflow of GitHub Actions that holds the locks to .envsolve.toml."""

from __future__ import annotations

import re
import shlex

MARK = "# made by envsolve init"

# Weekly too: a driver branch or a Python ends without anybody pushing.
_TEXT = """\
{mark}: holds the committed locks to .envsolve.toml, without a GPU and without an index.
name: {name}
on:
  push:
  pull_request:
  schedule:
    - cron: "17 5 * * 1"
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install envsolve
      - run: envsolve check{project} --format github
"""


def path_of(folder: str) -> str:
    """Where the workflow of a project lies in its repository; `folder` is the project's in it, "" for the top."""
    return f".github/workflows/{_name(folder)}.yml"


def workflow_text(folder: str = "") -> str:
    """The whole file."""
    project = f" --project {shlex.quote(folder)}" if folder else ""
    return _TEXT.format(mark=MARK, name=_name(folder), project=project)


def _name(folder: str) -> str:
    return "-".join(["envsolve", *re.findall(r"[A-Za-z0-9_]+", folder)])
