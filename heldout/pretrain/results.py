"""What a pretraining leaves besides the model: predictions on dev and test, and those of the n-grams beside it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.ledger import read_ledger, write_ledger
from heldout.pretrain.material import Material
from heldout.pretrain.ngrams import Counts, bigram, count, unigram
from heldout.pretrain.objectives import Target
from heldout.pretrain.options import Objective
from heldout.pretrain.pretrain import Pretrained
from heldout.pretrain.scoring import Scored
from heldout.records import Card, Example
from heldout.runs import environment, write_json, write_lines, writing

NGRAMS: Mapping[str, Callable[[Counts, Sequence[Target]], Scored]] = {"unigram": unigram, "bigram": bigram}


def card_of(objective: Objective) -> Card:
    """The card of held-out text: the loss a predicted token first."""
    pairs = ("nsp_accuracy",) if objective == "mlm-nsp" else ()
    metrics = ("lm_nll", "perplexity", "lm_accuracy", *pairs)
    return Card(f"pretraining {objective}", "1", "lm", (), metrics, ("domain",))


def rows_of(examples: Sequence[Example], scored: Scored) -> list[dict[str, Any]]:
    """Lines of a predictions file: {"id", "nll", "n", "correct"}, of pairs "next" too, the probability that B is."""
    rows: list[dict[str, Any]] = []
    for row, example in enumerate(examples):
        line = {"id": example.id, "nll": float(scored.nll[row]), "n": int(scored.n[row])}
        line["correct"] = int(scored.correct[row])
        if scored.other is not None:
            line["next"] = 1 - float(scored.other[row])
        rows.append(line)
    return rows


def write_predictions(folder: Path, material: Material, scored: Mapping[str, Scored]) -> None:
    """Write the card and predictions/dev.jsonl and test.jsonl of a run."""
    write_json(folder / "card.json", card_of(material.objective).to_json())
    for name, held in material.held.items():
        write_lines(folder / "predictions" / f"{name}.jsonl", rows_of(held.examples, scored[name]))


def write_ngrams(folder: Path, pretrained: Pretrained, options: Mapping[str, Any]) -> None:
    """Write baselines/unigram and baselines/bigram, each a run folder with the same gold and the same positions.

    N-grams know nothing of pairs: they say 0.5, and so their accuracy is the share of true ones.
    """
    material = pretrained.material
    end = material.frame.after[0] if material.objective == "clm" else None
    counts = count(
        material.corpus,
        material.parts["train"],
        size=len(material.tokenizer),
        before=material.frame.before[-1],
        after=end,
    )
    for kind, predict in NGRAMS.items():
        target = folder / "baselines" / kind
        with writing(target, resume=True):
            write_json(target / "options.json", {"kind": kind, **options})
            write_json(target / "environment.json", environment())
            write_ledger(target, read_ledger(folder))
            scored = {
                name: _with_pairs(predict(counts, [w.target for w in held.windows]), material)
                for name, held in material.held.items()
            }
            for name, held in material.held.items():
                write_lines(target / "gold" / f"{name}.jsonl", (example.to_json() for example in held.examples))
            write_predictions(target, material, scored)


def _with_pairs(scored: Scored, material: Material) -> Scored:
    other = np.full(len(scored.n), 0.5) if material.objective == "mlm-nsp" else None
    return Scored(scored.nll, scored.n, scored.correct, other)
