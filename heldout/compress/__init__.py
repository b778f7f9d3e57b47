"""Smaller and faster models of a run, each a run folder of its own: ONNX, int8, pruning; and what each costs."""
