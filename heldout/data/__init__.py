"""What a task is about, without torch: sources, cleaning, splits, duplicates, and one module a task."""

from heldout.data.task import Data, load_task, task_names

__all__ = ["Data", "load_task", "task_names"]
