"""Baselines of a run answer a set that came after training, those that need no text of train for it."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from heldout.baselines._contract import Baseline, BaselineOptions
from heldout.eval.run_scores import score_run
from heldout.ledger import read_ledger
from heldout.records import Card, Example, read_card
from heldout.runs import holding, read_json, write_lines


def answer_later(
    folder: Path, name: str, examples: Sequence[Example], baselines: Mapping[str, Baseline]
) -> Iterator[str]:
    """Let RUN/baselines/KIND predict and score a further set; yields the kinds that did.

    Of train they get what RUN's ledger counted: the labels. A baseline that learns from texts is left out.
    """
    card = read_card(folder / "card.json")
    train = _golds(folder, card)
    for path in sorted(folder.glob("baselines/*/card.json")):
        home = path.parent
        made = read_json(home / "options.json")
        baseline = baselines.get(str(made.get("kind")))
        # Of tagged sentences the ledger counts entities, not the tags that a majority is of.
        able = baseline is not None and (baseline.learns == "nothing" or (baseline.learns == "golds" and train))
        if baseline is None or not able or (home / "gold" / f"{name}.jsonl").exists():
            continue
        lexicon = made.get("lexicon")
        options = BaselineOptions(made.get("rule", "full"), Path(lexicon) if lexicon else None)
        fitted = baseline.fit(train, [], card, int(made.get("seed", 1)), options)
        with holding(home):
            write_lines(home / "gold" / f"{name}.jsonl", (example.to_json() for example in examples))
            write_lines(home / "predictions" / f"{name}.jsonl", (one.to_json() for one in fitted.predict(examples)))
            score_run(home, name)
        yield baseline.name


def _golds(folder: Path, card: Card) -> list[Example]:
    """As many examples without a text as train has of each label; none where its labels are not known."""
    counts = read_ledger(folder).splits.get("train", {}).get("labels", {})
    if card.kind != "label" or not set(counts) <= set(card.labels):
        return []
    return [Example(f"{label}:{k}", {}, label) for label, n in counts.items() for k in range(int(n))]
