import json

import pytest

from heldout.data import load_task
from heldout.data.prepare import PrepareOptions, load, prepare
from heldout.data.sources import SourceOptions
from heldout.errors import Refused
from heldout.records import Example, content_hash

NUMBERS = ("0=entailment", "1=neutral", "2=contradiction")
ROWS = [
    ("A man waters his roses.", "A man is in a garden.", "entailment"),
    ("A man waters his roses.", "He won a prize for them.", "neutral"),
    ("A man waters his roses.", "Nobody is outside.", "contradiction"),
    ("Two girls share a kite.", "The girls are alone with a book.", "contradiction"),
]


def write(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return str(path)


def snli(tmp_path, rows=ROWS, name="snli_1.0_dev.jsonl"):
    """Rows in the form of snli_1.0: gold_label, parses, the annotators' labels, captionID and pairID."""
    lines = [
        {
            "annotator_labels": [label] * 5,
            "captionID": f"{n // 3}.jpg#0",
            "gold_label": label,
            "pairID": f"{n // 3}.jpg#0r{n}",
            "sentence1": premise,
            "sentence1_parse": f"(ROOT {premise})",
            "sentence2": hypothesis,
        }
        for n, (premise, hypothesis, label) in enumerate(rows)
    ]
    return write(tmp_path / name, "".join(json.dumps(line) + "\n" for line in lines))


def fields(loaded):
    return [(e.text["premise"], e.text["hypothesis"], e.gold) for e in loaded.examples]


def test_snlis_jsonl_is_read_with_its_own_ids_and_a_dash_is_dropped_and_counted(tmp_path):
    # FAULTS C1: 785 train rows of SNLI have no label that three of five agreed on.
    loaded = load("nli", snli(tmp_path, [*ROWS, ("A dog naps.", "A dog rests.", "-")]), SourceOptions())
    assert fields(loaded) == ROWS
    assert loaded.dropped == {"no_label": 1}
    assert [example.id for example in loaded.examples][:2] == ["0.jpg#0r0", "0.jpg#0r1"]
    assert set(loaded.examples[0].text) == {"premise", "hypothesis"}


def test_rows_of_one_premise_are_a_group_and_the_same_in_every_file(tmp_path):
    loaded = load("nli", snli(tmp_path), SourceOptions())
    groups = [example.about["group"] for example in loaded.examples]
    assert len(set(groups[:3])) == 1
    assert groups[3] != groups[0]
    shouted = [(premise.upper(), hypothesis, label) for premise, hypothesis, label in ROWS[:2]]
    again = load("nli", snli(tmp_path, shouted, "other.jsonl"), SourceOptions())
    assert [example.about["group"] for example in again.examples] == groups[:2]
    alone = load("nli", snli(tmp_path, ROWS[2:], "alone.jsonl"), SourceOptions())
    assert [dict(example.about) for example in alone.examples] == [{}, {}]


def test_a_pair_or_a_group_of_the_file_goes_before_the_premise(tmp_path):
    lines = ["sentence1\tsentence2\tgold_label\tset"]
    lines += [f"{premise}\t{hypothesis}\t{label}\t{n // 2}" for n, (premise, hypothesis, label) in enumerate(ROWS)]
    path = write(tmp_path / "pairs.tsv", "\n".join(lines) + "\n")
    paired = load("nli", path, SourceOptions(column=("pair=set",)))
    assert [dict(e.about) for e in paired.examples] == [{"pair": n, "group": n} for n in ("0", "0", "1", "1")]
    grouped = load("nli", path, SourceOptions(column=("group=set",)))
    assert [dict(e.about) for e in grouped.examples] == [{"group": n} for n in ("0", "0", "1", "1")]


def test_numbers_are_refused_until_they_are_named(tmp_path):
    # FAULTS C2: what 0 is differs from set to set.
    lines = [f"{premise}\t{hypothesis}\t{n % 3}" for n, (premise, hypothesis, _) in enumerate(ROWS)]
    path = write(tmp_path / "numbers.tsv", "\n".join(["premise\thypothesis\tlabel", *lines]) + "\n")
    with pytest.raises(Refused, match=r"its labels 0, 1, 2 are numbers.*--label 0=entailment"):
        load("nli", path, SourceOptions())
    with pytest.raises(Refused, match="its labels 1, 2 are numbers"):
        load("nli", path, SourceOptions(label=("0=entailment",)))
    named = load("nli", path, SourceOptions(label=NUMBERS))
    assert [gold for *_, gold in fields(named)] == ["entailment", "neutral", "contradiction", "entailment"]


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("CONTRADICTION", "contradiction"),
        ("Neutral", "neutral"),
        ("not_entailment", "non-entailment"),
        ("non-entailment", "non-entailment"),
        ("e", "entailment"),
        ("-1", None),
        ("SUPPORTS", "SUPPORTS"),
    ],
)
def test_a_label_is_known_by_its_name_whatever_its_spelling(tmp_path, raw, name):
    path = write(tmp_path / "a.csv", f"premise,hypothesis,label\nA cat.,A pet.,entailment\nA cat.,A dog.,{raw}\n")
    loaded = load("nli", path, SourceOptions())
    assert [e.gold for e in loaded.examples] == (["entailment"] if name is None else ["entailment", name])
    assert loaded.dropped == ({"no_label": 1} if name is None else {})


