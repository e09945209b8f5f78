"""One training step and many of them: losses, optimizers, checkpoints, loop."""
