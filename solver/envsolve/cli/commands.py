"""The commands by name: the module that holds each, and its line in --help. Modules load only when used."""

COMMANDS: dict[str, tuple[str, str]] = {
    "detect": ("envsolve.cli.detect", "Show the GPUs, the driver and the host, and where each fact came from."),
    "plan": ("envsolve.cli.plan", "Choose the torch build that runs here, and say why."),
    "lock": ("envsolve.cli.lock", "Write a pinned, hashed lockfile."),
    "install": ("envsolve.cli.install", "Create an isolated environment, fill it from a lock, prove it."),
    "bundle": (
        "envsolve.cli.bundle",
        "Put a lock and its files into a folder, for a machine without a network.",
    ),
    "upgrade": (
        "envsolve.cli.upgrade",
        "Make an environment anew; the old one stays until the new one is verified.",
    ),
    "verify": ("envsolve.cli.verify", "Prove an environment by computing on every GPU."),
    "doctor": ("envsolve.cli.doctor", "Say what is wrong with an environment, and the way out."),
    "container": ("envsolve.cli.container", "Write a Dockerfile of the lock, and name the images that fit."),
    "driver": ("envsolve.cli.driver", "Say which driver the cards need, and the commands that get it."),
    "source-build": ("envsolve.cli.source_build", "Write what compiles PyTorch for exactly these GPUs."),
    "init": ("envsolve.cli.init", "Add the lock, its targets and a CI check to a project."),
    "check": ("envsolve.cli.check", "Say whether a project's locks still fit its targets, and what ends soon."),
    "envs": ("envsolve.cli.envs", "List, find, run in and remove named environments."),
    "cache": ("envsolve.cli.cache", "Show what is kept of indexes and wheels, or take it away."),
    "rules": ("envsolve.cli.rules", "Show the facts behind an answer, with their sources."),
}
