"""A search over options: its space, its trials in a storage, what came of them, the best as a recipe."""
