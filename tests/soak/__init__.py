"""Long runs, started by hand."""
