"""Pairs of a test suite that fell apart, side by side, with the words marked that the one has and the other has not."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from heldout.bio import strict
from heldout.cases import ORIGINAL
from heldout.eval.expected import Expected
from heldout.eval.report.inputs import DataSet, Inputs
from heldout.eval.report.pieces import Beside, Field, Group, Member, Part
from heldout.eval.report.wording import count, visible
from heldout.records import Example, Prediction

#: Pairs that are shown: of each phenomenon the first, then the second, up to so many.
PAIRS = 24
#: Words of a text that are compared, and that stand around a changed one in a long text.
WORDS, AROUND, LONG = 600, 12, 80


def changed_pairs(inputs: Inputs, data: DataSet) -> list[Group]:
    """The pairs of which the main system answers the original right and the changed text not, or that flipped."""
    found = getattr(inputs.table(inputs.main, data), "expected", None)
    if not isinstance(found, Expected):
        return []
    right = inputs.table(inputs.main, data).correct
    broken = np.flatnonzero((found.twin * found.twin_right * (1 - right) > 0) | (found.inv * (1 - found.same) > 0))
    rows = _in_turn(data.examples, broken.tolist())[:PAIRS]
    if not rows:
        return []
    said, originals = inputs.main.predictions[data.name], _originals(data.examples)
    pairs = [_beside(data.examples, said, originals[str(data.examples[row].about["pair"])], row) for row in rows]
    name = f"Pairs that fell apart: {count(len(rows))} of {count(len(broken))}"
    return [Group(name, tuple(pairs), folded=True)]


def _originals(examples: Sequence[Example]) -> dict[str, int]:
    """The row that a pair's changed texts are shown beside: its original, else its first."""
    found: dict[str, int] = {}
    for row, example in enumerate(examples):
        pair = str(example.about.get("pair"))
        if pair not in found or example.about.get("role") == ORIGINAL:
            found[pair] = row
    return found


def _in_turn(examples: Sequence[Example], rows: Sequence[int]) -> list[int]:
    """The rows so that the first of every phenomenon stand before the second of any."""
    seen: dict[Any, int] = {}
    order = []
    for row in rows:
        phenomenon = examples[row].about.get("phenomenon")
        seen[phenomenon] = seen.get(phenomenon, 0) + 1
        order.append((seen[phenomenon], row))
    return [row for _, row in sorted(order)]


def _beside(examples: Sequence[Example], said: Sequence[Prediction], original: int, changed: int) -> Beside:
    one, other = examples[original], examples[changed]
    fields = [(name, *_marked(_words(one.text.get(name, "")), _words(value))) for name, value in other.text.items()]
    members = (
        Member(_heading("Original", one, said[original]), tuple(Field(name, (Part(a),)) for name, a, _ in fields)),
        Member(_heading("Changed", other, said[changed]), tuple(Field(name, (Part(b),)) for name, _, b in fields)),
    )
    return Beside(str(other.about.get("phenomenon", "")), members)


def _heading(role: str, example: Example, prediction: Prediction) -> str:
    answer = _answer(example, prediction.answer)
    gold = "" if example.gold is None else f"; gold is {_gold(example) or 'nothing'}"
    return f"{role}: answered {answer or 'nothing'}{gold}"


def _gold(example: Example) -> str:
    if isinstance(example.gold, list) and example.gold and isinstance(example.gold[0], dict):
        return str(example.gold[0]["text"])
    return _answer(example, example.gold)


def _answer(example: Example, answer: Any) -> str:
    if not isinstance(answer, list):
        return str(answer)
    words = example.text.get("words", [])
    return ", ".join(f"{' '.join(map(str, words[start:end]))} ({kind})" for start, end, kind in strict(answer))


def _words(value: Any) -> list[str]:
    return [str(word) for word in value] if isinstance(value, list | tuple) else str(value).split()


def _marked(one: Sequence[str], other: Sequence[str]) -> tuple[Markup, Markup]:
    """Both texts with the words marked that differ; of long texts what stands around those."""
    first, second = one[:WORDS], other[:WORDS]
    codes = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    spans = [(a, b, c, d) for kind, a, b, c, d in codes if kind != "equal"]
    left = _drawn(first, [(a, b) for a, b, _, _ in spans], cut=len(one) > WORDS)
    return left, _drawn(second, [(c, d) for _, _, c, d in spans], cut=len(other) > WORDS)


def _drawn(words: Sequence[str], spans: Sequence[tuple[int, int]], *, cut: bool) -> Markup:
    near = set(range(len(words)))
    if len(words) > LONG:
        around = [range(start - AROUND, end + AROUND) for start, end in spans] or [range(LONG)]
        near &= {place for part in around for place in part}
    pieces = list(_pieces(words, spans, near))
    return Markup(" ").join([*pieces, *(["…"] if cut else [])])


def _pieces(words: Sequence[str], spans: Sequence[tuple[int, int]], near: set[int]) -> Iterator[Markup | str]:
    """The words, runs of marked ones in one mark, what is left out between as an ellipsis."""
    begins = {start: end for start, end in spans if end > start}
    place = 0
    while place < len(words):
        end = begins.get(place, place + 1)
        if place not in near:
            if place == 0 or place - 1 in near:
                yield "…"
        elif place in begins:
            yield Markup('<mark class="gold">{}</mark>').format(visible(" ".join(words[place:end])))
        else:
            yield escape(visible(words[place]))
        place = end
