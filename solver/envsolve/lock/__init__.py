"""Plan <-> text: requirements, environment.yml, pylock.toml."""
