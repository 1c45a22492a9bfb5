"""(what a project declares, its locks, rules, a day) -> what no longer fits, and what ends soon. Values, no effects."""
