"""Registered hyperparameter sets."""
