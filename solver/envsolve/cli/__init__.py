"""The command line: one short file per command; printing only."""
