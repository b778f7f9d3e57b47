"""The gold answers of a question, from whatever a source has, each checked against its passage.

    [{"text": "Ada", "answer_start": 4}]        SQuAD's files (``start`` will do)
    {"text": ["Ada"], "answer_start": [4]}      the hub's sets
    "Ada" or ["Ada", "Ada Moor"]                bare texts, which must stand in the passage once

An answer that does not stand where it says is moved to where it does, if that is one place only; else it is left out.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from heldout.errors import Refused

#: An answer as a source has it: its text and where it says that it stands (None: it doesn't).
Claim = tuple[str, int | None]


def claims(where: str, value: Any) -> list[Claim] | None:
    """The answers of one row; None where it has no word of any. Refused, saying where, for any other form."""
    if value is None:
        return None
    if value == "":
        # What a table of text has where others have an empty list.
        return []
    if isinstance(value, Mapping):
        texts, starts = value.get("text"), value.get("answer_start", value.get("start"))
        if not isinstance(texts, list):
            texts, starts = [texts], [starts]
        starts = [None] * len(texts) if starts is None else starts
        if not isinstance(starts, list) or len(starts) != len(texts):
            raise Refused(f"{where}: answers must have as many answer_start as text")
        return [_claim(where, text, start) for text, start in zip(texts, starts, strict=True)]
    items = value if isinstance(value, list) else [value]
    return [
        _claim(where, item.get("text"), item.get("answer_start", item.get("start")))
        if isinstance(item, Mapping)
        else _claim(where, item, None)
        for item in items
    ]


def _claim(where: str, text: Any, start: Any) -> Claim:
    if not isinstance(text, str) or not (start is None or type(start) is int):
        raise Refused(
            f'{where}: an answer must be {{"text": string, "answer_start": offset}}, got {text!r:.40}, {start!r:.20}'
        )
    return text, start


def placed(context: str, claimed: list[Claim], counts: Counter[str]) -> list[dict[str, Any]]:
    """The answers that stand in the passage, as gold; ``counts`` takes what was moved, placed or left out."""
    gold = []
    for text, start in claimed:
        if not text.strip():
            counts["answers_left_out_as_empty"] += 1
        elif start is not None and start >= 0 and context.startswith(text, start):
            gold.append({"text": text, "start": start})
        elif (first := context.find(text)) < 0:
            counts["answers_left_out_as_not_in_context"] += 1
        elif context.find(text, first + 1) >= 0:
            counts["answers_left_out_as_in_several_places"] += 1
        else:
            counts["answers_moved_to_where_they_stand" if start is not None else "answers_placed_by_their_text"] += 1
            gold.append({"text": text, "start": first})
    return gold
