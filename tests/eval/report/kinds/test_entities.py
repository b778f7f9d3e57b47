"""A report of tagged sentences: its tables against counts made by hand, its cards, its words."""

import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape

import pytest

from heldout.bio import strict
from heldout.eval.report import build
from heldout.eval.report.comparisons import compare
from heldout.eval.report.entities import VIEW
from heldout.eval.report.mistakes import most_confident
from heldout.eval.report.verdict import verdict
from heldout.records import Prediction
from heldout.runs import write_lines


def said(html: str) -> str:
    return " ".join(unescape(re.sub("<[^>]+>", " ", html.split("<body>")[1].split("<script>")[0])).split())


def entities(inputs, data):
    """(gold, found) of each sentence, by the reader of tags alone."""
    pairs = zip(data.examples, inputs.main.predictions[data.name], strict=True)
    return [(strict(example.gold), strict(prediction.answer)) for example, prediction in pairs]


def counts(cells):
    """Gold, found and right of a row of the table by type."""
    return [int(cells[k]) for k in (0, -2, -1)]


def test_the_table_by_type_counts_what_a_reader_of_tags_counts(inputs):
    read = inputs["tags"]
    (section,) = VIEW.sections(read)
    assert [group.name for group in section.pieces] == ["posts", "papers"]
    assert [group.folded for group in section.pieces] == [False, True]
    for group, data in zip(section.pieces, read.tests, strict=True):
        gold, found, right = Counter(), Counter(), Counter()
        for mine, others in entities(read, data):
            gold.update(kind for *_, kind in mine)
            found.update(kind for *_, kind in others)
            right.update(kind for *_, kind in set(mine) & set(others))
        rows = {row.name: [cell.value for cell in row.cells] for row in group.blocks[0].table.rows}
        for kind in ("person", "place"):
            assert counts(rows[kind]) == [gold[kind], found[kind], right[kind]]
            f1 = 2 * right[kind] / (gold[kind] + found[kind])
            assert rows[kind][1] == f"{100 * f1:.1f}%"
        assert counts(rows["all"]) == [sum(n.values()) for n in (gold, found, right)]


def test_the_confusion_adds_up_to_all_entities(inputs):
    read = inputs["tags"]
    (section,) = VIEW.sections(read)
    table = section.pieces[0].blocks[1].table
    assert table.heads == ("gold", "found person", "found place", "none (missed)")
    counts = {row.name: [int(cell.value or 0) for cell in row.cells] for row in table.rows}
    both = entities(read, read.tests[0])
    assert sum(sum(counts[kind]) for kind in ("person", "place")) == sum(len(gold) for gold, _ in both)
    # Every reading of the fixture spoils one entity, so what shares no word can be told without any search.
    alone = Counter(
        kind for gold, found in both for a, b, kind in found if not any(a < d and c < b for c, d, _ in gold)
    )
    assert counts["none (spurious)"] == [alone["person"], alone["place"], 0]
    assert counts["place"][0] > 0 and counts["person"][2] > 0
    shades = {cell.shade for row in table.rows for cell in row.cells}
    assert {"right-4", "wrong-1"} <= shades


def test_what_became_of_entities_is_told_of_every_system(inputs):
    (section,) = VIEW.sections(inputs["tags"])
    table = section.pieces[0].blocks[2].table
    assert [row.name for row in table.rows] == ["tagger", "gazetteer"]
    cells = dict(zip(table.heads[1:], (int(cell.value) for cell in table.rows[0].cells), strict=True))
    gold, found = (sum(map(len, side)) for side in zip(*entities(inputs["tags"], inputs["tags"].tests[0]), strict=True))
    assert cells["exact"] + cells["wrong type"] + cells["gold with other borders"] + cells["missed"] == gold
    assert cells["exact"] + cells["wrong type"] + cells["found with other borders"] + cells["spurious"] == found
    assert min(cells.values()) > 0


def test_the_verdict_tells_f1_with_what_it_is_made_of_and_entities_new_to_it(inputs):
    read = inputs["tags"]
    sentences = verdict(read, compare(read, 60))
    metrics = read.main.scores["posts"]["metrics"]
    f1, precision, recall = (f"{100 * metrics[f'entity_{m}']['value']:.1f}%" for m in ("f1", "precision", "recall"))
    assert sentences[0].startswith(f"On the 60 posts sentences the entity F1 of tagger is {f1} (95% interval ")
    assert f"It finds {recall} (" in sentences[0] and f"{precision} (" in sentences[0]
    assert "read leniently, as conlleval does" in sentences[1]
    new = sum(len(example.about["unseen"]) for example in read.tests[0].examples)
    total = metrics["entity_f1"]["n"]
    together = " ".join(sentences)
    assert f"Of the {new} entities of posts whose words are no entity of train it finds " in together
    assert f"of the {total - new} others " in together and 0 < new < total
    assert "the best baseline, gazetteer" in together and "posts texts" not in together
    assert re.search(r"Of the \d+ posts entities found with \d+% to \d+% confidence", together)


