"""Scores from files: never loads a model, imports neither torch nor transformers."""

from pathlib import Path

#: The modules of the ``evaluate`` library: evaluate.load(str(MODULES / "heldout_labels")). heldout itself imports none.
MODULES = Path(__file__).parent / "modules"
