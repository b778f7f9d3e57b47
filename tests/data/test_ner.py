import json

import pytest

from heldout.bio import strict
from heldout.data.ner import DATA, card, mark
from heldout.data.prepare import PrepareOptions, load, prepare
from heldout.data.sources import SourceOptions, reading
from heldout.data.sources import read as read_source
from heldout.errors import Refused
from heldout.records import Example

COLUMNS = "Greta I-PER\nBerg I-PER\nsaw O\nMalmö I-LOC\n\nthe O\nRiksdag I-ORG\nrests O\n\nnobody O\nthere O\n"


@pytest.fixture
def trip(tmp_path):
    path = tmp_path / "trip.conll"
    path.write_text(COLUMNS)
    return path


def rows(tmp_path, *values, name="rows.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in values))
    return str(path)


def options(*labels, **more):
    return SourceOptions(label=labels, **more)


def test_a_file_of_columns_becomes_sentences_in_iob2(trip):
    loaded = load("ner", str(trip), options())
    assert loaded.examples[0] == Example(
        "trip.conll:1", {"words": ["Greta", "Berg", "saw", "Malmö"]}, ["B-PER", "I-PER", "O", "B-LOC"], {}
    )
    assert loaded.notes == {"tags_converted_from_IO_to_IOB2": 3}
    assert card(loaded.examples).labels == ("O", "B-LOC", "I-LOC", "B-ORG", "I-ORG", "B-PER", "I-PER")


def test_rows_with_lists_are_read_with_their_ids_and_what_is_known_of_them(tmp_path):
    source = rows(
        tmp_path,
        {"id": "a", "tokens": ["Greta", "left"], "ner_tags": ["B-PER", "O"], "domain": "trips", "group": "g"},
        {"id": "b", "tokens": [], "ner_tags": [], "domain": "trips"},
        {"id": "c", "tokens": ["\u200b", " "], "ner_tags": ["O", "O"]},
    )
    loaded = load("ner", source, options())
    assert [(e.id, e.about) for e in loaded.examples] == [("a", {"domain": "trips", "group": "g"}), ("c", {})]
    assert loaded.dropped == {"no_words": 1}
    assert loaded.notes == {"words_of_white_space": 1}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"words": ["a", "b"], "tags": ["O"]}, "line 1: 2 words but 1 tags"),
        ({"words": "a b", "tags": ["O", "O"]}, "line 1: words is 'a b', not a list"),
        ({"words": ["a"], "tags": None}, "line 1: tags is None, not a list"),
        ({"words": ["a", None], "tags": ["O", "O"]}, "line 1, word 2: words holds None, which is not a word"),
        ({"words": ["a", "b\ud800"], "tags": ["O", "O"]}, "line 1, word 2: words holds .*, which is not a word"),
        ({"words": ["a", "b"], "tags": ["O", None]}, "line 1, word 2: the word has no tag"),
        ({"words": ["a", "b"], "tags": ["O", 3]}, "line 1, word 2: tag 3 is a number; name it with --label 3=B-TYPE"),
        ({"words": ["a", "b"], "tags": ["O", -100]}, "line 1, word 2: tag -100 is a number"),
        ({"words": ["a", "b"]}, "no column for tags"),
    ],
)
def test_rows_that_are_no_tagged_sentences_are_refused_with_their_place(tmp_path, row, message):
    with pytest.raises(Refused, match=message):
        load("ner", rows(tmp_path, row), options())


def test_types_are_renamed_and_left_out_by_a_stated_map(trip):
    loaded = load("ner", str(trip), options("PER=person", "LOC=place", "ORG=-"))
    assert [strict(e.gold) for e in loaded.examples] == [[(0, 2, "person"), (3, 4, "place")], [], []]
    assert loaded.notes["entities_read_as_O"] == 1
    assert {"PER", "LOC", "ORG", "I-PER"} <= loaded.values


def test_two_types_that_become_one_stay_two_entities(tmp_path):
    source = rows(tmp_path, {"words": ["Malmö", "FF"], "tags": ["B-LOC", "B-ORG"]})
    assert load("ner", source, options("LOC=x", "ORG=x")).examples[0].gold == ["B-x", "B-x"]


