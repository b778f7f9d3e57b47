"""Benchmarks: heldout beside what people would use instead, in one run on one machine."""
