"""Entity metrics against seqeval, an independent reading, and WNUT-17's published systems."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval import metrics as seqeval
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB2

from heldout.errors import Refused
from heldout.eval.metrics import find
from heldout.eval.tags import TagTable, tabulate_tags
from heldout.records import Card, Example, Prediction

TYPES = ("group", "person", "place")
LABELS = ("O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI"))
CARD = Card("names", "1", "tags", LABELS, ("entity_f1",))
Tags = list[list[str]]


def table_of(gold: Tags, answers: Tags, **more: Any) -> TagTable:
    examples = [Example(str(i), {}, tags) for i, tags in enumerate(gold)]
    return tabulate_tags(CARD, examples, [Prediction(str(i), tags, **more) for i, tags in enumerate(answers)])


def value(name: str, gold: Tags, answers: Tags) -> float:
    return find(name).of(table_of(gold, answers))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Tags, Tags]:
    """Sentences of any tags, also invalid ones, on both sides; answers lean to gold so that some are right."""
    gold, answers = [], []
    for length in draw(st.lists(st.integers(0, 9), min_size=1, max_size=6)):
        tags = draw(st.lists(st.sampled_from(LABELS), min_size=length, max_size=length))
        other = draw(st.lists(st.none() | st.sampled_from(LABELS), min_size=length, max_size=length))
        gold.append(tags)
        answers.append([mine if theirs is None else theirs for mine, theirs in zip(tags, other, strict=True)])
    return gold, answers


ORACLES = {
    "entity_f1": seqeval.f1_score,
    "entity_precision": seqeval.precision_score,
    "entity_recall": seqeval.recall_score,
}


@given(pairs())
@settings(max_examples=300, deadline=None)
def test_n2_strict_figures_are_those_of_seqevals_strict_mode_and_lenient_ones_of_its_default(both: Any) -> None:
    gold, answers = both
    lenient_gold = sum(len(get_entities(tags)) for tags in gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {name: score(gold, answers, mode="strict", scheme=IOB2) for name, score in ORACLES.items()}
        macro = seqeval.f1_score(gold, answers, mode="strict", scheme=IOB2, average=None)
        lenient = seqeval.f1_score(gold, answers)
    table = table_of(gold, answers)
    present = np.unique(table.strict.gold.span[:, 2])
    for name, number in expected.items():
        found = find(name).of(table)
        assert np.isnan(found) if not len(table.strict.gold) else found == pytest.approx(number, abs=1e-12), name
    if len(present):
        # seqeval also counts types that only answers hold; all its types in order.
        types = sorted({*table.strict.gold.span[:, 2]} | {*table.strict.answer.span[:, 2]})
        shown = [number for kind, number in zip(types, macro, strict=True) if kind in present]
        assert find("entity_macro_f1").of(table) == pytest.approx(np.mean(shown), abs=1e-12)
    found = find("entity_f1_lenient").of(table)
    assert np.isnan(found) if not lenient_gold else found == pytest.approx(lenient, abs=1e-12)


def test_n2_inside_tags_alone_are_an_entity_to_a_lenient_reader_only() -> None:
    gold, answer = [["B-place", "I-place"]], [["I-place", "I-place"]]
    assert (value("entity_f1", gold, answer), value("entity_f1_lenient", gold, answer)) == (0.0, 1.0)


def test_n1_a_word_is_one_entity_however_many_pieces_a_tokenizer_makes_of_it() -> None:
    """What is scored has a tag a word, so pieces cannot be counted; more tags than words are refused."""
    assert len(table_of([["B-place"]], [["B-place"]]).strict.answer) == 1
    with pytest.raises(Refused, match="id '0': 2 tags for the 1 words of gold"):
        table_of([["B-place"]], [["B-place", "B-place"]])


def test_n4_an_entity_that_was_not_read_is_a_miss() -> None:
    gold = ["O"] * 700
    gold[600] = "B-place"
    gold[3] = "B-place"
    answer = [*gold[:128], *["O"] * 572]
    table = table_of([gold], [answer])
    assert find("entity_recall").of(table) == 0.5
    assert find("entity_recall").count(table) == 2


def test_n5_counts_are_of_the_whole_set_so_how_sentences_are_batched_is_nothing() -> None:
    gold = [["B-place"], ["B-place", "O", "B-person", "O"], ["O"], ["B-group"]]
    answers = [["B-place"], ["O", "B-place", "B-person", "O"], ["B-place"], ["O"]]
    whole = find("entity_f1").columns(table_of(gold, answers)).sum(axis=0)
    for size in (1, 2, 3):
        cuts = [slice(i, i + size) for i in range(0, 4, size)]
        parts = [find("entity_f1").columns(table_of(gold[cut], answers[cut])) for cut in cuts]
        assert np.array_equal(np.concatenate(parts).sum(axis=0), whole)
    # 2 right of 4 found and 4 in gold; the mean over sentences would be (1 + 1/2 + 0 + 0) / 4.
    assert value("entity_f1", gold, answers) == 0.5


def test_without_entities_in_gold_nothing_is_defined_and_without_any_found_precision_is_0() -> None:
    names = ("entity_f1", "entity_precision", "entity_recall", "entity_f1_lenient", "entity_macro_f1")
    assert all(np.isnan(value(name, [["O", "O"]], [["B-place", "O"]])) for name in names)
    assert all(value(name, [["O", "B-place"]], [["O", "O"]]) == 0 for name in names)


def test_every_entity_has_one_fate() -> None:
    gold = [
        ["B-person", "I-person", "O", "B-place", "O", "B-group", "I-group", "I-group", "O", "B-place"],
        ["B-person", "I-person", "I-person"],
    ]
    answers = [
        ["B-person", "I-person", "O", "B-group", "O", "B-group", "B-group", "O", "B-person", "O"],
        ["O", "I-person", "O"],
    ]
    extras = find("entity_f1").extras(table_of(gold, answers), 0)
    assert extras["matches"] == {
        "exact": 1,
        "wrong_type": 1,
        "overlapping_in_gold": 1,
        "missed": 2,
        "overlapping_found": 2,
        "spurious": 1,
    }
    assert extras["confusion"] == {
        "": {"person": 1},
        "group": {"group": 1},
        "person": {"": 1, "person": 1},
        "place": {"": 1, "group": 1},
    }


@given(pairs())
@settings(max_examples=200, deadline=None)
def test_fates_add_up_to_what_there_is_on_either_side(both: Any) -> None:
    table = table_of(*both)
    extras = find("entity_f1").extras(table, 0)
    matches, confusion = extras["matches"], extras["confusion"]
    same = matches["exact"] + matches["wrong_type"]
    assert same + matches["overlapping_in_gold"] + matches["missed"] == len(table.strict.gold)
    assert same + matches["overlapping_found"] + matches["spurious"] == len(table.strict.answer)
    assert sum(sum(row.values()) for kind, row in confusion.items() if kind) == len(table.strict.gold)
    assert sum(confusion.get("", {}).values()) == matches["spurious"]
    assert sum(row.get("", 0) for row in confusion.values()) == matches["missed"]


@given(pairs())
@settings(max_examples=200, deadline=None)
def test_an_entity_meets_the_one_that_shares_most_of_its_words(both: Any) -> None:
    table = table_of(*both)
    gold, found = table.strict
    for side, others in ((gold, found), (found, gold)):
        for owner, span, met in zip(side.owner, side.span, side.met, strict=True):
            shared = {
                tuple(other): max(0, min(span[1], other[1]) - max(span[0], other[0]))
                for other in others.span[others.owner == owner].tolist()
            }
            most = max(shared.values(), default=0)
            if not most:
                assert met.tolist() == [-1, -1, -1]
            else:
                assert tuple(met.tolist()) == min(other for other, n in shared.items() if n == most)


def test_word_accuracy_counts_words() -> None:
    assert value("word_accuracy", [["O", "O", "B-place"], ["O"]], [["O", "O", "O"], ["O"]]) == 0.75


WNUT = {
    "uh_ritual": 41.86,
    "spinningbytes.txt": 40.78,
    "sjtu_adapt.txt": 40.42,
    "arcada": 39.98,
    "flytxt": 38.35,
    "mic-cis.txt": 37.06,
    "drexel_cci": 26.30,
}


def columns(path: Path) -> list[list[list[str]]]:
    blocks = path.read_text(encoding="utf-8").replace("\r", "").split("\n\n")
    return [[line.split() for line in block.split("\n") if line.strip()] for block in blocks if block.strip()]


def test_wnut17s_published_systems_get_their_published_f1_which_is_the_lenient_one(real_data: Path) -> None:
    folder = real_data / "wnut17"
    gold = [[word[-1] for word in sentence] for sentence in columns(folder / "emerging.test.annotated")]
    kinds = sorted({tag[2:] for tags in gold for tag in tags if tag != "O"})
    card = Card("wnut", "1", "tags", ("O", *(f"{p}-{kind}" for kind in kinds for p in "BI")), ("entity_f1",))
    examples = [Example(str(i), {}, tags) for i, tags in enumerate(gold)]
    assert (len(gold), sum(map(len, gold)), len(WNUT)) == (1287, 23394, 7)
    strict = {}
    for name, published in WNUT.items():
        answers = [[word[-1] for word in sentence] for sentence in columns(folder / "submissions" / name)]
        table = tabulate_tags(card, examples, [Prediction(str(i), tags) for i, tags in enumerate(answers)])
        assert find("entity_recall").count(table) == 1079
        assert round(100 * find("entity_f1_lenient").of(table), 2) == published, name
        strict[name] = round(100 * find("entity_f1").of(table), 2)
    # Two systems begin entities with I-; seqeval's strict mode gives them these.
    assert {name for name in WNUT if strict[name] != WNUT[name]} == {"spinningbytes.txt", "mic-cis.txt"}
    assert (strict["spinningbytes.txt"], strict["mic-cis.txt"]) == (41.31, 37.30)
