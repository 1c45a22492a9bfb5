"""From fits to a plan, from a plan to its closure; explanation and remedies."""
