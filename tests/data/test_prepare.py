import json

import pytest

from heldout.data.prepare import PrepareOptions, load, parse_tests, prepare
from heldout.errors import Refused
from heldout.ledger import read_ledger
from heldout.options import parse
from heldout.records import content_hash, read_card, read_gold

WORDS = {"negative": "dull", "positive": "bright"}


def row(n, label=None, **more):
    """A text that shares no three words in a row with that of another number."""
    label = label or ("negative", "positive")[n % 2]
    return {"text": f"film{n} was{n} {WORDS[label]}{n} throughout{n} and{n} beyond{n}", "label": label} | more


@pytest.fixture
def folder(tmp_path):
    for name, rows in {"train": range(60), "test": range(100, 120), "yelp": range(200, 210)}.items():
        write(tmp_path, name, [row(n) for n in rows])
    return tmp_path


def write(folder, name, rows):
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in rows))
    return str(path)


def prepared(folder, *arguments, dev="", seed=0, **tests):
    options = parse(PrepareOptions, arguments, prog="heldout finetune", description="")
    tests = tests or {"test": f"{folder}/test.jsonl", "yelp": f"{folder}/yelp.jsonl"}
    return prepare("sentiment", train=f"{folder}/train.jsonl", dev=dev, tests=tests, options=options, seed=seed)


def test_the_run_folder_gets_card_gold_and_ledger(folder, tmp_path):
    result = prepared(folder)
    assert list(result.splits) == ["train", "dev", "test", "yelp"]
    out = tmp_path / "run"
    result.write(out)
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        "card.json",
        "gold/dev.jsonl",
        "gold/test.jsonl",
        "gold/yelp.jsonl",
        "ledger.json",
        "train-texts.json",
    ]
    card = read_card(out / "card.json")
    assert card.labels == ("negative", "positive")
    assert card.metrics[0] == "accuracy"
    ledger = read_ledger(out)
    for name in ("dev", "test", "yelp"):
        examples = read_gold(out / "gold" / f"{name}.jsonl", card)
        assert content_hash(examples) == ledger.splits[name]["hash"]
        assert len(examples) == ledger.splits[name]["n"]
    assert ledger.splits["train"] == {
        "source": f"{folder}/train.jsonl",
        "hash": result.splits["train"].hash,
        "n": 54,
        "labels": {"negative": 27, "positive": 27},
        "dropped": {},
        "notes": {"carved_as_dev": 6},
        "cleaning": [],
    }
    assert ledger.splits["dev"]["source"].endswith("train.jsonl (carved from train)")
    assert ledger.overlap["train/test exact"] == 0


def test_a_limit_and_a_dev_size_give_exactly_these(folder):
    result = prepared(folder, "--limit", "20", "--dev-size", "10", "--limit-test", "8")
    assert {name: len(split.examples) for name, split in result.splits.items()} == {
        "train": 20,
        "dev": 10,
        "test": 8,
        "yelp": 8,
    }
    assert result.splits["train"].notes == {"carved_as_dev": 10, "left_out_by_limit": 30}
    assert result.ledger.splits["test"]["notes"] == {"left_out_by_limit": 12}
    assert result.ledger.splits["yelp"]["notes"] == {"left_out_by_limit": 2}
    other = prepared(folder, "--limit", "40", "--dev-size", "10")
    assert other.splits["dev"].hash == result.splits["dev"].hash, "dev does not depend on the limit"


def test_without_a_dev_size_dev_is_a_share_of_what_is_trained_on(folder):
    result = prepared(folder, "--limit", "20", "--dev-share", "0.5")
    assert [len(result.splits[name].examples) for name in ("train", "dev")] == [20, 10]


def test_what_dev_size_leaves_out_of_a_given_dev_is_counted(folder):
    dev = write(folder, "dev", [row(n) for n in range(300, 310)])
    assert prepared(folder, "--dev-size", "4", dev=dev).ledger.splits["dev"]["notes"] == {"left_out_by_limit": 6}


def test_a_given_dev_is_used_and_train_stays_whole(folder):
    dev = write(folder, "dev", [row(n) for n in range(300, 310)])
    result = prepared(folder, dev=dev)
    assert [len(result.splits[name].examples) for name in ("train", "dev")] == [60, 10]
    assert list(result.splits) == ["train", "dev", "test", "yelp"]


