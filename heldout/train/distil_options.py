"""The options of distillation, and the grid of --sweep."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from heldout.errors import Refused
from heldout.options import nearest, option
from heldout.train.options import ReadOptions, check

Hidden = Literal["", "cosine", "minilm", "tinybert"]
Form = Literal["same", "distilbert"]
#: What --sweep may vary.
SWEPT = ("alpha", "temperature", "hidden_weight")


@dataclass(frozen=True)
class DistilOptions(ReadOptions):
    """Who teaches whom, and how the losses are mixed."""

    teacher: str | None = option(None, "the run whose model teaches", metavar="RUN")
    teacher_predictions: str | None = option(
        None, "any system's predictions on train, as the teacher (labels, tags)", metavar="FILE"
    )
    teacher_card: str | None = option(
        None, "the card that names the columns of its scores (default: the task's)", metavar="FILE"
    )
    teacher_store: str | None = option(
        None, "RUN/teacher/windows of an earlier distillation by the same teacher", metavar="DIR"
    )
    student: str | None = option(None, "the student to begin with: a folder or a hub id", metavar="MODEL")
    layers: str = option("", "a student of so many of the teacher's layers, or of these", metavar="3|0,2,5")
    layers_from: Literal["finetuned", "pretrained", "both"] = option(
        "finetuned", "the teacher as it is, or before its fine-tuning: fine-tuned layers leak it into the control"
    )
    shape: Form = option("same", "distilbert: DistilBERT's, without segments and pooler (of a bert)")
    alpha: float = option(0.5, "share of the task's own loss: 1 is plain fine-tuning, 0 needs no labels")
    temperature: float = option(2.0, "by which both distributions are softened")
    hidden: Hidden = option("", "also learn the teacher's states")
    hidden_weight: float = option(1.0, "what the hidden loss weighs")
    controls: bool = option(True, "train the student without a teacher, and with its hard labels, beside it")
    sweep: str = option("", "values to choose from on dev", metavar='"alpha=0.1,0.5 temperature=1,4"')

    def __post_init__(self) -> None:
        """Refuse what means nothing or goes not together, before any work."""
        super().__post_init__()
        check("alpha", self.alpha, 0 <= self.alpha <= 1, "from 0 to 1")
        check("temperature", self.temperature, self.temperature > 0, "more than 0, such as 2")
        check("hidden_weight", self.hidden_weight, self.hidden_weight >= 0, "0 or more")
        if (self.teacher is None) == (self.teacher_predictions is None):
            raise Refused("give one teacher: --teacher RUN, or --teacher-predictions FILE of any system")
        if self.teacher is None:
            for name in ("layers", "hidden", "teacher_store"):
                check(name, getattr(self, name), not getattr(self, name), "--teacher RUN with it: it needs the model")
        elif self.teacher_card:
            raise Refused("--teacher-card: names the columns of --teacher-predictions; a run has its own card")
        if not self.layers and (self.layers_from != "finetuned" or self.shape != "same"):
            raise Refused("--layers-from and --shape: say how --layers makes the student; give --layers too")


def grid(text: str) -> list[dict[str, Any]]:
    """The points of --sweep, every value of one with every one of the others; Refused where they are no numbers.

    >>> grid("alpha=0.1,0.5 temperature=2")
    [{'alpha': 0.1, 'temperature': 2.0}, {'alpha': 0.5, 'temperature': 2.0}]
    """
    values: dict[str, list[float]] = {}
    for part in text.split():
        name, _, numbers = part.partition("=")
        name = name.replace("-", "_")
        if name not in SWEPT or name in values:
            raise Refused(f"--sweep {part}: varies each of {', '.join(SWEPT)} once{nearest(name, SWEPT)}")
        try:
            values[name] = [float(number) for number in numbers.split(",")]
        except ValueError:
            raise Refused(f"--sweep {part}: give numbers with commas between, such as alpha=0.1,0.5") from None
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())] if values else []


def named(point: Mapping[str, float]) -> str:
    """A point of the grid as a folder's name.

    >>> named({"alpha": 0.5, "temperature": 2.0})
    'alpha=0.5,temperature=2'
    """
    return ",".join(f"{name}={value:g}" for name, value in point.items())
