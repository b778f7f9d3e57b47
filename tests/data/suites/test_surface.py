"""Surface changes: pure functions of text that touch nothing but what they say, with gold carried along."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from heldout.cli import main
from heldout.data.fitted import same_place
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.data.suites.changes import CHANGES, CUES, FOR_WORDS, LONG, MEN, SHORT, WOMEN
from heldout.data.suites.edits import Edit, edited, moved
from heldout.data.suites.surface import changed, parse_surface
from heldout.errors import Refused
from heldout.records import Example

_WORDS = """
Margaret Peter walked never towards isn't it cannot 1994 2 300 $500 1,000 good. Well, nobody's LONG straße İzmir
wonderful painting do not they're x’s don't you “quoted” é
"""
WORDS = st.sampled_from([*_WORDS.split(), "\n"])
TEXTS = st.lists(WORDS, min_size=1, max_size=14).map(" ".join)
KINDS = st.sampled_from(list(CHANGES))


@st.composite
def questions(draw: Any) -> Example:
    """A passage with one to three answers anywhere in it."""
    context = draw(TEXTS)
    starts = draw(st.lists(st.integers(0, len(context) - 1), min_size=1, max_size=3))
    gold = []
    for start in starts:
        end = draw(st.integers(start + 1, len(context)))
        gold.append({"text": context[start:end], "start": start})
    return Example("q", {"question": draw(TEXTS), "context": context}, gold, {"group": "g"})


@given(questions(), KINDS)
def test_every_answer_is_found_where_it_is_said_to_stand(example: Example, kind: str) -> None:
    copy = changed(example, kind)
    assume(copy is not None)
    assert copy is not None
    assert len(copy.gold) == len(example.gold)
    for before, after in zip(example.gold, copy.gold, strict=True):
        found = copy.text["context"][after["start"] : after["start"] + len(after["text"])]
        assert found == after["text"]
        assert found.lower() == before["text"].lower() if kind in ("lower", "upper") else found == before["text"]


TAGGED = st.lists(st.tuples(st.sampled_from(_WORDS.split()), st.sampled_from(["O", "B-PER"])), min_size=1)


@given(TAGGED, KINDS)
def test_tags_stay_with_as_many_words_and_entities_keep_theirs(rows: list[tuple[str, str]], kind: str) -> None:
    example = Example("s", {"words": [word for word, _ in rows]}, [tag for _, tag in rows])
    copy = changed(example, kind)
    if copy is None or kind not in FOR_WORDS:
        assert copy is None
        return
    assert copy.gold == example.gold and len(copy.text["words"]) == len(rows)
    for (word, tag), new in zip(rows, copy.text["words"], strict=True):
        if tag != "O" and kind in ("typos", "numbers"):
            assert new == word


@given(TEXTS, TEXTS, KINDS, st.integers(0, 3))
def test_a_change_is_a_function_of_kind_seed_and_text(premise: str, hypothesis: str, kind: str, seed: int) -> None:
    text = {"premise": premise, "hypothesis": hypothesis}
    one = changed(Example("a", text, "neutral", {"group": "x"}), kind, seed)
    other = changed(Example("b", dict(text), "entailment"), kind, seed)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.text == other.text and one.text != text
        assert (one.gold, other.gold) == ("neutral", "entailment")
        assert one.about == {"group": "x", "pair": "a", "role": "changed", "expect": "inv", "phenomenon": kind}


@given(TEXTS, st.lists(st.tuples(st.integers(0, 60), st.integers(0, 4), st.text("xy", max_size=3)), max_size=5))
def test_places_behind_edits_are_found_again(text: str, drawn: list[tuple[int, int, str]]) -> None:
    edits: list[Edit] = []
    for start, length, new in sorted(drawn):
        if start + length <= len(text) and (not edits or start > edits[-1].end):
            edits.append(Edit(start, start + length, new))
    after = edited(text, edits)
    untouched = [i for i in range(len(text)) if not any(e.start <= i < e.end for e in edits)]
    assert all(after[moved(i, edits)] == text[i] for i in untouched)


def text_after(text: str, kind: str, **more: str) -> dict[str, str] | None:
    copy = changed(Example("a", {"text": text, **more}, "positive"), kind)
    return None if copy is None else dict(copy.text)


def test_each_kind_does_what_it_says() -> None:
    assert text_after("We don't know.", "contractions") == {"text": "We do not know."}
    assert text_after("We do not know; Cannot say.", "contractions") == {"text": "We don't know; Can't say."}
    assert text_after("Don't you know? Isn't it so?", "contractions") is None
    assert text_after("It's hers, he'd say.", "contractions") is None, "'s and 'd have two readings"
    assert text_after("They’re here, I’ve seen.", "contractions") == {"text": "They are here, I have seen."}
    assert text_after("Fine!!", "punctuation") == {"text": "Fine"}
    assert text_after("Fine", "punctuation") == {"text": "Fine."}
    assert text_after("Fine)", "punctuation") is None
    assert text_after("ÉTÉ, straße", "lower") == {"text": "été, straße"}
    assert text_after("été, straße", "upper") == {"text": "ÉTÉ, STRAßE"}
    assert text_after("2 stars, 10 out of 10, 7/100, $500, 1,000, 3.141, 50%", "numbers") is None
    assert text_after("nothing to see", "names") is None


def test_numbers_keep_their_order_and_distance_in_all_fields() -> None:
    found = text_after("Built in 1890, sold in 1912, 2 doors.", "numbers", hypothesis="It was sold in 1912.")
    assert found is not None
    first, second = map(int, re.findall(r"\d{4}", found["text"]))
    assert (
        first != 1890 and second - first == 22 and f"in {second}." in found["hypothesis"] and "2 doors" in found["text"]
    )
    assert text_after("From 998 to 1200.", "numbers") is None or "9" in str(text_after("From 998 to 1200.", "numbers"))
    assert text_after("Only 999 to 1200.", "numbers") is None, "one digit more would be another kind of number"


def test_names_are_swapped_alike_for_others_of_the_list_that_are_not_there() -> None:
    found = text_after("Margaret met Peter; Peter left.", "names", hypothesis="Margaret's Peter stayed.")
    assert found is not None
    she, he = found["hypothesis"].removesuffix(" stayed.").split("'s ")
    assert she in set(WOMEN) - {"Margaret"} and he in set(MEN) - {"Peter"}
    assert found["text"] == f"{she} met {he}; {he} left."
    everyone = " ".join([*WOMEN, *MEN])
    assert text_after(everyone, "names") is None, "there is nobody left to swap with"


def test_typos_leave_cues_short_words_names_and_borders_alone() -> None:
    text = "Nobody never hardly liked Margaret without a wonderful LAUGHTER " * 20
    found = text_after(text, "typos")
    assert found is not None
    before, after = text.split(), found["text"].split()
    touched = [(a, b) for a, b in zip(before, after, strict=True) if a != b]
    assert len(touched) == round(0.05 * len(before))
    assert {a for a, _ in touched} <= {"liked", "wonderful"}
    assert all(a[0] == b[0] and a[-1] == b[-1] and abs(len(a) - len(b)) <= 1 for a, b in touched)
    assert {"never", "hardly", "without"} <= CUES
    assert SHORT.keys() - {"can not"} == {LONG[short] for short in SHORT.values()}


def csv(folder: Path) -> Path:
    rows = [
        "id,text,label",
        "r1,A wonderful film that works.,positive",
        "r2,I don't like this clumsy thing,negative",
        "r3,123,negative",
    ]
    (folder / "films.csv").write_text("\n".join(rows) + "\n")
    return folder / "films.csv"


def test_a_source_is_read_with_its_changed_copies_and_what_was_left_out(tmp_path: Path) -> None:
    path = csv(tmp_path)
    loaded = load("sentiment", f"surface:typos+contractions:{path}", SourceOptions())
    ids = [example.id for example in loaded.examples]
    assert ids == ["r1", "r1~typos", "r2", "r2~typos", "r2~contractions"]
    assert loaded.dropped == {"nothing_to_change": 1}
    assert loaded.notes["typos_changed"] == 2 and loaded.notes["contractions_nothing_to_change"] == 2
    assert loaded.examples[0].about == {"pair": "r1", "role": "original"}
    assert loaded.source == f"surface:typos+contractions:{path}"
    assert loaded.examples == load("sentiment", loaded.source, SourceOptions()).examples
    assert loaded.examples != load("sentiment", f"surface:typos+contractions@1:{path}", SourceOptions()).examples
    few = load("sentiment", f"surface:all:{path}", SourceOptions(), limit=1)
    assert len({example.about["pair"] for example in few.examples}) == 1, (
        "the limit is of texts, their copies come along"
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("surface:typo:x.csv", "no surface change 'typo'; did you mean typos?; there are typos, lower"),
        ("surface:typos", "write surface:KINDS:SOURCE"),
        ("surface::x.csv", "no surface change ''"),
    ],
)
def test_a_source_that_asks_for_nothing_known_is_refused(source: str, message: str) -> None:
    with pytest.raises(Refused, match=re.escape(message)):
        parse_surface(source)


def test_changed_data_are_not_learnt_from_and_are_known_as_those_behind_them(tmp_path: Path) -> None:
    path = csv(tmp_path)
    with pytest.raises(Refused, match="nothing to change in any of its 3 examples"):
        load("sentiment", f"surface:names:{path}", SourceOptions())
    with pytest.raises(Refused, match="not changed already"):
        load("sentiment", f"surface:typos:surface:lower:{path}", SourceOptions())
    out = ["--out", str(tmp_path / "run")]
    train = ["--train", f"surface:typos:{path}", "--test", f"a={path}"]
    assert main(["baseline", "majority", "sentiment", *train, *out]) == 2
    assert same_place(f"surface:typos@3:{path}", str(path)) and not same_place(f"surface:typos:{path}", "other.csv")


def test_the_flip_rate_of_each_kind_is_scored_from_files(tmp_path: Path) -> None:
    """The lexicon reads words: letters that are all capitals are the same to it, a typo in its word is not."""
    path = csv(tmp_path)
    train = tmp_path / "train.csv"
    words = [("good", "positive"), ("bad", "negative")] * 8
    lines = [f"{word} film number {n},{label}" for n, (word, label) in enumerate(words)]
    train.write_text("\n".join(["text,label", *lines]) + "\n")
    out = tmp_path / "run"
    sources = ["--train", str(train), "--test", f"films=surface:all:{path}"]
    assert main(["baseline", "lexicon", "sentiment", *sources, "--out", str(out)]) == 0
    scores = json.loads((out / "scores" / "films.json").read_text())
    kinds = {key.removeprefix("phenomenon="): part for key, part in scores["slices"].items() if "phenomenon" in key}
    assert {"typos", "upper", "punctuation", "contractions", "spaces"} <= kinds.keys()
    upper = kinds["upper"]["metrics"]["flip_rate"]
    assert (upper["value"], upper["n"]) == (0.0, 2)
    assert scores["metrics"]["flip_rate"]["n"] == sum(part["metrics"]["flip_rate"]["n"] for part in kinds.values())
