"""Package indexes: pages, metadata, cache, mirrors."""
