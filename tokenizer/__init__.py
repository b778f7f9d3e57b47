"""Tokenizers: train (WordPiece, BPE, byte-level BPE), special tokens, inspect, and the pure-Python reference."""
