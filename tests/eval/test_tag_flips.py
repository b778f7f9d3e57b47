"""When two sentences count as tagged alike: the same words by name, or, of as many words, the same places."""

import pytest

from heldout.eval.metrics import find
from heldout.eval.tabulate import tabulate
from heldout.records import Card, Example, Prediction

CARD = Card("ner", "1", "tags", ("O", "B-PER", "I-PER"), ("entity_f1",))
BEFORE = (["Ada", "met", "nobody"], ["B-PER", "O", "O"])


@pytest.mark.parametrize(
    ("words", "tags", "flips"),
    [
        (["ada", "met", "nobody"], ["B-PER", "O", "O"], 0.0),
        (["Bea", "met", "nobody"], ["B-PER", "O", "O"], 0.0),
        (["Still", "Ada", "met", "nobody"], ["O", "B-PER", "O", "O"], 0.0),
        (["Nobody", "met", "Ada"], ["O", "O", "B-PER"], 0.0),
        (["ada", "met", "nobody"], ["O", "O", "O"], 1.0),
        (["Ada", "met", "nobody"], ["B-PER", "I-PER", "O"], 1.0),
        (["Still", "ada", "met", "nobody"], ["O", "B-PER", "O", "O"], 1.0),
    ],
)
def test_a_flip_is_another_entity(words: list[str], tags: list[str], flips: float) -> None:
    about = {"pair": "1", "role": "changed", "expect": "inv"}
    gold = [
        Example("a", {"words": BEFORE[0]}, BEFORE[1], {"pair": "1", "role": "original"}),
        Example("b", {"words": words}, ["O"] * len(words), about),
    ]
    table = tabulate(CARD, gold, [Prediction("a", BEFORE[1]), Prediction("b", tags)])
    assert find("flip_rate").of(table) == flips
