import json

import pytest

from heldout.data.cleaning import clean
from heldout.data.labels import in_order, label_names, raw_label
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.errors import Refused


def write(tmp_path, rows, name="a.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def golds(loaded):
    return [example.gold for example in loaded.examples]


@pytest.mark.parametrize(
    ("raw", "mapping", "known", "names"),
    [
        (["0", "1"], {}, (), ["negative", "positive"]),
        (["1"], {}, (), ["positive"]),
        (["NEG", "Pos", "neutral"], {}, (), ["negative", "positive", "neutral"]),
        (["0", "1", "2", "3", "4"], {}, (), ["0", "1", "2", "3", "4"]),
        (["0", "1"], {}, ("0", "1", "2", "3", "4"), ["0", "1"]),
        (["0", "1"], {}, ("negative", "neutral", "positive"), ["negative", "positive"]),
        (
            ["fresh", "rotten", "plot"],
            {"fresh": "positive", "rotten": "negative", "plot": "-"},
            (),
            ["positive", "negative", None],
        ),
        (["-1", "-", "", "1"], {}, (), [None, None, None, "positive"]),
        (["-1", "1"], {"-1": "negative"}, (), ["negative", "positive"]),
        (["0", "1"], {"0": "bad"}, (), ["bad", "positive"]),
    ],
)
def test_labels_are_named_by_option_then_name_then_synonym(raw, mapping, known, names):
    named = label_names(raw, mapping, known)
    assert [named[value] for value in raw] == names


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (1.0, "1"), (1.5, "1.5"), (True, "true"), (None, ""), (float("nan"), ""), (" Pos ", "Pos"), (-1, "-1")],
)
def test_a_raw_label_is_text(value, text):
    assert raw_label(value) == text


def test_a_class_label_is_its_name_and_minus_one_is_none():
    assert [raw_label(value, ["neg", "pos"]) for value in (0, 1, -1)] == ["neg", "pos", "-1"]


def test_a_class_label_is_mapped_by_its_name_or_its_number(tmp_path):
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"text": Value("string"), "label": ClassLabel(names=["World", "Sports"])})
    path = str(tmp_path / "news.parquet")
    Dataset.from_dict({"text": ["a vote", "a goal"], "label": [0, 1]}, features=features).to_parquet(path)
    assert golds(load("sentiment", path, SourceOptions())) == ["World", "Sports"]
    assert golds(load("sentiment", path, SourceOptions(label=("0=dull", "Sports=fun")))) == ["dull", "fun"]


def test_labels_stand_in_a_natural_order():
    assert in_order({"positive", "mixed", "negative", "neutral"}) == ("negative", "neutral", "positive", "mixed")
    assert in_order({"10", "9", "1"}) == ("1", "9", "10")
    assert in_order({"b", "2", "a"}) == ("2", "a", "b")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("One.<br /><br/>Two.<BR>Three.", "One.  Two. Three."),
        ("&quot;Fine&quot; &amp; &#39;odd&#x27;", "\"Fine\" & 'odd'"),
        ("AT&T, &notable, &unknown; <i>kept</i>", "AT&T, &notable, &unknown; <i>kept</i>"),
        ("&#0; &#9999999;", "\ufffd \ufffd"),
    ],
)
def test_cleaning_does_line_breaks_and_closed_entities_and_nothing_else(raw, text):
    assert clean(raw) == text


def test_what_is_dropped_is_counted_by_reason(tmp_path):
    rows = [
        {"text": "fine", "label": 1},
        {"text": "unsure", "label": -1},
        {"text": "unsure", "label": "-"},
        {"text": "unsure", "label": None},
        {"text": "unsure"},
        {"text": "  ", "label": 0},
        {"text": None, "label": 0},
        {"text": "dull", "label": 0},
    ]
    loaded = load("sentiment", write(tmp_path, rows), SourceOptions())
    assert golds(loaded) == ["positive", "negative"]
    assert loaded.dropped == {"no_label": 4, "empty_text": 2}
    assert [example.id for example in loaded.examples] == ["a:1", "a:8"]


def test_a_text_that_is_empty_once_cleaned_is_dropped(tmp_path):
    rows = [{"text": "<br />", "label": 1}, {"text": "dull", "label": 0}]
    assert load("sentiment", write(tmp_path, rows), SourceOptions()).dropped == {"empty_text": 1}


def test_own_ids_are_kept_where_unique_and_numbered_where_not(tmp_path):
    rows = [{"id": 7, "text": "fine", "label": 1}, {"id": 8, "text": "dull", "label": 0}]
    assert [example.id for example in load("sentiment", write(tmp_path, rows), SourceOptions()).examples] == ["7", "8"]
    rows[1]["id"] = 7
    loaded = load("sentiment", write(tmp_path, rows), SourceOptions())
    assert [example.id for example in loaded.examples] == ["a:1", "a:2"]
    assert loaded.notes == {"rows_renumbered_as_ids_repeat": 2}
    with pytest.raises(Refused, match=r"a\.jsonl, line 2: id '7' is empty or stands there twice"):
        load("sentiment", write(tmp_path, rows), SourceOptions(column=("id=id",)))


