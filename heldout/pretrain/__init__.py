"""Pretraining: corpus to rows, masking, sentence pairs, packing, objectives, presets."""
