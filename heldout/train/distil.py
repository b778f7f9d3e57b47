"""Distillation: a student learns from a teacher's outputs beside the labels (Hinton et al. 2015).

    L = α · task + (1 − α) · T² · KL(teacher ‖ student) + w · hidden

α = 1 is plain fine-tuning, α = 0 needs no labels. The KL is of the labels' distributions (sentiment, nli), of every
word's tags (ner), or of start and end over the passage and [CLS] (qa). What the teacher said is read from disk:
probabilities of labels and tags from prediction records (answers.py), start and end logits and states from a store
(store.py). Here a fine-tuning's setup becomes a distillation's.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from heldout.records import Kind
from heldout.train import hidden, tapped
from heldout.train.answers import Answers
from heldout.train.distil_options import Hidden
from heldout.train.finetune import Setup
from heldout.train.hidden import Shape, Tap
from heldout.train.losses import divergence, span_divergence, token_divergence
from heldout.train.store import LOGITS, Store
from heldout.train.task import Task
from heldout.train.windows import Batch, Window

#: In the targets of a batch, before the names of the teacher's states.
STATES = "teacher "
#: What the teacher said of a window: (labels,), or a row for each position.
Said = Callable[[Window], Tensor]


@dataclass(frozen=True)
class Mix:
    """How the losses are mixed: ``alpha`` is the share of the task's own, ``weight`` that of the hidden loss."""

    alpha: float
    temperature: float
    hidden: Hidden = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Numbered:
    """The target of a window of train: gold's, and the window's number among all of them."""

    hard: Any
    row: int


@dataclass(frozen=True)
class Teacher:
    """What a teacher left on disk: its answers to train, and a store where spans are asked or states compared.

    ``shape`` is the teacher's, known where states are compared.
    """

    answers: Answers
    store: Store | None = None
    shape: Shape | None = None


@dataclass(frozen=True)
class Distillation:
    """Called with a fine-tuning's setup it gives the distillation's; at α = 1 without a hidden loss that is the same.

    ``kind`` is the card's. Projections are drawn from ``seed``.
    """

    task: Task
    kind: Kind
    mix: Mix
    teacher: Teacher
    seed: int

    def __call__(self, setup: Setup) -> Setup:
        """The setup with the teacher in it."""
        if self.mix.alpha == 1 and not self.mix.hidden:
            return setup
        model, wanted, own = setup.model, tuple[Tap, ...](), tapped.shape_of(setup.model)
        if self.mix.hidden and self.teacher.shape is not None:
            wanted = hidden.taps(self.mix.hidden, own, self.teacher.shape)
            model = tapped.student(setup.model, wanted, self.teacher.shape, self.seed)
        said = self._said(setup.encoding.labels)
        return replace(
            setup,
            model=model,
            encoded=replace(setup.encoded, windows=self._numbered(setup.encoded.windows)),
            collate=lambda windows: self._batch(windows, setup.collate, said, wanted),
            loss=lambda outputs, targets, weights: self._loss(outputs, targets, weights, own.heads),
        )

    def _said(self, labels: Sequence[str]) -> Said:
        """The teacher's logits or log p of a window, columns in the order of the student's own labels."""
        store = self.teacher.store
        if self.kind == "span" and store is not None:
            return lambda window: store.read(LOGITS, window.target.row)
        log_p = [torch.from_numpy(row) for row in self.teacher.answers.log_p(labels)]
        if self.kind == "label":
            return lambda window: log_p[window.example]

        def of_words(window: Window) -> Tensor:
            places = torch.tensor(self.task.positions(window))
            found = torch.zeros(len(places), len(labels))
            found[places >= 0] = log_p[window.example][places[places >= 0]]
            return found

        return of_words

    def _numbered(self, examples: Sequence[Sequence[Window]]) -> list[list[Window]]:
        """Train's windows with their numbers; without labels a window weighs what the teacher says of it."""
        rows = iter(range(sum(map(len, examples))))
        numbered = []
        for windows in examples:
            weights = [window.weight for window in windows]
            if self.mix.alpha == 0:
                weights = [self._weight(window, len(windows)) for window in windows]
            numbered.append(
                [
                    replace(window, target=Numbered(window.target, next(rows)), weight=weight)
                    for window, weight in zip(windows, weights, strict=True)
                ]
            )
        return numbered

    def _weight(self, window: Window, windows: int) -> float:
        if self.kind == "tags":
            return float(sum(place >= 0 for place in self.task.positions(window)))
        return 1 / windows

    def _batch(
        self,
        windows: Sequence[Window],
        padded: Callable[[Sequence[Window]], Batch],
        said: Said,
        wanted: Sequence[Tap],
    ) -> Batch:
        """A batch whose targets are gold's ("hard"), the teacher's ("soft") and where they count ("read", "real")."""
        batch = padded([replace(window, target=window.target.hard) for window in windows])
        longest = batch.inputs["input_ids"].shape[1]
        targets = {"hard": batch.targets} if self.mix.alpha > 0 else {}
        if self.mix.alpha < 1:
            soft = [said(window) for window in windows]
            if self.kind == "label":
                targets["soft"] = torch.stack(soft)
            else:
                targets["soft"] = _padded(soft, longest)
                read = [torch.tensor(self.task.positions(window)) >= 0 for window in windows]
                targets["read"] = _padded(read, longest)
        store = self.teacher.store
        if wanted and store is not None:
            targets["real"] = batch.inputs["attention_mask"].bool()
            for tap in wanted:
                states = [store.read(tap.name, window.target.row) for window in windows]
                targets[STATES + tap.name] = _padded(states, longest)
        return replace(batch, targets=targets)

    def _loss(self, outputs: Any, targets: dict[str, Tensor], weights: Tensor, heads: int) -> Tensor:
        """The mixed loss of a micro-batch, summed by the rows' weights as every task's loss is."""
        mix, states = self.mix, dict[str, Tensor]()
        if isinstance(outputs, tapped.Features):
            outputs, states = outputs
        parts = []
        if mix.alpha > 0:
            parts.append(mix.alpha * self.task.loss(outputs, targets["hard"], weights))
        if mix.alpha < 1:
            logits, soft = self.task.logits(outputs), targets["soft"]
            if self.kind == "label":
                found = divergence(logits, soft, mix.temperature) @ weights.to(logits.device)
            else:
                over = token_divergence if self.kind == "tags" else span_divergence
                found = over(logits, soft, targets["read"], weights, mix.temperature)
            parts.append((1 - mix.alpha) * found)
        if mix.hidden:
            theirs = {name: targets[STATES + name] for name in states}
            parts.append(mix.weight * hidden.loss(mix.hidden, states, theirs, targets["real"], weights, heads))
        return torch.stack(parts).sum()


def _padded(rows: Sequence[Tensor], longest: int) -> Tensor:
    """Rows (their length, …) as one tensor (rows, longest, …), zeros (or False) behind them."""
    made = torch.zeros(len(rows), longest, *rows[0].shape[1:], dtype=rows[0].dtype)
    for number, row in enumerate(rows):
        made[number, : len(row)] = row
    return made
