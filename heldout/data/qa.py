"""Extractive QA: which piece of a passage answers a question? SQuAD 1.1, and 2.0 with questions that have no answer.

A row, made up, in the form of the hub's sets (SQuAD's own files nest it), and the example that it becomes:

    {"id": "q1", "title": "Mills", "question": "Who built it?", "context": "The mill was built by Ada Moor.",
     "answers": {"text": ["Ada Moor", "Ada"], "answer_start": [22, 22]}}
    Example("q1", {"question": "Who built it?", "context": "The mill was built by Ada Moor."},
            [{"text": "Ada Moor", "start": 22}, {"text": "Ada", "start": 22}], {"article": "Mills", "group": "Mills"})

Offsets count characters of the passage as it stands, so texts are neither stripped nor cleaned.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from heldout.data.answers import Claim, claims, placed
from heldout.data.duplicates import fold
from heldout.data.identity import about, about_columns, ids
from heldout.data.names import Reading
from heldout.data.sources import Loaded
from heldout.data.squad import read_squad
from heldout.data.table import Row, Table, column, need_column
from heldout.data.task import Data
from heldout.errors import Refused
from heldout.records import Card, Example, content_hash

QUESTION, CONTEXT = ("question", "query"), ("context", "passage", "paragraph")
ANSWERS, IMPOSSIBLE = ("answers", "answer"), ("is_impossible", "impossible")
SAID = {"true": True, "1": True, "false": False, "0": False}
ARTICLE = ("title", "article", "group")
#: The versions of the card: SQuAD's two, whose metrics treat empty answers differently.
ALL_ANSWERED, WITH_IMPOSSIBLE = "1.1", "2.0"
METRICS = ("f1", "em")
METRICS_OF_IMPOSSIBLE = ("has_ans_f1", "has_ans_em", "no_ans_acc")
CALIBRATION = ("ece", "ece_mass", "aurc")
SLICES = (
    *("question_word", "answer_length", "context_length", "answer_position", "question_overlap"),
    *("answerable", "overlap", "domain"),
)
CITATION = (
    "Rajpurkar et al. (2016), SQuAD: 100,000+ questions for machine comprehension of text; Rajpurkar, Jia and Liang "
    "(2018), Know what you don't know: unanswerable questions for SQuAD; Miller et al. (2020), The effect of natural "
    "distribution shift on question answering models"
)


@dataclass(frozen=True)
class Columns:
    """Where the table has what; None where it has it not."""

    question: str
    context: str
    answers: str | None
    impossible: str | None
    article: str | None
    about: Mapping[str, str]


def read(table: Table, reading: Reading, known: Collection[str] = ()) -> Loaded:
    """Examples of a table; Refused where no row has an answer and none is said to be impossible: it is unlabelled.

    A row with an empty list of answers is impossible, unless its is_impossible says that it is not: that, and a row
    without any word of answers, is unlabelled; such rows are left out and counted, as are those that no answer is left
    of. Answers beside is_impossible are set aside and counted.
    """
    if reading.clean == "on":
        raise Refused(f"{table.source}: --clean on would move the answers, which are counted from the passage's start")
    columns = _columns(table, reading)
    asked = [row.values.get(columns.answers) if columns.answers else None for row in table.rows]
    claimed = [claims(f"{table.source}, {row.place}", value) for row, value in zip(table.rows, asked, strict=True)]
    said = [_said(table, row, columns.impossible) for row in table.rows]
    if not reading.unlabelled and not any(claimed) and not any(said):
        raise Refused(
            f"{table.source}: unlabelled: none of its {len(table.rows)} questions has an answer and none is marked "
            "is_impossible; it can be neither scored nor trained on"
        )
    identities, notes = ids(table, reading)
    dropped, counts = Counter(table.dropped), Counter(notes)
    examples = []
    for row, identity, answers, impossible in zip(table.rows, identities, claimed, said, strict=True):
        texts = {
            name: _text(table, row, of) for name, of in (("question", columns.question), ("context", columns.context))
        }
        gold = _gold(texts["context"], answers, impossible, counts)
        if (gold is None and not reading.unlabelled) or not all(text.strip() for text in texts.values()):
            dropped["no_label" if gold is None else "empty_text"] += 1
        elif answers and not impossible and gold == []:
            dropped["answer_not_in_context"] += 1
        else:
            examples.append(Example(identity, texts, gold, _about(row, columns, gold)))
    if not examples:
        why = ", ".join(f"{n} rows {reason.replace('_', ' ')}" for reason, n in dropped.items()) or "no rows"
        raise Refused(f"{table.source}: no example is left ({why})")
    kept = _grouped(examples)
    return Loaded(table.source, kept, content_hash(kept), dict(dropped), {**table.notes, **+counts})


def _columns(table: Table, reading: Reading) -> Columns:
    asked = reading.columns
    return Columns(
        question=need_column(table, asked.get("question"), QUESTION, "question"),
        context=need_column(table, asked.get("context"), CONTEXT, "context"),
        answers=(column if reading.unlabelled else need_column)(table, asked.get("answers"), ANSWERS, "answers"),
        impossible=column(table, None, IMPOSSIBLE, "impossible"),
        article=column(table, asked.get("group"), ARTICLE, "group"),
        about={field: name for field, name in about_columns(table, reading).items() if field != "group"},
    )


def _said(table: Table, row: Row, name: str | None) -> bool | None:
    """What the row says of itself: impossible or not; None where it says nothing."""
    value = row.values.get(name) if name else None
    shown = str(value).strip().casefold()
    if value is None or shown in SAID:
        return None if value is None else SAID[shown]
    raise Refused(f"{table.source}, {row.place}: {name} is {value!r:.40}, neither true nor false")


def _text(table: Table, row: Row, name: str) -> str:
    value = row.values.get(name)
    if not isinstance(value, str | None):
        raise Refused(f"{table.source}, {row.place}: {name} is {value!r:.40}, not a text")
    return value or ""


def _gold(
    context: str, answers: list[Claim] | None, impossible: bool | None, counts: Counter[str]
) -> list[dict[str, Any]] | None:
    """The answers that stand in the passage, [] for an impossible question, None for an unlabelled one."""
    if impossible:
        counts["answers_of_impossible_questions_set_aside"] += len(answers or [])
        return []
    if answers is None or (not answers and impossible is not None):
        return None
    return placed(context, answers, counts)


def _about(row: Row, columns: Columns, gold: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    named = dict(columns.about) if columns.article is None else {"article": columns.article, **columns.about}
    return about(row, named) | ({"impossible": True} if gold == [] else {})


def _grouped(examples: Sequence[Example]) -> tuple[Example, ...]:
    """With a group each: its article, or its passage where there is only one article (SQuADShifts' Reddit) or none."""
    articles = {example.about.get("article") for example in examples}
    grouped = []
    for example in examples:
        article = example.about.get("article") if len(articles) > 1 else None
        grouped.append(replace(example, about={**example.about, "group": article or _short(example.text["context"])}))
    return tuple(grouped)


def _short(passage: str) -> str:
    """A passage as 48 bits of BLAKE2b in hex: the same in every split, and 100,000 of them don't collide."""
    return blake2b(fold(passage).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def card(train: Sequence[Example]) -> Card:
    """The card, of version 2.0 where train has impossible questions: a system may then answer that there is none."""
    if all(example.gold for example in train):
        return Card("qa", ALL_ANSWERED, "span", (), (*METRICS, *CALIBRATION), SLICES, citation=CITATION)
    metrics = (*METRICS, *METRICS_OF_IMPOSSIBLE, *CALIBRATION)
    return Card("qa", WITH_IMPOSSIBLE, "span", (), metrics, SLICES, citation=CITATION)


def texts(table: Table, reading: Reading) -> Sequence[str]:
    """The passages alone, of a source that may have no answers: what is left out of train goes by passage."""
    name = need_column(table, reading.columns.get("context"), CONTEXT, "context")
    return [_text(table, row, name) for row in table.rows]


DATA = Data(
    "qa", read, card, texts, key="context", files=read_squad, baselines=("first-noun", "sliding-window", "no-answer")
)
