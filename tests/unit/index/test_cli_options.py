"""The common options: their help, their variables, and no heavy import."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from envsolve.cli import options
from envsolve.cli.command_app import command_app
from envsolve.cli.typed import typed
from envsolve.index.configuration.envsolve_config import NAMES, variable
from envsolve.settings import Settings, load_settings

commands = command_app()
seen: list[Settings] = []


@commands.command(epilog="")
def show(sources: options.Sources = options.UNSAID) -> None:
    """A command with every option."""
    seen.append(sources.settings())


app = typed(commands)


def test_every_option_reaches_the_settings(tmp_path: Path) -> None:
    line = ["--source", "pypi", "--mirror", "https://m.example/whl", "--index", "https://i.example/simple", "--offline"]
    line += ["--extra-index", "https://a.example", "--extra-index", "https://b.example", "--find-links", str(tmp_path)]
    result = CliRunner().invoke(app, [*line, "--refresh", "--cache-dir", str(tmp_path / "c")])
    assert result.exit_code == 0, result.output
    settings = seen.pop()
    assert (settings.source, settings.mirror) == ("pypi", "https://m.example/whl")
    assert (settings.index, settings.offline, settings.refresh) == ("https://i.example/simple", True, True)
    assert settings.extra_indexes == ("https://a.example", "https://b.example")
    assert settings.find_links == (tmp_path.as_uri(),) and settings.cache_dir == tmp_path / "c"
    assert all(origin.startswith("--") for origin in settings.origins.values())


def test_no_option_is_no_value() -> None:
    assert CliRunner().invoke(app, []).exit_code == 0
    assert seen.pop() == load_settings()


def test_help_names_the_variable_of_each_option() -> None:
    text = " ".join(CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).output.split())
    named = re.findall(r"--([a-z-]+) .*?\[(ENVSOLVE_[A-Z_]+)\]", text)
    assert len(named) == 8
    for option, shown in named:
        assert option in NAMES and shown == variable(option)


@pytest.mark.parametrize("module", ["envsolve.cli.options", "envsolve.settings", "envsolve.index.package_index"])
def test_importing_does_not_load_requests(module: str) -> None:
    code = f"import sys, {module}; print(sorted(m for m in sys.modules if m in ('requests', 'urllib3', 'pypi_simple')))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
