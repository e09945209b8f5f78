"""Keras layers of the Transformer, one idea a file."""
