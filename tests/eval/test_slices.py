from dataclasses import replace
from pathlib import Path

import pytest

from heldout.errors import Refused
from heldout.eval.slices import Slice, chosen, known, parts
from heldout.eval.slices import __path__ as folders
from heldout.records import Card, Example, Prediction


def card(*slices: str) -> Card:
    return Card("toy", "1", "label", ("negative", "positive"), ("accuracy",), slices)


def pair(text: str = "Fine.", about: dict[str, object] | None = None, seen: dict[str, int] | None = None):  # type: ignore[no-untyped-def]
    return Example("a", {"text": text}, "positive", about or {}), Prediction("a", "positive", seen=seen)


def test_slices_are_found_by_listing_the_folder_and_only_truncated_belongs_to_a_system() -> None:
    files = {path.stem for path in Path(folders[0]).glob("*.py")} - {"__init__"}
    assert set(known()) == files
    assert files >= {"negation", "length", "domain", "overlap", "truncated", "entity_type", "unseen"}
    of_system = [name for name, found in known().items() if isinstance(found, Slice) and found.of_system]
    assert of_system == ["truncated"]
    assert all(slice_.name == name for name, slice_ in known().items())


def test_a_card_chooses_its_slices_and_none_means_all() -> None:
    assert [s.name for s in chosen(card("length", "negation"))] == [
        *("length", "negation", "overlap", "phenomenon", "role", "truncated")
    ]
    assert {s.name for s in chosen(card())} == {name for name, found in known().items() if isinstance(found, Slice)}
    assert {s.name for s in chosen(replace(card(), kind="tags"))} == set(known())
    with pytest.raises(Refused, match="slice 'unseen' is for tags cards only"):
        chosen(card("unseen"))
    with pytest.raises(Refused, match="slice 'negations' is unknown; did you mean negation"):
        chosen(card("negations"))


def test_length_is_counted_in_words_with_each_border_in_the_lower_part() -> None:
    texts = [("word " * n, n) for n in (0, 1, 20, 21, 50, 51, 200, 201, 400, 401)]
    found = parts(known()["length"], [pair(text) for text, _ in texts])
    assert found == {
        "length=up to 20 words": [0, 1, 2],
        "length=21-50 words": [3, 4],
        "length=51-200 words": [5, 6],
        "length=201-400 words": [7, 8],
        "length=over 400 words": [9],
    }


def test_domain_comes_from_about_and_leaves_out_what_has_none() -> None:
    pairs = [pair(about={"domain": "books"}), pair(), pair(about={"domain": "art"}), pair(about={"domain": "books"})]
    assert parts(known()["domain"], pairs) == {"domain=art": [2], "domain=books": [0, 3]}
    assert parts(known()["domain"], [pair(), pair()]) == {}


def test_x1_texts_that_also_stand_in_train_are_set_apart_once_any_is_marked() -> None:
    pairs = [pair(about={"overlap": "exact"}), pair(), pair(about={"overlap": "near"})]
    assert parts(known()["overlap"], pairs) == {
        "overlap=not in train": [1],
        "overlap=in train (exact)": [0],
        "overlap=in train (near)": [2],
    }
    assert parts(known()["overlap"], [pair(), pair()]) == {}


def test_x2_truncated_reads_what_the_system_saw() -> None:
    pairs = [
        pair(seen={"tokens": 256, "lost": 3}),
        pair(seen={"tokens": 9, "lost": 0}),
        pair(seen={"tokens": 9}),
        pair(),
    ]
    assert parts(known()["truncated"], pairs) == {"truncated=no": [1, 2], "truncated=yes": [0]}