def test_numbers_are_tags_once_they_are_named(tmp_path):
    source = rows(tmp_path, {"words": ["Greta", "Berg", "saw", "Malmö"], "tags": [1, 2, 0, 3]})
    loaded = load("ner", source, options("0=O", "1=B-PER", "2=I-PER", "3=-"))
    assert loaded.examples[0].gold == ["B-PER", "I-PER", "O", "O"]


def test_types_that_train_lacks_are_refused_by_name_with_the_option(trip):
    known = ["O", "B-person", "I-person"]
    with pytest.raises(
        Refused, match=r"line 1: the entity types 'PER', 'LOC', 'ORG' are not among person.*--label PER="
    ):
        load("ner", str(trip), options(), labels=known)
    loaded = load("ner", str(trip), options("PER=person", "LOC=-", "ORG=-"), labels=known)
    assert len(loaded.examples) == 3


def test_a_run_maps_the_types_of_a_shifted_domain_to_those_of_train(tmp_path, trip):
    train = rows(tmp_path, *[{"words": [f"n{n}", "went"], "tags": ["B-person", "O"]} for n in range(12)])
    labels = ("trip:PER=person", "trip:LOC=-", "trip:ORG=-")
    prepared = prepare(
        "ner", train=train, dev=None, tests={"trip": str(trip)}, options=PrepareOptions(label=labels), seed=0
    )
    assert prepared.card.labels == ("O", "B-person", "I-person")
    assert strict(prepared.splits["trip"].examples[0].gold) == [(0, 2, "person")]
    with pytest.raises(Refused, match="no row of trip has the label 'PERS'; did you mean PER"):
        prepare(
            "ner",
            train=train,
            dev=None,
            tests={"trip": str(trip)},
            options=PrepareOptions(label=(*labels, "trip:PERS=person")),
            seed=0,
        )


def test_entities_whose_words_train_does_not_name_are_marked_case_and_spaces_folded():
    def example(*words, tags):
        return Example("e", {"words": list(words)}, tags.split(), {"domain": "d"})

    train = [example("Greta", "Berg", "slept", tags="B-PER I-PER O"), example("malmö", tags="B-LOC")]
    test = [
        example("GRETA", "berg", "and", "Greta", "in", "Malmö", tags="B-PER I-PER O B-PER O B-ORG"),
        example("nobody", tags="O"),
    ]
    # The name alone is unseen; Malmö was seen, though as another type.
    assert [e.about for e in mark(train, test)] == [{"domain": "d", "unseen": [3]}, {"domain": "d", "unseen": []}]


def test_a_run_without_entities_is_refused(tmp_path):
    source = rows(tmp_path, *[{"words": [f"w{n}"], "tags": ["O"]} for n in range(9)])
    with pytest.raises(Refused, match="every example is 'O'"):
        prepare("ner", train=source, dev=None, tests={}, options=PrepareOptions(), seed=0)


def test_texts_that_are_excluded_need_no_tags(tmp_path, trip):
    (tmp_path / "out.txt").write_text("Greta\nBerg\nsaw\nMalmö\n")
    how = reading(SourceOptions(), "exclude", ["exclude"])
    assert DATA.texts(read_source(str(tmp_path / "out.txt"), how, files=DATA.files), how) == ["Greta Berg saw Malmö"]
    prepared = prepare(
        "ner",
        train=str(trip),
        dev=rows(tmp_path, {"words": ["w"], "tags": ["B-PER"]}),
        tests={},
        options=PrepareOptions(exclude=(str(tmp_path / "out.txt"),)),
        seed=0,
    )
    assert [len(e.gold) for e in prepared.splits["train"].examples] == [3, 2]


def test_a_parquet_file_of_the_hub_knows_the_names_of_its_tags(tmp_path):
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {
            "tokens": datasets.List(datasets.Value("string")),
            "ner_tags": datasets.List(datasets.ClassLabel(names=["O", "B-PER", "I-PER"])),
        }
    )
    made = datasets.Dataset.from_dict({"tokens": [["Greta", "Berg", "left"]], "ner_tags": [[1, 2, 0]]}, features)
    made.to_parquet(tmp_path / "made.parquet")
    assert load("ner", str(tmp_path / "made.parquet"), options()).examples[0].gold == ["B-PER", "I-PER", "O"]


