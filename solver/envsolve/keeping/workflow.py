"""The CI step: a workflow of GitHub Actions that holds the locks to .envsolve.toml."""

from __future__ import annotations

PATH = ".github/workflows/envsolve.yml"
MARK = "# made by envsolve init"

# Weekly too: a driver branch or a Python ends without anybody pushing.
_TEXT = """\
{mark}: holds the committed locks to .envsolve.toml, without a GPU and without an index.
name: envsolve
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
      - run: envsolve check --format github
"""


def workflow_text() -> str:
    """The whole file."""
    return _TEXT.format(mark=MARK)
