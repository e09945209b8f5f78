"""Registered problems: one module a family."""
