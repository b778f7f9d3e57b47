"""What a task is about, without torch: sources, cleaning, splits, duplicates, and one module a task."""
