"""Create, fill, name and remove isolated environments; all or nothing."""