def test_texts_that_stand_in_train_are_marked_and_counted(folder):
    # FAULTS X1: planted duplicates, one with other case and space, one nearly the same.
    long = "the two of them row out to the island every spring and nobody in the village has ever asked them why"
    write(folder, "train", [*(row(n) for n in range(60)), {"text": long, "label": "positive"}])
    planted = [
        {"text": row(3)["text"].upper().replace(" ", "   "), "label": "positive"},
        {"text": long.replace("spring", "autumn"), "label": "positive"},
    ]
    write(folder, "test", [*(row(n) for n in range(100, 120)), *planted])
    result = prepared(folder, dev=write(folder, "dev", [row(n) for n in range(300, 310)]))
    test = result.splits["test"].examples
    assert [example.about.get("overlap") for example in test] == [None] * 20 + ["exact", "near"]
    assert result.ledger.overlap["train/test exact"] == 1
    assert result.ledger.overlap["train/test near"] == 1
    assert "overlap" not in result.splits["train"].examples[0].about


def test_duplicates_within_a_split_are_noted_and_kept(folder):
    write(folder, "test", [*(row(n) for n in range(100, 120)), row(100), row(101)])
    result = prepared(folder)
    assert len(result.splits["test"].examples) == 22
    assert result.splits["test"].notes == {"exact_duplicates": 2}


def test_tests_that_share_groups_with_train_say_so(folder):
    write(folder, "train", [row(n, group=f"film{n // 4}") for n in range(60)])
    write(folder, "test", [row(n, group=f"film{n - 98}") for n in range(100, 120)])
    assert prepared(folder).splits["test"].notes.get("of_a_group_that_is_in_train", 0) >= 10
    assert "of_a_group_that_is_in_train" not in prepared(folder).splits["dev"].notes


def test_tests_that_share_pairs_with_train_say_so(folder):
    write(folder, "train", [row(n, pair=f"p{n // 2}") for n in range(60)])
    write(folder, "test", [row(n, pair=f"p{n - 98}") for n in range(100, 120)])
    dev = write(folder, "dev", [row(n) for n in range(300, 310)])
    assert prepared(folder, dev=dev).splits["test"].notes["of_a_group_that_is_in_train"] == 20


