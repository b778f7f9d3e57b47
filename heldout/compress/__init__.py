"""Smaller files from a model: ONNX, int8, pruning, each gated by how far its answers move."""
