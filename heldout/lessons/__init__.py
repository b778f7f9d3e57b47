"""The ideas of the seeds, one small readable file each, tested against the numbers that the seeds print."""

import importlib

from heldout.errors import Refused
from heldout.lessons._contract import Lesson, plain
from heldout.lessons._pictures import draw
from heldout.options import nearest

__all__ = ["ORDER", "Lesson", "draw", "every", "find", "overview", "plain"]

#: The lessons in the order of the seeds: words as vectors, then attention, then what is trained and what it is for.
ORDER = (
    *("one-hot", "analogy", "skip-gram", "skip-gram-objective", "cbow", "subsampling"),
    *("negative-sampling", "shifted-pmi", "two-themes", "hierarchical-softmax"),
    *("glove", "low-rank", "war-and-peace", "crowding", "fasttext", "bpe", "pieces"),
    *("static-contextual", "bahdanau", "kernel-smoothing", "attention", "attention-tables", "self-attention"),
    *("multi-head", "positions", "cost", "shifted-decoder", "blocks", "encoder-decoder", "who-sees-whom"),
    *("objectives", "masked-words", "parameters", "sentiment", "bio-and-spans", "distillation", "claims"),
)


def find(name: str) -> Lesson:
    """The lesson of that name; Refused with the nearest one where there is none."""
    if name not in ORDER:
        raise Refused(f"no lesson is called {name!r}{nearest(name, ORDER)}; heldout lesson lists them")
    lesson: Lesson = importlib.import_module(f"heldout.lessons.{name.replace('-', '_')}").LESSON
    return lesson


def every() -> list[Lesson]:
    """All lessons, in the order of the seeds."""
    return [find(name) for name in ORDER]


def overview() -> str:
    """The lessons, a line each."""
    width = max(map(len, ORDER))
    return "\n".join(
        [
            "Lessons, in the order of the seeds:",
            "",
            *(f"  {lesson.name:<{width}}  {lesson.title}" for lesson in every()),
            "",
            "heldout lesson NAME shows one; --picture FILE draws it.",
        ]
    )
