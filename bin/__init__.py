"""Command-line programs; the only place where flags are defined and read."""