def test_columns_are_found_by_name_in_any_case_or_mapped(tmp_path):
    rows = [
        {"Sentiment": "Negative", "Text": "dull", "film": "f1"},
        {"Sentiment": "Positive", "Text": "fine", "film": ""},
    ]
    loaded = load("sentiment", write(tmp_path, rows), SourceOptions(column=("group=film",)))
    assert golds(loaded) == ["negative", "positive"]
    assert [dict(example.about) for example in loaded.examples] == [{"group": "f1"}, {}]


def test_pairs_are_groups_where_no_column_groups_the_texts(tmp_path):
    rows = [{"text": f"a {word} film", "label": n, "pair": "p1"} for n, word in enumerate(("dull", "fine"))]
    loaded = load("sentiment", write(tmp_path, rows), SourceOptions())
    assert [dict(example.about) for example in loaded.examples] == [{"pair": "p1", "group": "p1"}] * 2
    grouped = load("sentiment", write(tmp_path, [row | {"group": "g"} for row in rows]), SourceOptions())
    assert [example.about["group"] for example in grouped.examples] == ["g"] * 2


def test_values_meant_for_another_split_are_left_aside(tmp_path):
    source = write(
        tmp_path, [{"review": "fine", "text": "title", "label": 5}, {"review": "a", "text": "b", "label": 1}]
    )
    options = SourceOptions(
        column=("yelp:text=review", "imdb:text=nowhere"), label=("5=great", "yelp:5=positive", "1=negative")
    )
    loaded = load("sentiment", source, options, name="yelp", names=("train", "yelp", "imdb"))
    assert golds(loaded) == ["positive", "negative"]
    assert loaded.examples[0].text == {"text": "fine"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"column": ("text=txet",)}, r"no column 'txet' for text; did you mean text\?; its columns are text, label$"),
        ({"column": ("label=stars",)}, r"no column 'stars' for label; its columns are text, label$"),
        ({"column": ("txt=text",)}, r"'txt' is not one of text, label, id, .*answers; did you mean text\?"),
        ({"column": ("yepl:text=text",)}, r"'yepl:text' is not one of .*splits of this call: data"),
        ({"column": ("text",)}, r"--column text: write --column \[NAME:\]FROM=TO"),
        ({"label": ("0",)}, r"--label 0: write"),
        ({"encoding": ("utf-9",)}, r"--encoding utf-9: not an encoding"),
        ({"clean": ("of",)}, r"--clean of: use one of auto, on, off"),
        ({"delimiter": ("||",)}, r"--delimiter '\|\|': give one character or one of comma"),
    ],
)
def test_an_option_that_means_nothing_is_refused(tmp_path, options, message):
    source = write(tmp_path, [{"text": "fine", "label": 1}])
    with pytest.raises(Refused, match=message):
        load("sentiment", source, SourceOptions(**options))


def test_a_label_that_train_lacks_is_refused_with_its_row_and_value(tmp_path):
    source = write(tmp_path, [{"text": "fine", "label": "pos"}, {"text": "odd", "label": "postive"}])
    with pytest.raises(
        Refused, match=r"a\.jsonl, line 2: label 'postive' is not one of negative, positive; did you mean"
    ):
        load("sentiment", source, SourceOptions(), labels=("negative", "positive"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"text": 3, "label": 1}], r"a\.jsonl, line 1: text is 3, not a text"),
        ([{"text": "", "label": 1}, {"text": "odd"}], r"no example is left \(1 rows empty text, 1 rows no label\)"),
        (
            [{"words": "fine", "label": 1}],
            r"no column for text \(.*\); its columns are words, label; .*--column text=COLUMN",
        ),
    ],
)
def test_rows_that_make_no_example_are_refused(tmp_path, rows, message):
    with pytest.raises(Refused, match=message):
        load("sentiment", write(tmp_path, rows), SourceOptions())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("reviews.csv", "no such file"),
        ("nowhere/reviews.jsonl.gz", "no such file, nor a folder nowhere"),
        ("/nowhere", "no such file"),
        ("org/name", "no such path; if it is a hub id, name its split: org/name:train"),
    ],
)
def test_a_source_that_is_not_there_is_refused_without_asking_a_hub(tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Refused, match=message):
        load("sentiment", source, SourceOptions())


def test_a_misspelt_file_is_answered_with_the_nearest(tmp_path):
    write(tmp_path, [{"text": "fine", "label": 1}], "reviews.jsonl")
    with pytest.raises(Refused, match=r"did you mean reviews\.jsonl\?"):
        load("sentiment", str(tmp_path / "review.jsonl"), SourceOptions())
