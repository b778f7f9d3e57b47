"""The mistakes of questions: the question, and its passage with gold's answers and the system's span marked in it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.marks import Mark, Span, marked, plain, union
from heldout.eval.report.pieces import Field
from heldout.eval.report.view import Body, Cards, in_turn
from heldout.eval.report.wording import count, number, percent, sure
from heldout.eval.spans import SpanTable, gold_texts
from heldout.records import Example, Prediction

PASSAGE = "context"
SILENT, ASKED_TOO_MUCH = "left unanswered", "answered though impossible"
NOTHING_SHARED, SOME_SHARED = "shares no word with gold", "shares words with gold"
#: Characters of an answer, and how many of gold's different answers, that a heading tells.
LONG, GOLDS = 120, 3


def cards(inputs: Inputs, system: System, data: DataSet) -> Cards:
    """The questions whose answer is none of gold's."""
    predictions, table = system.predictions[data.name], inputs.table(system, data)
    assert isinstance(table, SpanTable)

    def body(row: int, room: int) -> Body:
        example, said = data.examples[row], predictions[row]
        fate = _fate(example, said, float(table.f1[row]))
        fields = _fields(example, said, room) if room else ()
        return Body(_heading(example, said, tell=room > 0), fields, {"fate": (fate,)}, _numbers(said, table.f1[row]))

    return Cards(_order(predictions, table), body)


def _order(predictions: Sequence[Prediction], table: SpanTable) -> list[tuple[float | None, int]]:
    rows = np.flatnonzero(table.correct == 0)
    silent = np.array([not said.answer for said in predictions], dtype=np.bool_)[rows]
    given = [confidence(said) for said in predictions]
    sure_of = np.array([-1.0 if p is None else p for p in given])
    null = np.array([float((said.scores or {}).get("null_score", -np.inf)) for said in predictions])
    sides = [
        part[np.argsort(-by[part], kind="stable")] for part, by in ((rows[~silent], sure_of), (rows[silent], null))
    ]
    return [(given[row], row) for row in in_turn(sides[0].tolist(), sides[1].tolist())]


def confidence(said: Prediction) -> float | None:
    """The probability of the span that was answered; None for no answer, and where the answer is another span."""
    best = (said.scores or {}).get("best")
    return float(best["p"]) if best and said.answer and said.answer == best["text"] else None


def _fate(example: Example, said: Prediction, f1: float) -> str:
    if not said.answer:
        return SILENT
    if not example.gold:
        return ASKED_TOO_MUCH
    return SOME_SHARED if f1 > 0 else NOTHING_SHARED


def _heading(example: Example, said: Prediction, *, tell: bool) -> str:
    """What was answered and what is gold; without ``tell`` only whether there is one."""
    p = confidence(said)
    with_ = "" if p is None else f" with {sure(p)} confidence"
    golds = list(dict.fromkeys(gold_texts(example)))
    if not tell:
        answered = "Gave an answer" if said.answer else "Gave no answer"
        return f"{answered}{with_}; gold has {'one' if golds else 'none'}"
    answered = f"Answered {_quoted(said.answer)}" if said.answer else "Gave no answer"
    more = f" or {count(len(golds) - GOLDS)} others" if len(golds) > GOLDS else ""
    gold = f"is {' or '.join(map(_quoted, golds[:GOLDS]))}{more}" if golds else "has no answer"
    return f"{answered}{with_}; gold {gold}"


def _quoted(text: str) -> str:
    return f"“{text if len(text) <= LONG else text[:LONG] + '…'}”"


def _numbers(said: Prediction, f1: float) -> str:
    """F1, the best span's probability where it was not given, and the null score."""
    scores: Mapping[str, Any] = said.scores or {}
    parts = [f"F1 {percent(float(f1))}"]
    if "best" in scores and confidence(said) is None:
        parts.append(f"best span’s probability {sure(scores['best']['p'])}")
    if "null_score" in scores:
        parts.append(f"null score {number(scores['null_score'])}")
    return " · ".join(parts)


def _fields(example: Example, said: Prediction, room: int) -> tuple[Field, ...]:
    """The passage has the room that the other fields leave."""
    others = [(name, value) for name, value in example.text.items() if name != PASSAGE or not isinstance(value, str)]
    share = room // 4 // max(1, len(others)) if len(others) < len(example.text) else room // max(1, len(others))
    fields = [plain(name, value, share) for name, value in others]
    if len(others) < len(example.text):
        passage = example.text[PASSAGE]
        fields.append(marked(PASSAGE, passage, _marks(passage, example, said), room - share * len(others)))
    return tuple(fields)


def _marks(passage: str, example: Example, said: Prediction) -> list[Mark]:
    """Gold's answers, those that overlap as one, and the span that was answered or would have been."""
    golds = [(one["start"], one["start"] + len(one["text"])) for one in example.gold]
    true = [span for span, one in zip(golds, example.gold, strict=True) if passage[slice(*span)] == one["text"] != ""]
    label = "answer" if said.answer else "best span, not given"
    found = [Mark(*span, "found", label) for span in _answered(passage, said)]
    return [*(Mark(*span, "gold", "gold") for span in union(true)), *found]


def _answered(passage: str, said: Prediction) -> list[Span]:
    """Where the answer, or the best span where nothing was answered, stands: as its offsets say, else where it stands
    first; nowhere if it is not in the passage.
    """
    best = (said.scores or {}).get("best")
    text = said.answer or (best["text"] if best else "")
    if best and best["text"] == text and passage[best["start"] : best["end"]] == text:
        return [(best["start"], best["end"])]
    at = passage.find(text) if text else -1
    return [(at, at + len(text))] if at >= 0 else []
