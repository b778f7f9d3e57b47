"""``heldout compare`` on small run folders: what it computes, what it refuses, what it writes and says."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from heldout.cli import main
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json, write_lines

CARD = Card("toy", "1", "label", ("bad", "good"), ("accuracy", "nll"), ("length",))
N = 120
GOLD = [
    Example(f"e{k}", {"text": " ".join(["plain"] * (30 if k % 3 else 5)) + f" film {k}"}, CARD.labels[k % 2])
    for k in range(N)
]


def answers(right: Sequence[bool], gold: Sequence[Example] = GOLD) -> list[Prediction]:
    rows = []
    for example, hit in zip(gold, right, strict=True):
        place = CARD.labels.index(example.gold) ^ (not hit)
        rows.append(Prediction(example.id, CARD.labels[place], [0.7, 0.3] if place == 0 else [0.3, 0.7]))
    return rows


Run = Callable[..., Path]


@pytest.fixture
def run_folder(tmp_path: Path) -> Run:
    def make(
        name: str,
        predictions: Sequence[Prediction],
        gold: Sequence[Example] = GOLD,
        card: Card = CARD,
        data: str = "films",
    ) -> Path:
        folder = tmp_path / name
        write_json(folder / "card.json", card.to_json())
        write_lines(folder / "gold" / f"{data}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{data}.jsonl", (said.to_json() for said in predictions))
        return folder

    return make


def call(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    assert main(["compare", *map(str, words), "--json", "--replicates", "500"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


A = [k % 4 != 0 for k in range(N)]  # 90 right
B = [k % 4 != 0 if k < 80 else k % 10 != 0 for k in range(N)]  # 60 of 80 and 36 of 40


def test_values_difference_and_tests_are_those_of_a_hand_count(
    run_folder: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = call(capsys, run_folder("one", answers(A)), run_folder("two", answers(B)))
    pair = found["tests"]["films"]["pairs"]["two"]
    entry = pair["metrics"]["accuracy"]
    assert (entry["reference"], entry["other"]) == (90 / N, 96 / N)
    assert entry["value"] == pytest.approx(6 / N)
    # From 80 on the one is wrong on 80, 84, …, 116 and the other on 80, 90, 100, 110: they share 80 and 100.
    assert pair["mcnemar"]["only_reference"] == 2 and pair["mcnemar"]["only_other"] == 8
    assert pair["mcnemar"]["p"] == pytest.approx(scipy.stats.binomtest(2, 10).pvalue)
    # For shares all swaps of the ten that differ are what McNemar's test counts.
    assert entry["p"] == pytest.approx(pair["mcnemar"]["p"], abs=0.05)
    assert entry["low"] < entry["value"] < entry["high"]
    assert entry["test"] == "randomisation"
    assert pair["churn"]["right_to_wrong"]["n"] == 2 and pair["churn"]["wrong_to_right"]["n"] == 8
    assert {row["id"] for row in pair["churn"]["right_to_wrong"]["examples"]} == {"e90", "e110"}
    assert pair["churn"]["both_right"] + pair["churn"]["both_wrong"] == N - 10


def test_each_slice_is_compared_and_its_p_adjusted_over_all_slices(
    run_folder: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = call(capsys, run_folder("one", answers(A)), run_folder("two", answers(B)))
    slices = found["tests"]["films"]["pairs"]["two"]["slices"]
    assert set(slices) == {"length=up to 20 words", "length=21-50 words"}
    assert sum(part["n"] for part in slices.values()) == N
    for metric in ("accuracy", "nll"):
        ps = sorted((part["metrics"][metric]["p"], part["metrics"][metric]["p_holm"]) for part in slices.values())
        assert ps[0][1] == pytest.approx(min(1, 2 * ps[0][0])) and ps[1][1] == max(ps[0][1], ps[1][0])


def test_a_system_against_itself_differs_by_nothing_with_p_1(
    run_folder: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = call(capsys, run_folder("one", answers(A)), run_folder("same", answers(A)))
    pair = found["tests"]["films"]["pairs"]["same"]
    assert pair["mcnemar"] == {"only_reference": 0, "only_other": 0, "p": 1.0}
    seen = [entry for part in (pair, *pair["slices"].values()) for entry in part["metrics"].values()]
    assert len(seen) == 6
    assert all((entry["value"], entry["low"], entry["high"], entry["p"]) == (0, 0, 0, 1) for entry in seen)
    assert all(entry["could_show"]["value"] is None for entry in seen)


def test_who_stands_first_is_the_reference(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = run_folder("one", answers(A)), run_folder("two", answers(B))
    forth, back = call(capsys, one, two), call(capsys, two, one)
    gap = forth["tests"]["films"]["pairs"]["two"]["metrics"]["nll"]["value"]
    assert gap < 0 and back["tests"]["films"]["pairs"]["one"]["metrics"]["nll"]["value"] == -gap


def test_several_systems_are_each_set_against_the_first(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [run_folder(name, answers(right)) for name, right in (("one", A), ("two", B), ("three", [True] * N))]
    found = call(capsys, *folders)
    assert list(found["tests"]["films"]["pairs"]) == ["two", "three"]
    assert found["tests"]["films"]["pairs"]["three"]["metrics"]["accuracy"]["value"] == pytest.approx(30 / N)


def test_labels_in_another_order_are_matched_by_name(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    turned = replace(CARD, labels=("good", "bad"))
    said = [replace(p, scores=p.scores[::-1]) for p in answers(A)]
    found = call(capsys, run_folder("one", answers(A)), run_folder("two", said, card=turned))
    assert found["tests"]["films"]["pairs"]["two"]["metrics"]["nll"]["value"] == 0


def other_gold() -> list[Example]:
    return [replace(example, gold=CARD.labels[0]) if k == 0 else example for k, example in enumerate(GOLD)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"card": replace(CARD, version="2")}, ["card version is 2", "is 1"]),
        ({"card": replace(CARD, name="other")}, ["card is other", "is toy"]),
        ({"card": replace(CARD, labels=("bad", "good", "mixed"))}, ["set of labels", "'mixed'"]),
        ({"gold": [replace(GOLD[0], text={"text": "Another."}), *GOLD[1:]]}, ["content hash", "(120 examples)"]),
        ({"gold": other_gold()[1:], "data": "films"}, ["content hash", "(119 examples)"]),
        ({"data": "books"}, ["one answers no data set that another system answers"]),
    ],
)
def test_what_is_not_alike_is_refused_with_both_values(
    run_folder: Run, capsys: pytest.CaptureFixture[str], change: dict[str, Any], says: list[str]
) -> None:
    gold = change.get("gold", GOLD)
    card = change.get("card", CARD)
    said = answers([True] * len(gold), gold)
    if len(card.labels) == 3:
        said = [replace(p, scores=[*p.scores, 0.0]) for p in said]
    one = run_folder("one", answers(A))
    two = run_folder("two", said, gold=gold, card=card, data=change.get("data", "films"))
    assert main(["compare", str(one), str(two)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    for words in says:
        assert words in error


def span(version: str, name: str = "qa") -> Card:
    return Card(name, version, "span", (), ("f1", "em"))


def test_the_two_normalisers_of_squad_are_not_compared(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    gold = [Example(f"q{k}", {"question": "Who?", "context": "Ada"}, [{"text": "Ada", "start": 0}]) for k in range(4)]
    said = [Prediction(example.id, "Ada") for example in gold]
    one, two = (run_folder(f"v{version[0]}", said, gold, span(version)) for version in ("1.1", "2.0"))
    assert main(["compare", str(one), str(two)]) == 2
    assert "way to normalise answers is SQuAD 2.0, and that of" in capsys.readouterr().err


def test_files_of_any_system_are_compared_and_beside_a_run_too(
    run_folder: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = run_folder("one", answers(A)), run_folder("two", answers(B))
    files = [f"--predictions={name}={folder}/predictions/films.jsonl" for name, folder in (("mine", one), ("its", two))]
    by_files = call(capsys, "--card", one / "card.json", "--gold", one / "gold" / "films.jsonl", *files)
    by_folder = call(capsys, f"mine={one}", files[1])
    by_runs = call(capsys, f"mine={one}", f"its={two}")
    assert by_files["tests"] == by_folder["tests"] == by_runs["tests"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "compare needs two run folders or more"),
        (["ONE"], "compare needs two systems or more"),
        (["ONE", "nowhere"], "nowhere: holds no card.json"),
        (["ONE", "ONE"], "one: is given twice"),
        (["ONE", "TWO", "--metric", "acuracy"], "did you mean accuracy?"),
        (["ONE", "TWO", "--metric", "entity_f1"], "does not suit card 'toy'"),
        (["ONE", "TWO", "--data", "books"], "has no data set 'books'; it has films"),
        (["ONE", "TWO", "--gold", "x"], "--gold goes with files alone"),
        (["--gold", "x", "--predictions", "a=b"], "--card is missing"),
        (["ONE", "TWO", "--replicates", "5"], "use at least 20"),
    ],
)
def test_a_wrong_call_is_one_line_that_says_what_to_do(
    run_folder: Run, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    folders = {"ONE": run_folder("one", answers(A)), "TWO": run_folder("two", answers(B))}
    assert main(["compare", *(str(folders.get(word, word)) for word in words)]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert says in error


def test_a_metric_that_one_side_has_no_scores_for_is_named_and_left_out(
    run_folder: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = [replace(p, scores=None) for p in answers(B)]
    found = call(capsys, run_folder("one", answers(A)), run_folder("two", bare))
    test = found["tests"]["films"]
    assert list(test["pairs"]["two"]["metrics"]) == ["accuracy"]
    assert test["notes"] == ["Not compared in nll: two does not give all the scores they need."]


def test_the_text_says_in_words_what_was_shown(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [run_folder("one", answers(A)), run_folder("all", answers([True] * N)), run_folder("same", answers(A))]
    assert main(["compare", *map(str, folders), "--replicates", "500"]) == 0
    out = capsys.readouterr().out
    assert "On films (120 texts) accuracy is all 100.0%, one 75.0%: +25.0 points" in " ".join(out.split())
    assert "all is better." in out and "They do not differ." in out
    assert "0 texts that one has right all has wrong, 30 the other way" in out
    assert max(map(len, out.splitlines())) < 140


def test_no_text_leaves_the_texts_out_of_all_three_forms(
    run_folder: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["compare", str(run_folder("one", answers(A))), str(run_folder("two", answers(B))), "--replicates", "50"]
    page = tmp_path / "page.html"
    for more in ([], ["--json"]):
        assert main([*words, *more, "--out", str(page)]) == 0
        assert "plain plain" in capsys.readouterr().out and "plain plain" in page.read_text()
        assert main([*words, *more, "--no-text", "--out", str(page)]) == 0
        out = capsys.readouterr().out
        assert "plain" not in out and "plain plain" not in page.read_text()
        assert "e90" in out and "e90" in page.read_text()


def test_texts_from_outside_are_escaped_on_the_page(run_folder: Run, tmp_path: Path) -> None:
    nasty = '</script><script>alert(1)</script><img src=x onerror="alert(2)">\u202e'
    gold = [replace(example, text={"text": nasty}) for example in GOLD]
    one, two = (run_folder(name, answers(right, gold), gold) for name, right in (("one", A), ("two", B)))
    page = tmp_path / "page.html"
    assert main(["compare", f"<b>one</b>={one}", str(two), "--replicates", "50", "--out", str(page)]) == 0
    html = page.read_text()
    assert html.count("<script") == 1 and "<img" not in html and "<b>one" not in html and "\u202e" not in html
    assert "&lt;script&gt;alert(1)" in html and "[U+202E]" in html


def test_the_page_is_small_and_draws_every_slice(run_folder: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    one, two = run_folder("one", answers(A)), run_folder("two", answers(B))
    assert main(["compare", str(one), str(two), "--replicates", "50", "--out", str(page)]) == 0
    html = page.read_text()
    assert len(html) < 300_000
    # The whole set in the overview, then the whole and both slices: each a whisker with words for who cannot see it.
    assert html.count('role="img" aria-label="') == 4
    assert 'aria-label="length: 21-50 words: ' in html


def test_comparing_imports_no_torch(run_folder: Run) -> None:
    folders = [str(run_folder("one", answers(A))), str(run_folder("two", answers(B)))]
    code = (
        "import sys; from heldout.cli import main; "
        f"status = main(['compare', *{folders!r}, '--replicates', '20']); "
        "sys.exit(status or any(name in sys.modules for name in ('torch', 'transformers', 'sklearn', 'scipy')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_groups_are_kept_whole_and_said_so(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    gold = [replace(example, about={"group": f"g{k // 30}"}) for k, example in enumerate(GOLD)]
    one, two = (run_folder(name, answers(right, gold), gold) for name, right in (("one", A), ("two", B)))
    found = call(capsys, one, two)
    assert found["tests"]["films"]["groups"] == 4
    entry = found["tests"]["films"]["pairs"]["two"]["metrics"]["accuracy"]
    assert "4 groups kept whole" in entry["method"]
    # Only swaps of four groups: the p is near an eighth or more.
    assert entry["p"] > 0.05
    main(["compare", str(one), str(two), "--replicates", "50"])
    out = " ".join(capsys.readouterr().out.split())
    assert "come in 4 groups" in out and "the smallest p that swapping them can give is 0.12" in out


def test_what_was_fitted_on_a_data_set_is_said(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    from heldout.ledger import Ledger, write_ledger
    from heldout.records import content_hash

    one, two = run_folder("one", answers(A)), run_folder("two", answers(B))
    write_ledger(two, Ledger().with_fitted("temperature", "dev", content_hash(GOLD), N))
    notes = call(capsys, one, two)["tests"]["films"]["notes"]
    assert notes == ["Not held out for two: temperature fitted on films."]


def test_tags_are_compared_by_sentence_and_by_entity(run_folder: Run, capsys: pytest.CaptureFixture[str]) -> None:
    card = Card("ner", "1", "tags", ("O", "B-P", "I-P"), ("entity_f1",), ("entity_length",))
    gold = [Example(f"s{k}", {"words": ["Ada", "Byron", "wrote"]}, ["B-P", "I-P", "O"]) for k in range(40)]
    whole, short, none = ["B-P", "I-P", "O"], ["B-P", "O", "O"], ["O", "O", "O"]
    first = [Prediction(e.id, whole if k < 20 else none) for k, e in enumerate(gold)]
    second = [Prediction(e.id, whole if 10 <= k < 35 else short) for k, e in enumerate(gold)]
    found = call(capsys, run_folder("one", first, gold, card), run_folder("two", second, gold, card))
    pair = found["tests"]["films"]["pairs"]["two"]
    assert pair["churn"]["entities"] == {"both": 10, "only_reference": 10, "only_other": 15, "neither": 5}
    assert (pair["mcnemar"]["only_reference"], pair["mcnemar"]["only_other"]) == (10, 15)
    entry = pair["metrics"]["entity_f1"]
    assert entry["value"] == pytest.approx(2 * 25 / 80 - 2 * 20 / 60)
    assert entry["test"] == "randomisation"
    assert "mcnemar" not in pair["slices"]["entity_length=2 words"]


def seeds_of(run_folder: Run, name: str, shares: Sequence[float], tmp_path: Path) -> Path:
    for number, share in enumerate(shares, 1):
        rng = np.random.default_rng(number * 7 + len(name))
        run_folder(f"{name}/seed-{number}", answers(list(rng.random(N) < share)))
    return tmp_path / name


def test_seeds_give_means_sds_and_a_p_that_few_seeds_bound(
    run_folder: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = seeds_of(run_folder, "one", [0.6, 0.62, 0.64], tmp_path)
    two = seeds_of(run_folder, "two", [0.9, 0.92, 0.94], tmp_path)
    found = call(capsys, one, two)
    assert found["systems"]["two"] == {"seeds": ["seed-1", "seed-2", "seed-3"]}
    entry = found["tests"]["films"]["pairs"]["two"]["metrics"]["accuracy"]
    values = list(entry["other_seeds"]["by_seed"].values())
    assert entry["other"] == pytest.approx(np.mean(values)) and entry["other_seeds"]["sd"] == np.std(values, ddof=1)
    assert entry["p_of_seeds"] == entry["least_p_of_seeds"] == 0.1
    assert entry["test"] == "bootstrap" and "seeds drawn too (3 and 3)" in entry["method"]
    assert "mcnemar" not in found["tests"]["films"]["pairs"]["two"]
    main(["compare", str(one), str(two), "--replicates", "50"])
    out = " ".join(capsys.readouterr().out.split())
    assert "the smallest that so many can give is 0.1; so few runs cannot show a difference by themselves" in out
    assert "Two seeds of one already differ so on" in out
