"""Baselines of a run answer a set that came after training: from train's labels, or from what they kept."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._kept import NAME, Kept, read_kept
from heldout.errors import Refused
from heldout.eval.run_scores import score_run
from heldout.ledger import read_ledger
from heldout.records import Card, Example, read_card
from heldout.runs import holding, read_json, write_lines


def answer_later(
    folder: Path, name: str, examples: Sequence[Example], baselines: Mapping[str, Baseline]
) -> Iterator[str]:
    """Let RUN/baselines/KIND predict and score a further set; yields the kinds that did.

    Of train they get what RUN's ledger counted: the labels. A baseline that learns from texts and kept nothing (it was
    fitted by an earlier version, or to vectors of the user's own) is left out.
    """
    card = read_card(folder / "card.json")
    train = _golds(folder, card)
    for path in sorted(folder.glob("baselines/*/card.json")):
        home = path.parent
        made = read_json(home / "options.json")
        baseline = baselines.get(str(made.get("kind")))
        if baseline is None or (home / "scores" / f"{name}.json").exists():
            continue
        fitted = _again(home, baseline, made, train, card)
        if fitted is None:
            continue
        with holding(home):
            write_lines(home / "gold" / f"{name}.jsonl", (example.to_json() for example in examples))
            write_lines(home / "predictions" / f"{name}.jsonl", (one.to_json() for one in fitted.predict(examples)))
            score_run(home, name)
        yield baseline.name


def _again(
    home: Path, baseline: Baseline, made: Mapping[str, Any], train: Sequence[Example], card: Card
) -> Fitted | None:
    """The baseline fitted as it was; None where that needs what is not there."""
    if baseline.learns == "texts":
        return _learnt(home / NAME, baseline.again, card) if baseline.again and (home / NAME).exists() else None
    # Of tagged sentences the ledger counts entities, not the tags that a majority is of.
    if baseline.learns == "golds" and not train:
        return None
    lexicon = made.get("lexicon")
    options = BaselineOptions(made.get("rule", "full"), Path(lexicon) if lexicon else None)
    return baseline.fit(train, [], card, int(made.get("seed", 1)), options)


def _learnt(path: Path, again: Callable[[Kept, Card], Fitted], card: Card) -> Fitted:
    """What was kept, fitted again; Refused where the file holds something else than this baseline keeps."""
    kept = read_kept(path)
    idle = [name for name, array in kept.arrays.items() if array.dtype.kind == "f" and not np.isfinite(array).all()]
    labels = kept.about.get("labels", [])
    if idle or not set(labels) <= set(card.labels):
        raise Refused(f"{path}: holds {idle[0] if idle else labels} that no such baseline keeps; fit it again")
    try:
        return again(kept, card)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Refused(f"{path}: not what such a baseline keeps ({error}); fit it again with heldout baseline") from None


def _golds(folder: Path, card: Card) -> list[Example]:
    """As many examples without a text as train has of each label; none where its labels are not known."""
    counts = read_ledger(folder).splits.get("train", {}).get("labels", {})
    if card.kind != "label" or not set(counts) <= set(card.labels):
        return []
    return [Example(f"{label}:{k}", {}, label) for label, n in counts.items() for k in range(int(n))]
