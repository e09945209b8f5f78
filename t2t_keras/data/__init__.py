"""From problems' samples to batches of ids."""
