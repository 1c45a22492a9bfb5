"""Judge what the probes saw against what the plan promised; pure: facts in, checks out."""
