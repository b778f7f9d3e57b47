"""What tags must look like in cards, gold and predictions: refused with file, row and word, or read as they were."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.records import Card, Example, Prediction, join, read_card, read_gold, read_predictions
from heldout.runs import write_lines

LABELS = ("O", "B-person", "I-person", "B-creative-work")
CARD = Card("names", "1", "tags", LABELS, ("entity_f1",))
WORDS = ["Ada", "Moss", "left", "."]
GOLD = {"id": "s1", "text": {"words": WORDS}, "gold": ["B-person", "I-person", "O", "O"], "about": {"unseen": [0]}}
SCORES = [[0.1, 0.9, 0.0, 0.0], [0.2, 0.0, 0.8, 0.0], [1.0, 0.0, 0.0, 0.0], [0.99995, 0.0, 0.0, 0.0]]
ENTITY = {"start": 0, "end": 2, "type": "person", "p": 0.85}
SAID = {"id": "s1", "answer": ["B-person", "I-person", "O", "O"], "scores": SCORES, "entities": [ENTITY]}


def lines(folder: Path, *rows: Any) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def refused(read: Any, *arguments: Any) -> str:
    with pytest.raises(Refused) as error:
        read(*arguments)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_card_of_tags_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_card(lines(tmp_path, CARD.to_json())) == CARD


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["B-x", "I-x"], "got ['B-x', 'I-x']"),
        (["O"], "got ['O']"),
        (["O", "B-x", "B-x"], "got ['O', 'B-x', 'B-x']"),
        (["O", "B-x", "I-y"], "'I-y' is none of these"),
        (["O", "B-"], "'B-' is none of these"),
        (["O", "person"], "'person' is none of these"),
        (["O", "B-x", "E-x"], "'E-x' is none of these"),
    ],
)
def test_a_card_whose_labels_are_no_tags_is_refused(tmp_path: Path, labels: list[str], says: str) -> None:
    path = lines(tmp_path, CARD.to_json() | {"labels": labels})
    message = refused(read_card, path)
    assert message.startswith(f"{path}: labels of a card of kind tags are O and") and says in message


def test_gold_of_tags_comes_back_as_it_was_with_or_without_its_words(tmp_path: Path) -> None:
    path = lines(tmp_path, GOLD, {"id": "s2", "gold": ["O"]}, {"id": "s3", "gold": []})
    assert read_gold(path, CARD) == [
        Example("s1", {"words": WORDS}, GOLD["gold"], {"unseen": [0]}),
        Example("s2", {}, ["O"]),
        Example("s3", {}, []),
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gold": "O"}, "gold must be a list of tags"),
        ({"gold": None}, "gold must be a list of tags"),
        ({"gold": ["B-person", "I-person", "O", 0]}, "the gold of word 4, 0, is not among the card's labels"),
        ({"gold": ["B-place", "O", "O", "O"]}, "the gold of word 1, 'B-place', is not among"),
        ({"gold": ["O", "I-person", "O", "O"]}, "the gold of word 2, 'I-person', continues nothing"),
        ({"gold": ["I-person", "O", "O", "O"]}, "the gold of word 1, 'I-person', continues nothing"),
        ({"gold": ["O"]}, '"words" must be a list of 1 strings'),
        ({"text": {"words": "Ada Moss left ."}}, '"words" must be a list of 4 strings'),
        ({"text": {"words": [*WORDS[:3], 4]}}, '"words" must be a list of 4 strings'),
        ({"text": "Ada"}, '"text" must be an object'),
        ({"about": {"unseen": 0}}, '"unseen" must list the first words'),
        ({"about": {"unseen": [True]}}, '"unseen" must list the first words'),
    ],
)
def test_wrong_gold_of_tags_is_refused_with_its_row(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    path = lines(tmp_path, GOLD, GOLD | {"id": "s2"} | change)
    message = refused(read_gold, path, CARD)
    assert message.startswith(f"{path}, line 2: ") and says in message


def test_predictions_of_tags_come_back_as_they_were_even_those_that_spell_no_entity(tmp_path: Path) -> None:
    path = lines(tmp_path, SAID, {"id": "s2", "answer": ["I-person"]}, {"id": "s3", "answer": []})
    assert read_predictions(path, CARD) == [
        Prediction("s1", SAID["answer"], SCORES, [ENTITY]),
        Prediction("s2", ["I-person"]),
        Prediction("s3", []),
    ]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answer": "O"}, "answer must be a list of tags"),
        ({"answer": ["O", "O", "O", "B-place"]}, "the answer of word 4, 'B-place', is not among"),
        ({"answer": ["O", "O", "O", ["O"]]}, "the answer of word 4, ['O'], is not among"),
        ({"scores": SCORES[:3]}, "scores must be a list of 4 lists"),
        ({"scores": 1}, "scores must be a list of 4 lists"),
        ({"scores": [*SCORES[:3], [1.0]]}, "word 4: scores must be 4 numbers"),
        ({"scores": [*SCORES[:3], 1.0]}, "word 4: scores must be 4 numbers"),
        ({"scores": [[0.1, 0.1, 0.1, 0.1], *SCORES[1:]]}, "word 1: scores sum to 0.4"),
        ({"scores": [[1.1, -0.1, 0, 0], *SCORES[1:]]}, "word 1: scores must be probabilities"),
        ({"entities": {}}, "entities must be a list"),
        ({"entities": [[0, 2, "person", 0.8]]}, "an entity must be an object of start, end, type and p"),
        ({"entities": [{"start": 0, "end": 2, "type": "person"}]}, "an entity must be an object"),
        ({"entities": [ENTITY | {"end": 0}]}, "starts before it ends, among 4 words from 0, got 0, 0"),
        ({"entities": [ENTITY | {"end": 5}]}, "starts before it ends, among 4 words from 0, got 0, 5"),
        ({"entities": [ENTITY | {"start": False}]}, "starts before it ends"),
        ({"entities": [ENTITY | {"type": "place"}]}, "the type 'place' of an entity is none of creative-work, person"),
        ({"entities": [ENTITY | {"type": ["person"]}]}, "of an entity is none of"),
        ({"entities": [ENTITY | {"p": float("nan")}]}, "p of an entity must be a probability"),
    ],
)
def test_wrong_predictions_of_tags_are_refused_with_their_row(
    tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    path = lines(tmp_path, SAID | {"id": "s0"}, SAID | change)
    message = refused(read_predictions, path, CARD)
    assert message.startswith(f"{path}, line 2") and says in message


def test_an_answer_of_another_length_than_gold_is_an_error_that_names_it() -> None:
    gold = [Example("s1", {}, ["B-person", "O"]), Example("s2", {}, ["O"])]
    message = refused(join, gold, [Prediction("s1", ["B-person"]), Prediction("s2", ["O"])])
    assert message.startswith("id 's1': 1 tags for the 2 words of gold")


words = st.text(st.characters(codec="utf-8"), max_size=8)
sentences = st.lists(st.tuples(words, st.sampled_from(["O", "B-person", "B-creative-work"])), max_size=8)


@given(rows=st.lists(sentences, min_size=1, max_size=5))
def test_any_sentence_survives_writing_and_reading(tmp_path_factory: pytest.TempPathFactory, rows: list[Any]) -> None:
    examples = [Example(str(i), {"words": [w for w, _ in row]}, [t for _, t in row]) for i, row in enumerate(rows)]
    said = [Prediction(example.id, example.gold, [[1.0, 0.0, 0.0, 0.0]] * len(example.gold)) for example in examples]
    folder = tmp_path_factory.mktemp("rows")
    write_lines(folder / "gold.jsonl", (example.to_json() for example in examples))
    write_lines(folder / "said.jsonl", (prediction.to_json() for prediction in said))
    assert read_gold(folder / "gold.jsonl", CARD) == examples
    assert read_predictions(folder / "said.jsonl", CARD) == said


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=3), st.lists, max_leaves=12))
def test_no_answer_whatever_it_is_ends_in_anything_but_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    for key in ("answer", "scores", "entities"):
        path = lines(folder, SAID | {key: value})
        try:
            assert read_predictions(path, CARD) == [Prediction(**(SAID | {key: value}))]
        except Refused as error:
            assert str(error).startswith(f"{path}, line 1")
