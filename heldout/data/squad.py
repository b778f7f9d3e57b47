"""SQuAD's nested JSON as a table: articles of paragraphs of questions, a row for each question.

    {"version": "1.1", "data": [{"title": "Mills", "paragraphs": [{"context": "The mill was built by Ada Moor.",
      "qas": [{"id": "q1", "question": "Who built it?", "answers": [{"text": "Ada Moor", "answer_start": 22}]}]}]}]}

An article's other keys that are plain values (SQuADShifts has a "split") and the paragraph's are left aside.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.data.files import read_text, stem, suffix
from heldout.data.names import Reading
from heldout.data.table import Row, Table
from heldout.errors import Refused

COLUMNS = ("id", "title", "question", "context", "answers", "is_impossible")


def read_squad(path: Path, reading: Reading) -> Table | None:
    """A file in SQuAD's nesting as a table; None where it is another file, Refused with the place of what is amiss."""
    if suffix(path) != ".json":
        return None
    try:
        value = json.loads(read_text(path, reading.encoding))
    except (ValueError, RecursionError):
        # Not JSON, or an object a line: the reader of tables says which.
        return None
    articles = value.get("data") if isinstance(value, dict) else None
    if not isinstance(articles, list) or not any(isinstance(one, dict) and "paragraphs" in one for one in articles):
        return None
    rows = [
        Row(place, number, {name: question.get(name) for name in COLUMNS})
        for number, (place, question) in enumerate(_questions(path, articles), 1)
    ]
    asked = [name for name in COLUMNS if any(row.values[name] is not None for row in rows)]
    return Table(str(path), stem(path), tuple(asked), rows)


def _questions(path: Path, articles: list[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every question with its place, and with its article's title and its paragraph's context."""
    for number, article in enumerate(articles, 1):
        of_article = f"article {number}"
        title = _object(path, of_article, article).get("title")
        for second, paragraph in enumerate(_list(path, of_article, article, "paragraphs"), 1):
            of_paragraph = f"{of_article}, paragraph {second}"
            context = _object(path, of_paragraph, paragraph).get("context")
            for third, question in enumerate(_list(path, of_paragraph, paragraph, "qas"), 1):
                place = f"{of_paragraph}, question {third}"
                yield place, {**_object(path, place, question), "title": title, "context": context}


def _object(path: Path, place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Refused(f"{path}, {place}: must be a JSON object, not {type(value).__name__}")
    return value


def _list(path: Path, place: str, value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    if not isinstance(found, list):
        raise Refused(f'{path}, {place}: has no list "{key}"; SQuAD nests data, paragraphs, qas, answers')
    return found
