"""Training beside transformers' Trainer: speed in turns, and what the same steps came to over several seeds."""
