"""Compile rules/**/*.yaml into rules/compiled/*.json. --check writes nothing and exits 1 where they differ."""

from __future__ import annotations

import sys
from pathlib import Path

from envsolve.errors import EnvsolveError
from envsolve.rulebook.compiler import compile_all
from envsolve.rulebook.source import read_rules

RULES = Path(__file__).resolve().parents[1] / "rules"


def compiled_files(folder: Path = RULES) -> dict[str, str]:
    """The compiled files by name, from a rules folder. Raises RulesError with every mistake."""
    return compile_all(read_rules(folder))


def main(arguments: list[str]) -> int:
    """Write the compiled files, or compare them."""
    try:
        files = compiled_files()
    except EnvsolveError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return error.exit_code
    target = RULES / "compiled"
    stale = [name for name, text in files.items() if not _same(target / name, text)]
    if "--check" in arguments:
        for name in stale:
            print(f"rules/compiled/{name} is not what the sources say: run tools/compile_rules.py", file=sys.stderr)
        return 1 if stale else 0
    target.mkdir(exist_ok=True)
    for name in stale:
        (target / name).write_text(files[name], encoding="utf-8", newline="\n")
        print(f"wrote rules/compiled/{name}")
    return 0


def _same(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
