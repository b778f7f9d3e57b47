from pathlib import Path

import pytest

from heldout.baselines import answer_later
from heldout.eval.report import build
from heldout.ledger import Ledger, Split, write_ledger
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json, write_lines

CARD = Card("sentiment", "1", "label", ("negative", "positive"), ("accuracy",))
NASTY = "<b>bold</b>"


def cases() -> list[Example]:
    found = []
    for k in range(40):
        about = {"pair": str(k), "phenomenon": "not" if k % 2 else f"never {NASTY}"}
        plain = {"text": f"Room {k} {NASTY} is good."}
        found.append(Example(f"{k}a", plain, "positive", {**about, "role": "original"}))
        text = {"text": f"Room {k} {NASTY} is not good."}
        found.append(Example(f"{k}b", text, "negative", {**about, "role": "changed", "expect": "mft"}))
    return found


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose model calls everything positive but ten negated texts, with two baselines made before the suite."""
    folder = tmp_path / "run"
    examples = cases()
    answers = ["negative" if e.about["role"] == "changed" and k < 20 else "positive" for k, e in enumerate(examples)]
    for home, options in (
        (folder, {"task": "sentiment", "model": "org/encoder"}),
        (folder / "baselines" / "lexicon", {"kind": "lexicon", "rule": "seeds", "seed": 1}),
        (folder / "baselines" / "tfidf", {"kind": "tfidf", "seed": 1}),
    ):
        write_json(home / "card.json", CARD.to_json())
        write_json(home / "options.json", options)
        write_ledger(home, Ledger().with_split("train", Split("t", "h", 3, {"negative": 2, "positive": 1})))
    write_lines(folder / "gold" / "suite.jsonl", (example.to_json() for example in examples))
    predictions = (Prediction(e.id, answer).to_json() for e, answer in zip(examples, answers, strict=True))
    write_lines(folder / "predictions" / "suite.jsonl", predictions)
    return folder


def test_baselines_that_need_no_text_of_train_answer_a_set_that_comes_later(run: Path) -> None:
    assert answer_later(run, "suite", cases()) == ["lexicon"]
    assert (run / "baselines" / "lexicon" / "scores" / "suite.json").exists()
    assert not (run / "baselines" / "tfidf" / "gold").exists()
    assert answer_later(run, "suite", cases()) == []


def test_the_tab_shows_phenomena_by_system_and_the_pairs_that_fell_apart_with_the_changed_words_marked(
    run: Path,
) -> None:
    answer_later(run, "suite", cases())
    page = build([run], replicates=50)
    assert "encoder: accuracy 25.0% (" in page and "on the 40 test cases of suite." in page
    assert "Lexicon gets 0.0% on the same cases." in page
    assert "never &lt;b&gt;bold&lt;/b&gt;" in page and NASTY not in page
    assert "Pairs that fell apart: 24 of 30" in page
    assert '<mark class="gold">not</mark>' in page
    assert "Changed: answered positive; gold is negative" in page


def test_without_texts_the_tab_has_its_numbers_and_no_pair(run: Path) -> None:
    page = build([run], text=False, replicates=50)
    assert "on the 40 test cases of suite" in page and "Pairs that fell apart" not in page and "Room 7" not in page
