"""How fast an environment computes: medians per device, and the ratio of two environments."""
