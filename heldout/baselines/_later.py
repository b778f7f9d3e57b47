"""Baselines of a run answer a set that came after training: from train's labels, or from what they kept."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._kept import NAME, read_kept
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
        if baseline is None or (home / "gold" / f"{name}.jsonl").exists():
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
        return baseline.again(read_kept(home / NAME), card) if baseline.again and (home / NAME).exists() else None
    # Of tagged sentences the ledger counts entities, not the tags that a majority is of.
    if baseline.learns == "golds" and not train:
        return None
    lexicon = made.get("lexicon")
    options = BaselineOptions(made.get("rule", "full"), Path(lexicon) if lexicon else None)
    return baseline.fit(train, [], card, int(made.get("seed", 1)), options)


def _golds(folder: Path, card: Card) -> list[Example]:
    """As many examples without a text as train has of each label; none where its labels are not known."""
    counts = read_ledger(folder).splits.get("train", {}).get("labels", {})
    if card.kind != "label" or not set(counts) <= set(card.labels):
        return []
    return [Example(f"{label}:{k}", {}, label) for label, n in counts.items() for k in range(int(n))]