def triple(folder, ending="train", s1=None, labels=None):
    folder.mkdir()
    s1 = [premise for premise, *_ in ROWS] if s1 is None else s1
    labels = [label for *_, label in ROWS] if labels is None else labels
    write(folder / f"s2.{ending}", "".join(f"{hypothesis}\r\n" for _, hypothesis, _ in ROWS))
    write(folder / f"labels.{ending}", "\n".join(labels) + "\n")
    return write(folder / f"s1.{ending}", "\n".join(s1) + "\n")


def test_infersents_three_files_are_one_set_named_by_the_first(tmp_path):
    loaded = load("nli", triple(tmp_path / "snli"), SourceOptions())
    assert fields(loaded) == ROWS
    blank = load("nli", triple(tmp_path / "blank", s1=["", *(row[0] for row in ROWS[1:])]), SourceOptions())
    assert blank.dropped == {"empty_text": 1}
    assert fields(blank) == ROWS[1:]
    assert [example.id for example in blank.examples] == ["s1.train:2", "s1.train:3", "s1.train:4"]


def test_three_files_that_do_not_go_together_are_refused(tmp_path):
    with pytest.raises(Refused, match="premise has 4 lines, hypothesis has 4 lines, label has 3 lines"):
        load("nli", triple(tmp_path / "short", labels=["neutral"] * 3), SourceOptions())
    path = triple(tmp_path / "gone")
    (tmp_path / "gone" / "labels.train").unlink()
    with pytest.raises(Refused, match=r"labels\.train: no such file"):
        load("nli", path, SourceOptions())


def test_a_table_of_hans_has_its_heuristic_as_the_phenomenon(tmp_path):
    lines = ["gold_label\tsentence1\tsentence2\tpairID\theuristic\tsubcase"]
    lines += ["non-entailment\tThe cook saw the guest .\tThe guest saw the cook .\tex0\tlexical_overlap\tln_swap"]
    lines += ["entailment\tThe cook and the guest sang .\tThe guest sang .\tex1\tsubsequence\tse_conj"]
    loaded = load("nli", write(tmp_path / "hans.txt", "\n".join(lines) + "\n"), SourceOptions())
    assert [example.about["phenomenon"] for example in loaded.examples] == ["lexical_overlap", "subsequence"]
    assert [example.id for example in loaded.examples] == ["ex0", "ex1"]


def test_a_file_of_text_and_hypothesis_in_windows_encoding_and_line_ends(tmp_path):
    text = 'index\tText\tHypothesis\tgold_label\r\n0\tA café’s “guest” left.\tHe said "no.\tneutral\r\n'
    path = write(tmp_path / "clean.txt", text, "cp1252")
    with pytest.raises(Refused, match="--encoding cp1252"):
        load("nli", path, SourceOptions())
    loaded = load("nli", path, SourceOptions(encoding=("cp1252",)))
    assert fields(loaded) == [("A café’s “guest” left.", 'He said "no.', "neutral")]


