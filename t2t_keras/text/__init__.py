"""Strings to ids and back: tokenizer, encoders, subword vocabularies."""
