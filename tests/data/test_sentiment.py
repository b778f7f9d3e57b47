import pytest

from heldout.data import load_task, task_names
from heldout.data.prepare import PrepareOptions, load, prepare
from heldout.data.sources import SourceOptions
from heldout.errors import Refused
from heldout.records import Example


def test_tasks_are_found_by_listing_the_folder():
    assert "sentiment" in task_names()
    assert load_task("sentiment").name == "sentiment"
    for name in task_names():
        assert load_task(name).name == name
    with pytest.raises(Refused, match=r"no task 'sentimet'; did you mean sentiment\?"):
        load_task("sentimet")
    with pytest.raises(Refused, match="no task 'sources'"):
        load_task("sources")


def test_the_card_has_the_labels_of_train_in_a_natural_order_and_accuracy_first():
    train = [Example(str(n), {"text": "so"}, label) for n, label in enumerate(["positive", "neutral", "negative"])]
    card = load_task("sentiment").card(train)
    assert card.labels == ("negative", "neutral", "positive")
    assert card.metrics == ("accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_mass")
    assert (card.name, card.kind) == ("sentiment", "label")


SETS = {
    "imdb/test.jsonl.gz": (25_000, 2, {}),
    "cad_imdb/new/train.tsv": (1707, 2, {}),
    "cad_imdb/combined_paired/test_paired.tsv": (976, 2, {"column": ("pair=batch_id",)}),
    "sst_mr_cr_mpqa_subj_trec/stsa.fine.train": (8544, 5, {}),
    "sst_mr_cr_mpqa_subj_trec/stsa.binary.test": (1821, 2, {}),
    "sst_mr_cr_mpqa_subj_trec/rt-polarity.all": (10_662, 2, {"encoding": ("latin-1",)}),
    "sst_mr_cr_mpqa_subj_trec/mpqa.all": (10_603, 2, {}),
    "sentiment_labelled_sentences/yelp_labelled.txt": (1000, 2, {}),
    "sentiment_labelled_sentences/amazon_cells_labelled.txt": (1000, 2, {}),
    "sentiment_labelled_sentences/imdb_labelled.txt": (1000, 2, {}),
    "becel/sst2/validation.tsv": (872, 2, {}),
}


@pytest.mark.data
@pytest.mark.parametrize("name", SETS)
def test_a_published_set_is_read_whole(real_data, name):
    n, labels, options = SETS[name]
    loaded = load("sentiment", str(real_data / name), SourceOptions(**options))
    assert len(loaded.examples) == n
    found = loaded.split().labels
    assert len(found) == labels
    if labels == 2:
        assert set(found) == {"negative", "positive"}
    assert not any("<br />" in example.text["text"] for example in loaded.examples)
    assert max(len(example.text["text"]) for example in loaded.examples) < 15_000, "no row swallowed its neighbours"


@pytest.mark.data
def test_the_two_of_a_pair_of_cad_imdb_stay_on_one_side(real_data):
    source = real_data / "cad_imdb" / "combined_paired"
    options = PrepareOptions(column=("pair=batch_id",), dev_size=100)
    result = prepare(
        "sentiment",
        train=str(source / "dev_paired.tsv"),
        dev="",
        tests={"test": str(source / "test_paired.tsv")},
        options=options,
        seed=0,
    )
    sides = [{example.about["pair"] for example in result.splits[name].examples} for name in ("train", "dev")]
    assert len(sides[0]) + len(sides[1]) == 245
    assert not sides[0] & sides[1]
    assert result.splits["dev"].split().labels == {"negative": 50, "positive": 50}
