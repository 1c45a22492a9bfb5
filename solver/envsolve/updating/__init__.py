"""Rules kept alive: what the index has that the rules don't, and what a wheel itself tells."""