def test_columns_by_other_names_are_asked_for_and_taken(tmp_path):
    path = write(tmp_path / "fever.csv", "evidence,claim,label\nA cat sat.,A pet sat.,entailment\n")
    with pytest.raises(Refused, match=r"no column for premise.*--column premise=COLUMN"):
        load("nli", path, SourceOptions())
    loaded = load("nli", path, SourceOptions(column=("premise=evidence", "hypothesis=claim")))
    assert fields(loaded) == [("A cat sat.", "A pet sat.", "entailment")]


def card_of(*labels):
    return load_task("nli").card([Example(label, {}, label) for label in labels])


def test_the_card_has_trains_labels_in_order_and_collapses_three_to_two():
    three = card_of("contradiction", "neutral", "entailment")
    assert three.labels == ("entailment", "neutral", "contradiction")
    assert three.collapse == {"neutral": "non-entailment", "contradiction": "non-entailment"}
    assert card_of("contradiction", "entailment").collapse == {"contradiction": "non-entailment"}
    assert card_of("non-entailment", "entailment").labels == ("entailment", "non-entailment")
    assert card_of("non-entailment", "entailment").collapse == {}
    assert card_of("SUPPORTS", "REFUTES").collapse == {}


def many(tmp_path, name, start, n):
    """n premises with three hypotheses each, all of their own words."""
    rows = [
        (f"In town {p} a {p * 7}-year-old paints boat {p + 3}.", f"Claim {h} about town {p}.", label)
        for p in range(start, start + n)
        for h, label in enumerate(("entailment", "neutral", "contradiction"))
    ]
    return snli(tmp_path, rows, name)


def test_premises_stay_on_one_side_of_a_carved_dev_and_go_out_with_exclude(tmp_path):
    train, test = many(tmp_path, "train.jsonl", 0, 20), many(tmp_path, "test.jsonl", 15, 10)
    options = PrepareOptions(dev_size=12, exclude=(write(tmp_path / "out.csv", PREMISES),))
    prepared = prepare("nli", train=train, dev=None, tests={"test": test}, options=options, seed=1)
    splits = {name: loaded.examples for name, loaded in prepared.splits.items()}
    premises = {name: {example.text["premise"] for example in split} for name, split in splits.items()}
    assert len(splits["dev"]) == 12
    assert len(premises["dev"]) == 4
    assert not premises["dev"] & premises["train"]
    assert len(premises["dev"] | premises["train"]) == 18
    assert prepared.splits["train"].dropped == {"excluded_exact": 6}
    found = [example.about.get("overlap") for example in splits["test"]]
    in_train = [example.text["premise"] in premises["train"] for example in splits["test"]]
    assert [one == "exact" for one in found] == in_train
    assert sum(in_train) >= 3


PREMISES = "premise\nIn town 0 a 0-year-old paints boat 3.\nin TOWN 1 a 7-year-old paints boat 4.\n"


def test_two_way_gold_is_admitted_beside_three_way_train_and_a_strange_label_is_not(tmp_path):
    train = many(tmp_path, "train.jsonl", 0, 12)
    hans = snli(tmp_path, [("The cook sang .", "The guest sang .", "non-entailment")], "hans.jsonl")
    tests = {"hans": hans}
    prepared = prepare("nli", train=train, dev=None, tests=tests, options=PrepareOptions(dev_size=6), seed=1)
    assert [example.gold for example in prepared.splits["hans"].examples] == ["non-entailment"]
    odd = snli(tmp_path, [("The cook sang .", "The guest sang .", "maybe")], "odd.jsonl")
    with pytest.raises(Refused, match="'maybe' is not one of entailment, neutral, contradiction, non-entailment; "):
        prepare("nli", train=train, dev=None, tests={"odd": odd}, options=PrepareOptions(dev_size=6), seed=1)


FEATURES = """---
dataset_info:
  features:
  - name: premise
    dtype: string
  - name: hypothesis
    dtype: string
  - name: genre
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': entailment
          '1': neutral
          '2': contradiction
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train.jsonl
---
# Pairs made up for a test
"""
READ = """
import json
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
loaded = load("nli", "made-up/pairs:train", SourceOptions(), limit={limit}, seed=3)
rows = [[e.text["premise"], e.text["hypothesis"], e.gold, e.about["domain"]] for e in loaded.examples]
print(json.dumps([rows, loaded.dropped, loaded.notes]))
"""