def test_the_scores_tell_domains_apart_and_resample_pairs_whole(folder):
    from heldout.baselines import write_baseline_run

    rows = [row(n, pair=f"p{n // 2}", domain=("books", "films")[n % 4 // 2]) for n in range(100, 120)]
    write(folder, "test", rows)
    scores = write_baseline_run(folder / "run", "majority", prepared(folder), seed=0, run_options={"test": ["test=x"]})
    assert {key: part["n"] for key, part in scores["test"]["slices"].items() if key.startswith("domain")} == {
        "domain=books": 10,
        "domain=films": 10,
    }
    assert "10 groups" in scores["test"]["metrics"]["accuracy"]["method"]


def test_excluded_texts_are_taken_out_of_train_and_counted(folder):
    long = "the two of them row out to the island every spring and nobody in the village has ever asked them why"
    write(folder, "train", [*(row(n) for n in range(60)), {"text": long, "label": "positive"}])
    # Labels play no part in what is excluded, so a source may have none.
    gone = write(folder, "gone", [{"text": row(n)["text"].title()} for n in (1, 2)] + [{"text": long + " indeed"}])
    result = prepared(folder, "--exclude", gone)
    assert result.splits["train"].dropped == {"excluded_exact": 2, "excluded_near": 1}
    kept = {example.text["text"] for name in ("train", "dev") for example in result.splits[name].examples}
    assert len(kept) == 58
    assert not kept & {row(1)["text"], row(2)["text"], long}


def test_an_excluded_test_can_be_scored(folder):
    write(folder, "test", [row(n) for n in range(10)])
    with pytest.raises(Refused, match="all 10 of its texts stand in train"):
        prepared(folder)
    result = prepared(folder, "--exclude", f"{folder}/test.jsonl")
    assert result.ledger.overlap["train/test exact"] == 0
    assert len(result.splits["train"].examples) + len(result.splits["dev"].examples) == 50


@pytest.mark.parametrize("way", ["same file", "another path", "a copy", "a part"])
def test_a_test_that_was_trained_on_is_refused_unless_allowed_and_then_noted(folder, way):
    source = {
        "same file": f"{folder}/train.jsonl",
        "another path": f"{folder}/../{folder.name}/train.jsonl",
        "a copy": write(folder, "copy", [row(n, id=f"new-{n}") for n in range(60)]),
        "a part": write(folder, "part", [row(n) for n in range(0, 60, 3)]),
    }[way]
    with pytest.raises(Refused, match=r"--test test=.*stand in train .*--allow-fitted-test"):
        prepared(folder, test=source)
    result = prepared(folder, "--allow-fitted-test", test=source)
    n = len(result.splits["test"].examples)
    assert result.ledger.splits["test"]["notes"]["stands_whole_in_train"] == n


def test_a_test_that_equals_dev_is_refused_and_once_allowed_the_ledger_knows_it_by_its_hash(folder):
    with pytest.raises(Refused, match=r"--test test=.*stand in dev"):
        prepared(folder, dev=f"{folder}/test.jsonl")
    result = prepared(folder, "--allow-fitted-test", dev=f"{folder}/test.jsonl")
    assert result.ledger.splits["test"]["notes"]["stands_whole_in_dev"] == 20
    ledger = result.ledger.with_fitted("temperature", "dev", result.splits["dev"].hash, 20)
    assert ledger.fitted_on(result.splits["test"].hash) == ["temperature"]


def test_a_dev_that_equals_train_is_refused(folder):
    with pytest.raises(Refused, match=r"--dev .*train\.jsonl: all 60 of its texts stand in train"):
        prepared(folder, dev=f"{folder}/train.jsonl")


def test_one_class_only_is_refused(folder):
    write(folder, "train", [row(n, "positive") for n in range(20)])
    with pytest.raises(Refused, match=r"train\.jsonl: every example is 'positive'; a classifier needs two labels"):
        prepared(folder)


def test_a_test_label_that_train_lacks_is_refused_by_row(folder):
    write(folder, "yelp", [row(200), {"text": "so so", "label": "neutral"}])
    with pytest.raises(Refused, match=r"yelp\.jsonl, line 2: label 'neutral' is not one of negative, positive"):
        prepared(folder)


def test_excluding_every_example_of_a_label_is_refused(folder):
    gone = write(folder, "gone", [row(n) for n in range(0, 60, 2)])
    with pytest.raises(Refused, match="takes out every example of 'negative'"):
        prepared(folder, "--exclude", gone)


@pytest.mark.parametrize("flag", ["--column", "--label"])
def test_an_option_for_a_split_that_is_not_there_is_refused_naming_those_that_are(folder, flag):
    value = {"--column": "ylep:text=text", "--label": "ylep:positive=negative"}[flag]
    with pytest.raises(Refused, match=rf"{flag} {value}.*splits of this call: .*train.*yelp"):
        prepared(folder, flag, value)


def test_a_label_that_is_only_in_what_a_limit_leaves_out_can_still_be_renamed(folder):
    write(folder, "test", [*(row(n) for n in range(100, 120)), row(120) | {"label": "mixed"}])
    result = prepared(folder, "--limit-test", "2", "--label", "mixed=-")
    assert result.splits["test"].dropped == {"no_label": 1}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "0"], "--limit 0: give 1 or more"),
        (["--dev-size", "-3"], "--dev-size -3: give 1 or more"),
        (["--dev-share", "1.5"], "--dev-share 1.5: give a share between 0 and 1"),
    ],
)
def test_numbers_that_leave_nothing_are_refused(folder, arguments, message):
    with pytest.raises(Refused, match=message):
        prepared(folder, *arguments)


def test_test_sets_are_named_in_order():
    assert list(parse_tests(["b=x.csv", "a=org/name@config:split", "c=y=z.csv"]).items()) == [
        ("b", "x.csv"),
        ("a", "org/name@config:split"),
        ("c", "y=z.csv"),
    ]


@pytest.mark.parametrize("value", ["yelp.csv", "=yelp.csv", "yelp=", "train=a.csv", "dev=a.csv", "../up=a", "a/b=c"])
def test_a_test_that_is_not_name_and_source_is_refused(value):
    with pytest.raises(Refused, match="--test"):
        parse_tests([value])


def test_a_name_given_twice_is_refused():
    with pytest.raises(Refused, match=r"--test a=y\.csv: 'a' names x\.csv already"):
        parse_tests(["a=x.csv", "a=y.csv"])


def test_load_reads_one_source_with_the_labels_of_a_run(folder):
    options = parse(PrepareOptions, [], prog="heldout predict", description="")
    loaded = load("sentiment", f"{folder}/test.jsonl", options, labels=("negative", "positive"), limit=4, seed=1)
    assert len(loaded.examples) == 4
    assert loaded.hash == content_hash(loaded.examples)
