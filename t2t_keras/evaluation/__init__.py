"""Scores of finished outputs: BLEU, ROUGE."""
