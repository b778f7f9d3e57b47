"""Scores from files: never loads a model, imports neither torch nor transformers."""
