"""Scores of tags as a whole: calibration of entities, slices of entities, decodings, temperature, comparisons."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.bio import best_valid, strict
from heldout.errors import Refused
from heldout.eval.differences import differences, discordant, domain_drop
from heldout.eval.fits import fit_temperature
from heldout.eval.metrics import find
from heldout.eval.run_scores import score_run
from heldout.eval.score import score
from heldout.eval.slices import cut, known, parts
from heldout.eval.statistics import Sampling
from heldout.eval.tabulate import tabulate
from heldout.eval.tags import TagTable
from heldout.eval.text import render
from heldout.fits import apply
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json, write_lines

TYPES = ("group", "person", "place")
LABELS = ("O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI"))
METRICS = (
    "entity_f1",
    "entity_precision",
    "entity_recall",
    "entity_f1_lenient",
    "entity_macro_f1",
    "word_accuracy",
    "nll",
    "ece",
    "ece_mass",
)
SLICES = ("entity_type", "unseen", "entity_length", "sentence_case", "length", "domain")
CARD = Card("names", "1", "tags", LABELS, METRICS, SLICES)
Data = tuple[list[Example], list[Prediction]]


def made(seed: int, n: int = 80, *, groups: int = 0, scores: bool = True, decode: Any = best_valid) -> Data:
    """Sentences of made-up words with entities; overconfident probabilities that lean to gold; tags read off them."""
    rng = np.random.default_rng(seed)
    gold, predictions = [], []
    for i in range(n):
        tags: list[str] = []
        while len(tags) < 8:
            kind = TYPES[rng.integers(3)]
            length = int(rng.integers(1, 4))
            tags += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)] if rng.random() < 0.3 else ["O"]
        words = [f"word{rng.integers(50)}" for _ in tags]
        about = {"group": f"paper-{i % groups}"} if groups else {}
        unseen = [entity[0] for entity in strict(tags) if rng.random() < 0.5]
        gold.append(Example(f"s{seed}-{i}", {"words": words}, tags, {**about, "unseen": unseen}))
        logits = 2.5 * rng.normal(size=(len(tags), len(LABELS)))
        logits[np.arange(len(tags)), [LABELS.index(tag) for tag in tags]] += 5
        weights = np.exp(logits)
        given = (weights / weights.sum(axis=1, keepdims=True)).tolist()
        seen = {"tokens": 20, "lost": 0}
        predictions.append(Prediction(gold[-1].id, decode(given, LABELS), given if scores else None, seen=seen))
    return gold, predictions


def table_of(gold: Sequence[Example], predictions: Sequence[Prediction]) -> TagTable:
    table = tabulate(CARD, gold, predictions)
    assert isinstance(table, TagTable)
    return table


def entities(tags: Sequence[str]) -> set[tuple[int, int, str]]:
    return set(strict(tags))


def test_scores_have_the_documented_shape_and_every_number_an_interval() -> None:
    gold, predictions = made(0)
    row = score(CARD, gold, predictions, data="papers", replicates=100)
    json.dumps(row, allow_nan=False)
    in_gold = sum(len(entities(example.gold)) for example in gold)
    found = sum(len(entities(prediction.answer)) for prediction in predictions)
    words = sum(len(example.gold) for example in gold)
    sizes = {"word_accuracy": words, "nll": words, "ece": found, "ece_mass": found, "aurc": found, "mce": found}
    sure = {f"precision_at_{share}": share / 100 for share in (80, 90, 95)}
    sizes |= {name: round(share * found) for name, share in sure.items()}
    assert set(row["metrics"]) == {*METRICS, "mce", "aurc", *sure}
    for name, entry in row["metrics"].items():
        assert {"value", "low", "high", "n", "unit", "method"} <= set(entry)
        assert name == "mce" or entry["low"] < entry["high"]
        assert entry["n"] == sizes.get(name, in_gold), name
    assert row["n"] == len(gold)
    assert sum(part["n"] for key, part in row["slices"].items() if key.startswith("entity_type=")) == in_gold
    keys = [*(f"entity_type={kind}" for kind in TYPES), "unseen=not in train", "unseen=in train"]
    keys += ["entity_length=1 word", "entity_length=2 words", "entity_length=3 words or more"]
    keys += ["sentence_case=all lower", "length=up to 20 words", "truncated=no"]
    assert list(row["slices"]) == keys
    assert all(
        (part.get("about") == "gold entities")
        == ("=" in key and key.split("=")[0] in ("entity_type", "unseen", "entity_length"))
        for key, part in row["slices"].items()
    )


def test_a_slice_by_type_has_the_counts_of_that_type_on_both_sides() -> None:
    gold, predictions = made(1)
    row = score(CARD, gold, predictions, data="papers", replicates=50)
    looked_at = 0
    for kind in TYPES:
        sides = [
            {(i, *entity) for i, tags in enumerate(rows) for entity in entities(tags) if entity[2] == kind}
            for rows in ([e.gold for e in gold], [p.answer for p in predictions])
        ]
        part = row["slices"][f"entity_type={kind}"]
        right = len(sides[0] & sides[1])
        assert part["n"] == len(sides[0])
        assert part["metrics"]["entity_recall"]["value"] == right / len(sides[0])
        assert part["metrics"]["entity_precision"]["value"] == right / len(sides[1])
        inside = [(i, place) for i, start, end, _ in sides[0] for place in range(start, end)]
        hits = sum(predictions[i].answer[place] == gold[i].gold[place] for i, place in inside)
        assert part["metrics"]["word_accuracy"]["value"] == hits / len(inside)
        assert part["metrics"]["nll"]["n"] == len(inside)
        assert part["metrics"]["ece"]["n"] == len(sides[1])
        looked_at += len(inside)
    assert looked_at > 100


def test_a_slice_by_length_puts_both_sides_where_their_own_words_say() -> None:
    gold = [Example("a", {}, ["B-person", "I-person", "O", "B-place"])]
    table = table_of(gold, [Prediction("a", ["B-person", "O", "O", "B-place"])])
    parts_ = {
        key: part.table
        for key, part in cut(
            replace(CARD, slices=("entity_length",)),
            [(gold[0], Prediction("a", ["B-person", "O", "O", "B-place"]))],
            {"": table},
        )[""].items()
    }
    assert set(parts_) == {"", "entity_length=1 word", "entity_length=2 words"}
    precision, recall = find("entity_precision"), find("entity_recall")
    assert (precision.of(parts_["entity_length=1 word"]), recall.of(parts_["entity_length=1 word"])) == (0.5, 1.0)
    assert recall.of(parts_["entity_length=2 words"]) == 0.0


def test_unseen_is_recall_of_gold_and_what_is_found_counts_where_it_meets_gold() -> None:
    words = {"words": ["Ada", "met", "Bo", "Lee", "in", "Umeå", "."]}
    tags = ["B-person", "O", "B-person", "I-person", "O", "B-place", "O"]
    answer = ["B-person", "B-place", "B-person", "O", "O", "B-person", "O"]
    gold = [Example("a", words, tags, {"unseen": [2, 5]}), Example("b", {"words": ["It"]}, ["O"])]
    predictions = [Prediction("a", answer), Prediction("b", ["B-place"])]
    row = score(CARD, gold, predictions, data="papers", replicates=50)
    new, old = row["slices"]["unseen=not in train"], row["slices"]["unseen=in train"]
    assert (new["n"], old["n"], new["read"]) == (2, 1, "entity_recall")
    values = [[part["metrics"][f"entity_{name}"]["value"] for name in ("recall", "precision")] for part in (new, old)]
    # "Bo" and a person "Umeå" meet unseen entities; the places "met" and "It" meet none.
    assert values == [[0.0, 0.0], [1.0, 1.0]]
    assert row["metrics"]["entity_precision"]["value"] == pytest.approx(1 / 5)
    assert "unseen=not in train (entity_recall)" in render(row)


def test_sentences_without_a_list_of_unseen_entities_are_in_no_part_of_that_slice() -> None:
    gold = [Example("a", {}, ["B-person"])]
    row = score(CARD, gold, [Prediction("a", ["B-person"])], data="papers", replicates=50)
    assert not [key for key in row["slices"] if key.startswith("unseen")]


def test_sentence_case_reads_the_words_and_leaves_out_those_without_case() -> None:
    texts = [["so", "it", "is", "7"], ["SO", "IT", "IS"], ["So", "it", "IS"], ["7", "!"], []]
    pairs = [
        (Example(str(i), {"words": words}, ["O"] * len(words)), Prediction(str(i), [])) for i, words in enumerate(texts)
    ]
    pairs.append((Example("x", {"text": "Not words."}, []), Prediction("x", [])))
    found = parts(known()["sentence_case"], pairs)  # type: ignore[arg-type]
    assert found == {"sentence_case=mixed": [2], "sentence_case=all lower": [0], "sentence_case=all upper": [1]}


def test_an_entitys_confidence_is_the_mean_probability_of_its_tags() -> None:
    gold, predictions = made(2)
    events = table_of(gold, predictions).events
    expected = [
        (
            i,
            np.mean([p.scores[w][LABELS.index(p.answer[w])] for w in range(start, end)]),
            (start, end, kind) in entities(e.gold),
        )
        for i, (e, p) in enumerate(zip(gold, predictions, strict=True))
        for start, end, kind in strict(p.answer)
    ]
    assert len(expected) > 100
    assert events.owner.tolist() == [row for row, _, _ in expected]
    np.testing.assert_allclose(events.confidence, [p for _, p, _ in expected])
    assert events.event.astype(bool).tolist() == [hit for _, _, hit in expected]
    confidence, hit = events.confidence, events.event
    bins = np.clip(np.ceil(confidence * 15) - 1, 0, 14).astype(int)
    ece = sum(abs((hit - confidence)[bins == b].sum()) for b in range(15)) / len(hit)
    assert find("ece").of(table_of(gold, predictions)) == pytest.approx(ece)


def test_the_loss_is_the_mean_over_words() -> None:
    gold, predictions = made(3)
    losses = [
        -np.log(scores[LABELS.index(tag)])
        for e, p in zip(gold, predictions, strict=True)
        for tag, scores in zip(e.gold, p.scores, strict=True)
    ]
    assert find("nll").of(table_of(gold, predictions)) == pytest.approx(np.mean(losses))
    assert find("nll").extras(table_of(gold, predictions), 0) == {"floored": 0}


def test_without_scores_nothing_is_made_up_and_the_answers_are_no_decoding() -> None:
    row = score(CARD, *made(4, scores=False), data="papers", replicates=50)
    assert row["metrics"]["entity_f1"]["value"] > 0.3
    for name in ("nll", "ece", "ece_mass"):
        assert row["metrics"][name] == {"value": None, "note": "needs scores"}
    assert (row["variants"], row["notes"]) == ({}, [])


def test_a_system_that_is_sure_of_entities_rather_than_words_has_their_calibration_and_no_word_loss() -> None:
    gold, predictions = made(4, scores=False)
    sure = [
        replace(p, entities=[{"start": a, "end": b, "type": kind, "p": 0.9} for a, b, kind in strict(p.answer)])
        for p in predictions
    ]
    row = score(CARD, gold, sure, data="papers", replicates=50)
    precision = row["metrics"]["entity_precision"]["value"]
    assert row["metrics"]["ece"]["value"] == pytest.approx(abs(0.9 - precision))
    assert row["metrics"]["nll"] == {"value": None, "note": "needs scores"}
    some = score(CARD, gold, [*sure[:-2], *predictions[-2:]], data="papers", replicates=50)
    assert some["metrics"]["ece"]["note"] == "needs scores: 2 of 80 predictions have none"
    left_out = [replace(sure[0], entities=sure[0].entities[1:]), *sure[1:]]
    assert len(sure[0].entities) > 0
    assert score(CARD, gold, left_out, data="papers", replicates=50)["metrics"]["ece"]["value"] is None


def test_entities_that_the_tags_do_not_spell_are_refused() -> None:
    gold = [Example("a", {}, ["B-person", "O"])]
    given = {"start": 1, "end": 2, "type": "place", "p": 0.5}
    with pytest.raises(Refused, match="id 'a': its entities hold a place from word 1 to 2, which its tags don't spell"):
        tabulate(CARD, gold, [Prediction("a", ["B-person", "O"], entities=[given])])


def test_a_system_that_finds_nothing_has_no_calibration_but_a_recall_of_0() -> None:
    gold, predictions = made(5)
    nothing = [
        replace(p, answer=["O"] * len(p.answer), scores=[[1.0] + [0.0] * 6] * len(p.answer)) for p in predictions
    ]
    row = score(CARD, gold, nothing, data="papers", replicates=50)
    assert row["metrics"]["entity_recall"]["value"] == row["metrics"]["entity_precision"]["value"] == 0
    assert row["metrics"]["ece"] == row["metrics"]["ece_mass"] == {"value": None, "note": "no answers"}
    assert "no answers" in render(row)


def test_a_set_without_entities_says_so() -> None:
    gold = [Example(str(i), {}, ["O", "O"]) for i in range(3)]
    answers = [Prediction(str(i), ["B-person", "O"]) for i in range(3)]
    row = score(CARD, gold, answers, data="papers", replicates=50)
    assert row["metrics"]["entity_f1"] == {"value": None, "note": "no gold entities"}
    assert row["metrics"]["word_accuracy"]["value"] == 0.5
    assert "no gold entities" in render(row)


@pytest.mark.parametrize("groups", [0, 16])
def test_intervals_are_those_of_sentences_or_groups_drawn_and_scored_anew(groups: int) -> None:
    gold, predictions = made(6, groups=groups)
    table = table_of(gold, predictions)
    row = score(CARD, gold, predictions, data="papers", replicates=4000)
    rng = np.random.default_rng(1)
    units = [np.flatnonzero(np.arange(80) % groups == g) for g in range(groups)] if groups else np.arange(80)[:, None]
    drawn = [np.concatenate([units[u] for u in rng.integers(0, len(units), len(units))]) for _ in range(1500)]
    for name in ("entity_f1", "entity_recall", "entity_f1_lenient", "nll", "ece"):
        values = [find(name).of(table.take(rows)) for rows in drawn]
        low, high = np.quantile(values, [0.025, 0.975])
        entry = row["metrics"][name]
        assert (entry["low"], entry["high"]) == pytest.approx((low, high), abs=0.12 * (high - low)), name
        assert ("groups kept whole" in entry["method"]) == bool(groups)


def test_a_part_whose_entities_all_stand_in_one_sentence_has_no_interval() -> None:
    gold, predictions = made(7)
    tags = ["B-group", "O", "O"]
    rest = [replace(e, gold=[tag.replace("group", "place") for tag in e.gold]) for e in gold]
    rest_predictions = [
        replace(p, answer=[t.replace("group", "place") for t in p.answer], scores=None) for p in predictions
    ]
    row = score(
        CARD, [*rest, Example("x", {}, tags)], [*rest_predictions, Prediction("x", tags)], data="p", replicates=50
    )
    entry = row["slices"]["entity_type=group"]["metrics"]["entity_f1"]
    assert (entry["value"], entry["n"], entry["low"]) == (1.0, 1, None)
    assert entry["method"] == "no interval: all in one example"


def test_a_part_of_which_nothing_is_found_has_no_interval_of_no_width() -> None:
    gold, predictions = made(7)
    never = [replace(p, answer=[tag if "place" not in tag else "O" for tag in p.answer]) for p in predictions]
    entry = score(CARD, gold, never, data="p", replicates=50)["slices"]["entity_type=place"]["metrics"]["entity_recall"]
    assert (entry["value"], entry["low"], entry["high"]) == (0.0, None, None) and entry["n"] > 30
    assert entry["method"] == "no interval: all right or all wrong, it cannot vary"


def test_what_the_scores_give_by_argmax_and_by_viterbi_stands_beside_the_answers_where_it_differs() -> None:
    gold, predictions = made(8)
    row = score(CARD, gold, predictions, data="papers", replicates=50)
    assert list(row["variants"]) == ["argmax"]
    assert row["notes"] == ["The answers are those of viterbi."]
    argmax = [replace(p, answer=[LABELS[int(np.argmax(word))] for word in p.scores]) for p in predictions]
    assert any(a.answer != b.answer for a, b in zip(argmax, predictions, strict=True))
    variant = row["variants"]["argmax"]
    assert list(variant) == ["metrics", "slices"] and list(variant["slices"]) == list(row["slices"])
    assert variant["metrics"]["entity_f1"]["value"] == find("entity_f1").of(table_of(gold, argmax))
    assert {"value", "low", "high"} == set(variant["metrics"]["entity_f1"]["change"])
    assert "by argmax" in render(row)
    as_argmax = score(CARD, gold, argmax, data="papers", replicates=50)
    assert (list(as_argmax["variants"]), as_argmax["notes"]) == (["viterbi"], ["The answers are those of argmax."])
    assert as_argmax["variants"]["viterbi"]["metrics"]["entity_f1"]["value"] == row["metrics"]["entity_f1"]["value"]
    neither = [replace(p, answer=["O"] * len(p.answer)) for p in predictions]
    assert list(score(CARD, gold, neither, data="papers", replicates=50)["variants"]) == ["argmax", "viterbi"]


def test_a_temperature_lowers_the_loss_and_keeps_the_answers() -> None:
    gold, predictions = made(9)
    dev = made(10)
    fit = fit_temperature(CARD, *dev, split="dev")
    assert fit.parameters["temperature"] > 1.2 and fit.fitted_on["hash"] == content_hash(dev[0])
    row = score(CARD, gold, predictions, data="papers", fits=[fit], replicates=50)
    assert list(row["variants"]) == ["temperature", "argmax"]
    after = row["variants"]["temperature"]["metrics"]
    assert after["nll"]["value"] < row["metrics"]["nll"]["value"]
    assert after["ece"]["value"] < row["metrics"]["ece"]["value"]
    assert after["entity_f1"] == row["metrics"]["entity_f1"]
    softened = apply(fit, predictions)
    assert [p.answer for p in softened] == [p.answer for p in predictions]
    # The lowest loss of all: a little more or less of it is no better.
    losses = [
        find("nll").of(table_of(dev[0], apply(replace(fit, parameters={"temperature": t}), dev[1])))
        for t in (fit.parameters["temperature"] * factor for factor in (0.98, 1, 1.02))
    ]
    assert losses[1] == min(losses)
    assert "after temperature" in render(row)


def run_folder(folder: Path, sets: dict[str, Data]) -> Path:
    write_json(folder / "card.json", CARD.to_json())
    write_json(folder / "options.json", {"task": "ner", "test": [f"{name}=x" for name in sets if name != "dev"]})
    for name, (gold, predictions) in sets.items():
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (prediction.to_json() for prediction in predictions))
    return folder


def test_a_run_of_tags_is_scored_whole_with_its_temperature_and_its_drop(tmp_path: Path) -> None:
    folder = run_folder(tmp_path / "run", {"dev": made(11), "papers": made(12), "posts": made(13)})
    scored = score_run(folder, replicates=50)
    assert list(scored) == ["papers", "posts", "dev"]
    for name, row in scored.items():
        assert json.loads((folder / "scores" / f"{name}.json").read_text()) == row
        assert list(row["variants"]) == ["temperature", "argmax"]
    gap = scored["papers"]["metrics"]["entity_f1"]["value"] - scored["posts"]["metrics"]["entity_f1"]["value"]
    assert scored["posts"]["drop"]["metrics"]["entity_f1"]["value"] == pytest.approx(gap)
    assert "Drop in entity_f1 from papers" in render(scored["posts"])


def test_two_systems_are_compared_on_sentences_and_on_parts_of_their_entities() -> None:
    gold, first = made(14)
    _, others = made(15)
    second = [replace(p, answer=["O"] * len(p.answer)) if i % 4 == 0 else p for i, p in enumerate(first)]
    pairs = list(zip(gold, first, strict=True))
    sides = [cut(CARD, pairs, {"": table_of(gold, rows)})[""] for rows in (first, second)]
    assert list(sides[0]) == list(sides[1])
    couples = {key: tuple((side[key].table, side[key].rows) for side in sides) for key in sides[0]}
    found = differences(couples, find("entity_f1"), Sampling(len(gold), None, 500))  # type: ignore[arg-type]
    for key, entry in found.items():
        values = [find("entity_f1").of(side[key].table) for side in sides]
        assert entry["value"] == pytest.approx(values[0] - values[1]), key
    assert 0 < found[""]["low"] < found[""]["value"] < found[""]["high"]
    assert found["entity_type=person"]["n"] == [sides[0]["entity_type=person"].n] * 2
    whole = [side[""].table for side in sides]
    right = [
        [entities(e.gold) == entities(p.answer) for e, p in zip(gold, rows, strict=True)] for rows in (first, second)
    ]
    only = [sum(a and not b for a, b in zip(*order, strict=True)) for order in (right, right[::-1])]
    assert list(discordant(*whole)[:2]) == only and only[0] > 3
    drop = domain_drop(CARD, (gold, first), (made(15)[0], others), replicates=50)
    assert set(drop) == {*METRICS, *(f"precision_at_{share}" for share in (80, 90, 95))}


def test_a_table_of_some_sentences_is_that_of_their_records() -> None:
    gold, predictions = made(16)
    rows = np.array([5, 3, 70, 3])
    taken = table_of(gold, predictions).take(rows)
    ids = [replace(gold[row], id=str(i)) for i, row in enumerate(rows)]
    alone = table_of(ids, [replace(predictions[row], id=str(i)) for i, row in enumerate(rows)])
    for name in METRICS:
        np.testing.assert_array_equal(find(name).columns(taken), find(name).columns(alone), err_msg=name)
    assert taken.correct.tolist() == alone.correct.tolist()
    empty = table_of(gold, predictions).take(np.array([], dtype=int))
    assert len(empty) == 0 and all(np.isnan(find(name).of(empty)) for name in METRICS[:6])


@pytest.mark.parametrize("name", METRICS)
def test_a_replicate_in_which_nothing_was_drawn_is_no_value_of_any_metric(name: str) -> None:
    metric = find(name)
    sums = metric.columns(table_of(*made(17))).sum(axis=0)
    values = metric.value(np.stack([np.zeros_like(sums), sums, 2 * sums]).astype(np.float32))
    assert np.isnan(values[0]) and values[1] == pytest.approx(values[2], rel=1e-5)
