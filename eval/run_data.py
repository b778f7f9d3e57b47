"""What a run folder holds of its data sets: gold and predictions, read and checked to be of the same examples."""

from collections.abc import Sequence
from pathlib import Path

from heldout.errors import Refused
from heldout.records import Card, Example, Prediction, join, read_gold, read_predictions
from heldout.runs import read_json

#: The split that choices are made on.
DEV = "dev"


def refuse_no_run(folder: Path) -> None:
    """Refused where a folder holds no card.json, naming the runs of its seeds where it has them."""
    if not (folder / "card.json").exists():
        seeds = sorted(path.parent.name for path in folder.glob("seed-*/card.json"))
        which = f"; it holds the runs {', '.join(seeds)}: score each" if seeds else "; is it a run folder of heldout?"
        raise Refused(f"{folder}: holds no card.json{which}")


def read_data(folder: Path, name: str, card: Card) -> tuple[list[Example], list[Prediction]]:
    """Gold and predictions of one data set of a run folder, checked to be of the same examples."""
    return read_pair(folder / "gold" / f"{name}.jsonl", folder / "predictions" / f"{name}.jsonl", card)


def read_pair(gold_file: Path, predictions_file: Path, card: Card) -> tuple[list[Example], list[Prediction]]:
    """A gold file and a predictions file; Refused naming the predictions file where their ids don't match."""
    gold = read_gold(gold_file, card)
    return gold, read_answers(gold, gold_file, predictions_file, card)


def read_answers(gold: Sequence[Example], gold_file: Path, predictions_file: Path, card: Card) -> list[Prediction]:
    """The predictions of a file in gold's order; Refused naming the file where its ids are not those of gold."""
    if not predictions_file.exists():
        raise Refused(f"{predictions_file}: no such file; it must hold one line for each id of {gold_file}")
    predictions = read_predictions(predictions_file, card)
    try:
        return [prediction for _, prediction in join(gold, predictions)]
    except Refused as error:
        raise Refused(f"{predictions_file}: {error}; it must hold one line for each id of {gold_file}") from None


def names_of(folder: Path) -> list[str]:
    """The data sets of a run folder: test sets as its options order them (the first is in-domain), others, dev last."""
    found = sorted({path.stem for kind in ("gold", "predictions") for path in (folder / kind).glob("*.jsonl")})
    if not found:
        raise Refused(f"{folder}: holds no gold/NAME.jsonl and predictions/NAME.jsonl; run finetune or predict first")
    options = read_json(folder / "options.json") if (folder / "options.json").exists() else {}
    given = [str(test).split("=", 1)[0] for test in options.get("test") or ()]
    tests = [name for name in given if name in found] + [name for name in found if name not in (*given, DEV)]
    return tests + [name for name in found if name == DEV]


def has_data(folder: Path, name: str) -> bool:
    """Whether a run folder has both gold and predictions of a set."""
    return all((folder / kind / f"{name}.jsonl").exists() for kind in ("gold", "predictions"))
