"""heldout: fine-tune text encoders and find out whether they are any good. Imports without torch."""

__version__ = "0.1.0"