@pytest.mark.parametrize("limit", [None, 2])
def test_a_set_is_read_from_the_hub_by_its_class_names_and_minus_one_is_dropped(hub, tmp_path, limit):
    folder = hub.folder / "datasets" / "made-up" / "pairs"
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text(FEATURES)
    numbers = {"entailment": 0, "neutral": 1, "contradiction": 2, "none": -1}
    rows = [*ROWS, ("A dog naps.", "A dog rests.", "none")]
    lines = [{"premise": p, "hypothesis": h, "genre": "letters", "label": numbers[gold]} for p, h, gold in rows]
    (folder / "data" / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = hub.run(READ.format(limit=limit), tmp_path / "home")
    assert done.returncode == 0, done.stderr
    found, dropped, notes = json.loads(done.stdout)
    assert dropped == {"no_label": 1}
    assert all(row[:3] in [list(pair) for pair in ROWS] and row[3] == "letters" for row in found)
    assert len(found) == (2 if limit else 4)
    assert notes.get("left_out_by_limit", 0) == (2 if limit else 0)


SNLI = {"label": NUMBERS}
NEGATION = {"encoding": ("cp1252",)}
RTE = {"label": ("0=entailment", "1=non-entailment")}
#: What is in each published set: rows, labels, and the options that say what the file itself does not.
SETS = {
    "becel/snli/validation.tsv": (9842, 3, SNLI),
    "becel/snli/test.tsv": (9824, 3, SNLI),
    "becel/snli/semantic.tsv": (4406, 3, {"column": ("hypothesis=hypothesis_paraphrase",), **SNLI}),
    "becel/snli/transitive.tsv": (717, 1, {"label": ("2=contradiction", "3=-")}),
    "becel/rte/train.tsv": (2490, 2, RTE),
    "becel/rte/validation.tsv": (277, 2, RTE),
    "cad_snli/all_combined/train.tsv": (8330, 3, {}),
    "cad_snli/original/test.tsv": (400, 3, {}),
    "cad_snli/revised_hypothesis/test.tsv": (800, 3, {"column": ("pair=sentence1",)}),
    "cad_snli/revised_premise/test.tsv": (800, 3, {"column": ("pair=sentence2",)}),
    "mnli_dev_matched/mnli_development_set_number_of_correct_responses.txt": (9815, 3, {}),
    "hans/hans_style_regenerated_6000.tsv": (6000, 2, {}),
    "hans/mnli_contradicting_examples": (
        261,
        2,
        {"header": ("premise,hypothesis,label",), "delimiter": ("tab",)},
    ),
    "negation_nli/clean/SNLI.txt": (1500, 3, NEGATION),
    "negation_nli/clean/MNLI.txt": (1500, 3, NEGATION),
    "negation_nli/clean/RTE.txt": (1500, 2, NEGATION),
    "negation_nli/processed/MNLI_dev_matched.tsv": (1500, 3, {}),
}


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
def test_a_published_set_is_read_whole(real_data, name):
    n, labels, options = SETS[name]
    loaded = load("nli", str(real_data / name), SourceOptions(**options))
    assert len(loaded.examples) == n
    assert len(loaded.split().labels) == labels
    assert set(loaded.split().labels) <= {"entailment", "neutral", "contradiction", "non-entailment"}
    assert all("\t" not in text and "\n" not in text for e in loaded.examples for text in e.text.values())
    assert max(len(example.text["hypothesis"]) for example in loaded.examples) < 500, "no row swallowed its neighbours"
    assert loaded.hash == content_hash(loaded.examples)


@pytest.mark.data
def test_a_hundred_rows_of_negated_snli_have_a_premise_of_snlis_dev(real_data):
    dev = load("nli", str(real_data / "becel/snli/validation.tsv"), SourceOptions(**SNLI)).examples
    negated = load("nli", str(real_data / "negation_nli/clean/SNLI.txt"), SourceOptions(**NEGATION)).examples
    # Rows in threes: the premise, the hypothesis, both are negated; the second has the premise as it was.
    plain = [example.text["premise"] for example in negated[1::3]]
    shared = set(plain) & {example.text["premise"] for example in dev}
    assert (len(plain), sum(premise in shared for premise in plain), len(shared)) == (500, 100, 41)
