from reversals import reversals  # by its own name, as well
