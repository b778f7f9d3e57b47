import tarfile

import pytest

from heldout.data.names import Reading
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions, read
from heldout.errors import Refused


@pytest.fixture
def imdb(tmp_path):
    root = tmp_path / "aclImdb"
    for split in ("train", "test"):
        for polarity, names in {"neg": ("10_2", "2_1"), "pos": ("0_9",)}.items():
            folder = root / split / polarity
            folder.mkdir(parents=True)
            for name in names:
                (folder / f"{name}.txt").write_text(f"So {polarity},<br />in {name}.")
    (root / "train" / "unsup").mkdir()
    (root / "train" / "unsup" / "0_0.txt").write_text("Unlabelled.")
    return root


@pytest.mark.parametrize("written", ["{root}/train", "{root}:train", "{root}/train/"])
def test_an_aclimdb_split_has_the_authors_ids_and_gold_from_its_folders(imdb, written):
    loaded = load("sentiment", written.format(root=imdb), SourceOptions())
    assert [(example.id, example.gold) for example in loaded.examples] == [
        ("train/neg/2_1", "negative"),
        ("train/neg/10_2", "negative"),
        ("train/pos/0_9", "positive"),
    ]
    assert loaded.examples[0].text == {"text": "So neg, in 2_1."}
    assert loaded.notes == {"files_without_label_not_read": 1, "texts_cleaned": 3}
    assert len(loaded.cleaning) == 2


def test_markup_stays_where_cleaning_is_off_and_that_is_recorded(imdb):
    loaded = load("sentiment", f"{imdb}:test", SourceOptions(clean=("off",)))
    assert loaded.examples[0].text == {"text": "So neg,<br />in 2_1."}
    assert loaded.cleaning == ()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{root}", r"holds the splits test, train; name one: .*aclImdb:train"),
        ("{root}:tran", r"no split 'tran'; did you mean train\?"),
        ("{root}/train/pos", r"a folder is read as aclImdb .* or as \*\.review files; this has neither"),
        ("{root}/train/pos/0_9.txt:train", r"one file without splits; leave out :train"),
    ],
)
def test_another_folder_is_refused_with_what_would_do(imdb, written, message):
    with pytest.raises(Refused, match=message):
        read(written.format(root=imdb), Reading())


def test_an_undecodable_review_is_refused_by_file_and_byte(imdb):
    (imdb / "test" / "pos" / "0_9.txt").write_bytes(b"Caf\xe9")
    with pytest.raises(Refused, match=r"test/pos/0_9\.txt: byte 3 \(0xe9\)"):
        read(f"{imdb}:test", Reading())


def test_an_empty_review_of_an_aclimdb_folder_is_dropped_and_counted(imdb):
    for number, content in enumerate(("", " \n", "\ufeff")):
        (imdb / "test" / "pos" / f"{90 + number}_8.txt").write_text(content)
    loaded = load("sentiment", f"{imdb}:test", SourceOptions())
    assert len(loaded.examples) == 3
    assert loaded.dropped == {"empty_text": 3}


REVIEW = """<review>
<unique_id>
u{n}
</unique_id>
<product_name>
Kettle & Co <new>
</product_name>
<product_type>
kitchen
</product_type>
<rating>
{rating}
</rating>
<review_text>
Boils & boils < 3 minutes ({n})
</review_text>
</review>
"""


@pytest.fixture
def kitchen(tmp_path):
    (tmp_path / "kitchen").mkdir()
    for name, rating in (("negative", "1.0"), ("positive", "5.0")):
        content = "".join(REVIEW.format(n=f"{name}{n}", rating=rating) for n in range(3))
        (tmp_path / "kitchen" / f"{name}.review").write_text(content)
    return tmp_path / "kitchen"


def test_amazon_reviews_are_cut_by_their_tags_and_grouped_by_product(kitchen):
    loaded = load("sentiment", str(kitchen), SourceOptions())
    assert [example.gold for example in loaded.examples] == ["negative"] * 3 + ["positive"] * 3
    assert loaded.examples[0].text == {"text": "Boils & boils < 3 minutes (negative0)"}
    assert loaded.examples[0].about == {"group": "Kettle & Co <new>", "domain": "kitchen"}
    assert [example.id for example in loaded.examples] == [f"kitchen:{n}" for n in range(1, 7)]


def test_one_review_file_of_another_name_takes_its_labels_from_the_stars(tmp_path):
    content = "".join(REVIEW.format(n=n, rating=rating) for n, rating in enumerate(["1.0", "2.0", "3.0", "4.0", "?"]))
    (tmp_path / "all.review").write_text(content)
    loaded = load("sentiment", str(tmp_path / "all.review"), SourceOptions())
    assert [example.gold for example in loaded.examples] == ["negative", "negative", "positive"]
    assert loaded.dropped == {"no_label": 2}


def test_a_review_file_that_is_cut_short_is_refused(kitchen):
    whole = (kitchen / "negative.review").read_text()
    (kitchen / "negative.review").write_text(whole[:-30])
    with pytest.raises(Refused, match=r"negative\.review: 3 <review> tags open and 2 close"):
        read(str(kitchen), Reading())


@pytest.mark.data
def test_the_published_tree_of_imdb_is_read(real_data, tmp_path):
    with tarfile.open(real_data / "imdb" / "aclImdb_sample.tar.gz") as archive:
        # Debian 12's Python 3.11.2 has no filters yet.
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
        texts = [member for member in archive.getnames() if member.endswith(".txt") and member.count("/") == 3]
    both = [load("sentiment", f"{tmp_path}/aclImdb:{split}", SourceOptions()) for split in ("train", "test")]
    ids = [example.id for loaded in both for example in loaded.examples]
    labelled = [name for name in texts if "/unsup/" not in name]
    assert len(ids) >= 100
    assert sorted(ids) == sorted(name.removeprefix("aclImdb/").removesuffix(".txt") for name in labelled)
    assert all((example.gold == "positive") == ("/pos/" in example.id) for part in both for example in part.examples)


@pytest.mark.data
@pytest.mark.parametrize("product", ["books", "dvd", "electronics", "kitchen_and_housewares"])
def test_the_published_amazon_reviews_are_read(real_data, product):
    loaded = load("sentiment", str(real_data / "amazon_multidomain" / product), SourceOptions())
    assert loaded.split().labels == {"negative": 1000, "positive": 1000}
    assert all(example.about.get("group") for example in loaded.examples)