CARD = """---
dataset_info:
  features:
  - name: id
    dtype: string
  - name: tokens
    sequence: string
  - name: ner_tags
    sequence:
      class_label:
        names:
          '0': O
          '1': B-PER
          '2': I-PER
          '3': B-LOC
          '4': I-LOC
configs:
- config_name: default
  data_files:
  - split: train
    path: train.jsonl
---
"""


def test_a_set_of_the_hub_is_read_by_id_with_the_names_of_its_tags(hub, tmp_path):
    folder = hub.folder / "datasets" / "made-up" / "trips"
    folder.mkdir(parents=True)
    (folder / "README.md").write_text(CARD)
    made = [
        {"id": f"s{n}", "tokens": [f"Name{n}", "Berg", "left", "Malmö"], "ner_tags": [1, 2, 0, 3]} for n in range(20)
    ]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    code = """
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
whole = load("ner", "made-up/trips:train", SourceOptions(label=("LOC=-",)))
print(len(whole.examples), whole.examples[0].to_json())
sample = load("ner", "made-up/trips:train", SourceOptions(), limit=5, seed=3)
print(len(sample.examples), sample.examples[0].gold, dict(sample.notes))
"""
    done = hub.run(code, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("20 {'id': 's0', 'text': {'words': ['Name0', 'Berg', 'left', 'Malmö']}")
    assert "'gold': ['B-PER', 'I-PER', 'O', 'O']" in first
    assert second == "5 ['B-PER', 'I-PER', 'O', 'B-LOC'] {'rows_streamed': 20, 'left_out_by_limit': 15}"


def test_splits_are_cut_by_text_alone_whatever_the_tags_are_called(tmp_path):
    # FAULTS N7: a split that was placed with the help of gold entities. Here renaming all types moves nothing.
    plain = [{"words": [f"w{n}", f"v{n}", "end"], "tags": ["B-A" if n % 3 else "O", "O", "B-B"]} for n in range(40)]
    turned = [{**row, "tags": [tag.translate(str.maketrans("AB", "BA")) for tag in row["tags"]]} for row in plain]
    turned = [{**row, "tags": [tag.replace("A-", "B-") for tag in row["tags"]]} for row in turned]
    assert plain != turned
    kept = []
    for n, each in enumerate((plain, turned)):
        source = rows(tmp_path, *each, name=f"rows{n}.jsonl")
        splits = prepare("ner", train=source, dev=None, tests={}, options=PrepareOptions(), seed=0).splits
        kept.append([e.text["words"][0] for e in splits["dev"].examples])
    assert kept[0] == kept[1]
    assert len(kept[0]) == 4


def test_real_sentences_of_wikigold_come_in_iob2_by_documents(real_data):
    loaded = load("ner", str(real_data / "wikigold" / "wikigold.clean.conll"), options())
    assert len(loaded.examples) == 1696
    assert sum(len(e.gold) for e in loaded.examples) == 39007
    assert len({e.about["group"] for e in loaded.examples}) == 145
    # The README counts I- only: 1,958 + 1,634 + 1,447 + 1,392 words, of which 3,558 begin an entity.
    tags = [tag for e in loaded.examples for tag in e.gold]
    assert sum(tag != "O" for tag in tags) == 6431
    assert sum(tag[0] == "B" for tag in tags) == sum(len(strict(e.gold)) for e in loaded.examples) == 3558


def test_unseen_entities_of_wnut_are_all_of_its_test_set(real_data):
    train = load("ner", str(real_data / "wnut17" / "wnut17train.conll"), options()).examples
    test = load("ner", str(real_data / "wnut17" / "emerging.test.annotated"), options()).examples
    marked = mark(train, test)
    unseen, gold = sum(len(e.about["unseen"]) for e in marked), sum(len(strict(e.gold)) for e in test)
    assert gold == 1079
    # Out of dev and test every entity of train was taken, though not those that only differ in case.
    assert unseen > 0.9 * gold
