"""The model's labels are the card's by name and in order: its config agrees with itself, no permutation is better.

MNLI's order of labels differs between models (FAULTS C2); by the wrong one they are right on 4 to 7%.
"""

import json
from collections.abc import Sequence

import numpy as np

from heldout.bio import strict
from heldout.checks.doctor._contract import Check, Finding, Patient, judged, not_applicable
from heldout.eval.labels import LabelTable
from heldout.eval.permuted import below_chance
from heldout.eval.run_data import read_data
from heldout.eval.table import Table
from heldout.eval.tabulate import tabulate
from heldout.records import Example, Prediction
from heldout.train.label_names import nameless


def examine(patient: Patient) -> Finding:
    """Look at the config's two tables of names, and for a permutation of the labels that would be right more often."""
    wrong = config_faults(patient)
    if wrong:
        return judged(
            False, wrong, tolerance="one name a label", advice="write id2label and label2id of config.json anew"
        )
    gold, predictions = answered(patient)
    table = _of_types(gold, predictions) if patient.card.kind == "tags" else tabulate(patient.card, gold, predictions)
    if table is None:
        return not_applicable("names agree; no entity was found whole, so types cannot be compared")
    said = below_chance(table)
    what = "types of entities found whole" if patient.card.kind == "tags" else "answers"
    figure = said or f"{np.mean(table.correct):.3f} of {len(table)} {what} are right, no permutation is far better"
    advice = "set id2label and label2id in model/config.json to the order the model was trained with"
    return judged(not said, figure, advice=advice, value=float(np.mean(table.correct)))


def answered(patient: Patient) -> tuple[Sequence[Example], Sequence[Prediction]]:
    """Gold and answers of the whole set where the run keeps them, else of the examples answered here."""
    if patient.kept:
        return read_data(patient.folder, patient.data, patient.card)
    return patient.examples, patient.predictions


def config_faults(patient: Patient) -> str:
    """What is wrong with the names in model/config.json, "" for nothing; heldout itself reads id2label alone."""
    config = json.loads((patient.folder / "model" / "config.json").read_text(encoding="utf-8"))
    by_id = {int(number): str(name) for number, name in (config.get("id2label") or {}).items()}
    by_name = {str(name): int(number) for name, number in (config.get("label2id") or {}).items()}
    if by_name != {name: number for number, name in by_id.items()}:
        return f"config.json: label2id {by_name} does not turn id2label {by_id} around"
    if patient.card.labels and nameless(list(by_id.values())):
        return f"config.json: labels have no names ({', '.join(by_id.values())})"
    return ""


def _of_types(gold: Sequence[Example], predictions: Sequence[Prediction]) -> Table | None:
    """Types as labels, of the entities that gold and the answer have in the same place; None where there are none."""
    pairs = []
    for example, prediction in zip(gold, predictions, strict=True):
        found = {(start, end): kind for start, end, kind in strict(prediction.answer)}
        both = [(kind, found[start, end]) for start, end, kind in strict(example.gold) if (start, end) in found]
        pairs += both
    types = sorted({kind for pair in pairs for kind in pair})
    if len(types) < 2:
        return None
    codes = np.array([[types.index(kind) for kind in pair] for pair in pairs])
    return LabelTable(tuple(types), codes[:, 0], codes[:, 1], None, len(pairs))


CHECK = Check(
    "labels", "answers", "labels are matched by name; a wrong order makes a good model bad", examine, ("label", "tags")
)