def test_unseen_entities_are_read_by_their_recall(inputs, pages):
    part = inputs["tags"].main.scores["posts"]["slices"]["unseen=not in train"]["metrics"]
    recall, f1 = (f"{100 * part[m]['value']:.1f}%" for m in ("entity_recall", "entity_f1"))
    row = re.search(r"<th scope=.row.>unseen: not in train \(entity recall\).*?</tr>", pages["tags"], re.DOTALL).group()
    assert f"<td>{recall}<small>" in row and recall != f1
    assert "<small>gold entities</small>" in row


def test_other_decodings_stand_beside_the_answers(inputs, pages):
    assert "argmax" not in inputs["tags"].main.scores["posts"]["variants"]
    assert "tagger after temperature" in said(pages["tags"])


def test_a_card_tells_each_entity_that_went_wrong_and_how(inputs):
    found = most_confident(inputs["tags"], lambda *_: [])
    heads = [mistake.body.heading for mistake in found.shown if mistake.system == "tagger"]
    assert heads[0] == "1 of the wrong type; the surest wrong one is person, with 98.0% confidence"
    for words in ("1 missed", "1 with wrong borders", "1 spurious"):
        assert any(head.startswith(words) for head in heads), words
    card = found.shown[0].body
    assert card.keys == {"type": ["place", "person"], "fate": ["wrong type"]}
    text = card.fields[0].parts[0].text
    assert '<mark class="both">' in text and '<small class="label both">person</small>' in text
    assert '<small class="label gold">gold place</small> <small class="label found">found person 98.0%</small>' in text


def test_sentences_that_only_miss_have_a_place_among_the_few_that_are_shown(inputs):
    few = most_confident(inputs["tags"], lambda *_: [], limit=16).shown
    fates = Counter(fate for mistake in few for fate in mistake.body.keys["fate"])
    assert len(few) == 16 and fates["missed"] >= 4 and len(fates) == 4
    without = [mistake.confidence for mistake in few if mistake.system == "gazetteer"]
    assert len(without) == 8 and without == [None] * 8


def test_a_long_sentence_is_open_where_it_went_wrong(inputs):
    found = most_confident(inputs["tags"], lambda *_: [])
    long = next(m for m in found.shown if m.id == "s1" and m.system == "tagger")
    folded = [part for part in long.body.fields[0].parts if part.folded]
    opened = [part for part in long.body.fields[0].parts if not part.folded]
    assert len(folded) == 2 and len(opened) == 1 and "gold person" in opened[0].text


def test_no_text_tells_no_word_of_the_sentences(folders):
    html = build([folders["tags"]], text=False, replicates=60)
    assert "surest wrong one is person" in html
    for word in ("Ada", "Lind", "Umeå", "went to", "alert"):
        assert word not in html.split("<body>")[1].split("<script>")[0], word


def test_a_set_in_which_nothing_is_found_is_reported(makers, tmp_path):
    folder = makers["tags"](tmp_path / "run")
    path = folder / "predictions" / "posts.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lengths, outside = {row["id"]: len(row["answer"]) for row in rows}, [0.8, 0.05, 0.05, 0.05, 0.05]
    write_lines(path, ({"id": k, "answer": ["O"] * n, "scores": [outside] * n} for k, n in lengths.items()))
    html = said(build([folder], replicates=60))
    assert "the entity F1 of tagger is 0.0%" in html and "posts entities found with" not in html


def test_texts_of_tags_stay_within_their_bytes_whatever_is_marked_in_them(inputs):
    read = inputs["tags"]
    tags = ["B-person"] * 4000
    long = [replace(e, text={"words": ['"<&\x00'] * 4000}, gold=tags) for e in read.tests[0].examples]
    said = [Prediction(e.id, ["B-place"] * 4000) for e in long]
    data = replace(read.tests[0], examples=tuple(long))
    main = replace(read.main, predictions={data.name: tuple(said)})
    found = most_confident(replace(read, tests=(data,), systems=(main,)), lambda *_: [], limit=400)
    fields = [field for m in found.shown for field in m.body.fields]
    assert len(fields) == 60 and all(field.unmarked > 3000 and field.lost > 1000 for field in fields)
    assert all(sum(len(str(part.text).encode()) for part in field.parts) <= 3_200_000 // 400 for field in fields)


@pytest.mark.parametrize("kind", ["tags", "span", "pairs"])
def test_no_page_says_texts_where_it_has_sentences_questions_or_pairs(pages, kind):
    page = said(pages[kind])
    assert len(page) > 5000
    assert re.findall(r"\b(?:\d+|[a-z]+) texts\b", page.replace("comparing the two texts", "")) == []
