"""Registered Keras models."""
