"""`envsolve install`: create an isolated environment, fill it from a lock, prove it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from envsolve.cli import asked, options
from envsolve.cli.chosen import Manager
from envsolve.cli.command_app import command_app
from envsolve.cli.declared import option
from envsolve.cli.installing import Tool, When
from envsolve.cli.planned import Asked

app = command_app()

_Name = Annotated[str | None, option("--name", help="The name of the environment.")]
_Path = Annotated[Path | None, option("--path", help="A project's own environment, at this folder.")]
_LockFile = Annotated[Path | None, option("--lock", help="Install from this lock, without planning.")]
_Installer = Annotated[Tool, option("--installer", help="What fills it; auto: uv where there is one, else pip.")]
_Replace = Annotated[bool, option("--replace", help="Replace an environment, once the new one is verified.")]
_Verify = Annotated[When | None, option("--verify", help="now, or later (default with --target).")]
_Json = Annotated[bool, option("--json", help="Print the environment as JSON.")]
_Bundle = Annotated[
    Path | None, option("--bundle", metavar="DIR", help="Install what `envsolve bundle` wrote; no network.")
]
_Manager = Annotated[Manager, option("--manager", help="What makes the environment and brings its Python.")]
_Project = Annotated[
    Path | None,
    option("--with-project", metavar="DIR", help="Also install the project in this folder, editable."),
]


@app.command(epilog="Example: envsolve install torch torchvision --name pytorch_new")
def install(
    requirements: asked.Requirements = None,
    files: asked.Files = None,
    constraints: asked.Constraints = None,
    extra: asked.Extras = None,
    group: asked.Groups = None,
    name: _Name = None,
    path: _Path = None,
    lock_file: _LockFile = None,
    target: asked.Target = None,
    python: asked.Python = None,
    gpus: asked.Gpus = "all",
    variant: asked.Variant = None,
    sdists: asked.Sdists = False,
    bundle: _Bundle = None,
    with_project: _Project = None,
    manager: _Manager = Manager.VENV,
    conda_channel: options.Channels = None,
    installer: _Installer = Tool.AUTO,
    replace: _Replace = False,
    verify: _Verify = None,
    as_json: _Json = False,
    source: options.Source = None,
    mirror: options.Mirror = None,
    index: options.Index = None,
    extra_index: options.ExtraIndex = None,
    find_links: options.FindLinks = None,
    offline: options.Offline = False,
    refresh: options.Refresh = False,
    cache_dir: options.CacheDir = None,
) -> int:
    """Create an isolated environment, fill it from a lock, prove it; all of it or nothing."""
    from envsolve.cli.installed import installed

    wanted = Asked(
        requirements=requirements or [], files=files or [], constraints=constraints or [], extras=extra or [],
        groups=group or [], target=target, python=python, gpus=gpus, variant=variant, sdists=sdists,
    )  # fmt: skip
    return installed(
        wanted, name=name, path=path, lock_file=lock_file, bundle=bundle, with_project=with_project, manager=manager,
        conda_channel=conda_channel, installer=installer, replace=replace, verify=verify, as_json=as_json,
        source=source, mirror=mirror, index=index, extra_index=extra_index, find_links=find_links,
        offline=offline, refresh=refresh, cache_dir=cache_dir,
    )  # fmt: skip
