"""Answers of systems in the files that shared tasks take them in: CoNLL columns for tags, SQuAD's object for spans.

    Greta   B-person            {"q1": "Ada Moor", "q2": ""}
    Berg    I-person
    slept   O

The last column is what the system said (so conlleval's input, gold beside prediction, is read as well). Sentences have
no ids there: they are joined to gold in order, and how many words are not gold's is counted. Tags are taken as they
are, valid IOB2 or not, since that is what strict and lenient readings differ on.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from heldout.answers import PREDICTION
from heldout.data.conll import read_conll
from heldout.data.files import suffix
from heldout.data.names import Reading
from heldout.errors import Refused
from heldout.records import Card, Example, Prediction, join, read_predictions
from heldout.runs import read_json

#: Predictions, and notes for those who read the scores.
Submission = tuple[list[Prediction], list[str]]
#: Our own format: a JSON object a line.
OURS = (".jsonl", ".ndjson")


def read_submission(path: Path, card: Card, gold: Sequence[Example]) -> Submission:
    """Answers to these examples, in their order: in our format, or else in the one that cards of this kind have of old.

    Refused, naming the file and the id, where an example has none, or an answer no example.
    """
    ours = suffix(path) in OURS or card.kind not in FORMATS
    predictions, notes = (read_predictions(path, card), []) if ours else FORMATS[card.kind](path, card, gold)
    try:
        return [prediction for _, prediction in join(gold, predictions)], notes
    except Refused as error:
        raise Refused(f"{path}: {error}") from None


def _columns(path: Path, card: Card, gold: Sequence[Example]) -> Submission:
    table = read_conll(path, Reading())
    if table is None or "tags" not in table.columns:
        raise Refused(f"{path}: no file of columns, a word and its tag a line, nor {' or '.join(OURS)}")
    if len(table.rows) != len(gold):
        raise Refused(f"{path}: {len(table.rows)} sentences for the {len(gold)} of gold; they are joined in order")
    predictions, words, others = [], 0, 0
    for row, example in zip(table.rows, gold, strict=True):
        where, said, tags = f"{path}, {row.place}", row.values["words"], row.values["tags"]
        if len(tags) != len(example.gold):
            raise Refused(f"{where}: {len(tags)} words for the {len(example.gold)} of gold; they are joined in order")
        PREDICTION[card.kind](where, {"answer": tags}, card.labels)
        predictions.append(Prediction(example.id, tags))
        words += len(tags)
        others += sum(mine != theirs for mine, theirs in zip(said, example.text["words"], strict=True))
    return predictions, [f"{others} of {words} words in {path} are not those of gold."] if others else []


def _answers(path: Path, card: Card, gold: Sequence[Example]) -> Submission:
    answers = read_json(path)
    if not isinstance(answers, dict):
        raise Refused(f"{path}: must be an object from the id of a question to its answer, or a {' or '.join(OURS)}")
    for name, answer in answers.items():
        PREDICTION[card.kind](f"{path}, id {name!r}", {"answer": answer}, card.labels)
    return [Prediction(name, answer) for name, answer in answers.items()], []


#: How answers of a kind are read that are not in our format.
FORMATS: Mapping[str, Callable[[Path, Card, Sequence[Example]], Submission]] = {"tags": _columns, "span": _answers}
