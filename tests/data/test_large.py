"""A source on disk gives the splits, the ledger and the files of one that is held: what is held is the oracle."""

import csv
import errno
import gzip
import json
import os
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from heldout.data import carving, large, load_task, row_writer, streams, survey
from heldout.data.duplicates import connect
from heldout.data.fitted import compare, read_fitted
from heldout.data.names import Reading
from heldout.data.prepare import PrepareOptions, load, prepare
from heldout.data.rows import Rows
from heldout.data.sampling import order, sample
from heldout.data.sources import SourceOptions
from heldout.data.splits import carve, limited
from heldout.errors import Failed, Refused
from heldout.records import Example, content_hash

FIELDS = ("text", "premise")
WORDS = [f"{a}{b}{c}" for a in "bdkm" for b in "aeiou" for c in "lnrst"]


@pytest.fixture
def on_disk(monkeypatch, tmp_path):
    """Files of 50 lines or more are large, and blocks end in the middle of everything."""
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(survey, "BLOCK", 7)
    monkeypatch.setattr(large, "BYTES", 1)

    def switch(on):
        monkeypatch.setattr(large, "ROWS", 50 if on else 10**9)

    switch(True)
    return switch


def texts(generator, n):
    """Texts of which some repeat, some nearly, some are blank and some hold what is folded away."""
    made = [" ".join(generator.choices(WORDS, k=generator.randrange(8, 30))) for _ in range(n)]
    for row in range(0, n, 9):
        made[row] = made[row - 1].upper() + "  "
    for row in range(4, n, 11):
        made[row] = made[row - 3] + " again and again"
    for row in range(5, n, 31):
        made[row] = "  "
    made[3] = "a <br /> break &amp; a\u2028line \ud800 é"
    return made


def rows_of(task, n=240):
    generator = random.Random(8)
    for number, text in enumerate(texts(generator, n)):
        row = {"id": f"r{number}", "label": generator.choice(["0", "1", "1", "-1"])}
        if task == "sentiment":
            row |= {"text": text, "group": f"g{number // 3}" if number % 5 else None, "domain": "a"}
        else:
            row |= {"label": ["entailment", "neutral", "CONTRADICTION", "-"][number % 4]}
            row |= {"premise": text, "hypothesis": generator.choice(WORDS), "genre": "b"}
        yield row


def written(path, rows):
    path.write_text("# a comment\n" + "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def plain(loaded, *, without=()):
    """All that a split is, as values that can be compared."""
    split = loaded.split().to_json()
    notes = {key: n for key, n in split["notes"].items() if key != "near_duplicates_looked_for_by_minhash"}
    return [list(loaded.examples), split | {"notes": notes}, loaded.values]


@pytest.mark.parametrize("task", ["sentiment", "nli"])
@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_reading_gives_the_same_examples(on_disk, tmp_path, task, ending):
    path, rows = tmp_path / f"train.{ending}", list(rows_of(task))
    if ending == "jsonl":
        written(path, rows)
    elif ending == "csv":
        rows = [{**row, "premise" if task == "nli" else "text": f"a{n} b"} for n, row in enumerate(rows)]
        with path.open("w", encoding="utf-8") as file:
            out = csv.DictWriter(file, rows[0].keys())
            out.writeheader()
            out.writerows(rows)
    else:
        import pyarrow
        import pyarrow.parquet

        rows = [json.loads(json.dumps(row).replace("\\ud800", "?")) for row in rows]
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    found = load(task, str(path), SourceOptions())
    assert isinstance(found.examples, Rows)
    on_disk(False)
    held = load(task, str(path), SourceOptions())
    assert isinstance(held.examples, tuple)
    assert plain(found) == plain(held)
    assert found.hash == held.hash == content_hash(held.examples)
    assert len(held.examples) > 100
    assert {"no_label"} <= held.dropped.keys()


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"dev_size": 30, "limit": 60},
        {"dev_share": 0.3, "column": ("pair=domain",)},
        {"label": ("0=bad", "1=-"), "clean": ("off",)},
    ],
)
@pytest.mark.parametrize("task", ["sentiment", "nli"])
@pytest.mark.parametrize("seed", [1, 2])
def test_preparing_gives_the_same_splits_and_ledger(on_disk, tmp_path, task, asked, seed):
    if task == "nli" and "label" in asked:
        asked = {"label": ("CONTRADICTION=-", "-=contradiction")}
    if "pair=domain" in asked.get("column", ()):
        asked = {"dev_share": 0.3}
    rows = list(rows_of(task))
    path, test = written(tmp_path / "train.jsonl", rows), tmp_path / "few.jsonl"
    again = [rows[n] | {"id": f"t{n}"} for n in range(40, 60)]
    fresh = [{**row, "id": "new", field: "quite new words"} for row in again[:8] for field in row if field in FIELDS]
    written(test, [*again, *({**row, "id": f"n{n}"} for n, row in enumerate(fresh))])
    exclude = written(tmp_path / "exclude.jsonl", rows[100:110])
    options = PrepareOptions(exclude=(str(exclude),), **asked)
    if task == "sentiment" and "label" in asked:
        options = replace(options, label=("0=bad", "-1=good", "1=fair"))

    def made():
        return prepare(task, train=str(path), dev=None, tests={"few": str(test)}, options=options, seed=seed)

    found = made()
    on_disk(False)
    held = made()
    assert isinstance(found.splits["train"].examples, Rows)
    assert isinstance(found.splits["dev"].examples, Rows)
    assert found.card == held.card
    assert found.splits.keys() == held.splits.keys()
    for name in held.splits:
        assert plain(found.splits[name]) == plain(held.splits[name]), name
    assert found.ledger.overlap == held.ledger.overlap
    assert found.ledger.splits["train"]["notes"]["near_duplicates_looked_for_by_minhash"] == len(
        found.splits["train"].examples
    )
    assert held.ledger.overlap["train/few exact"] > 0
    assert any("overlap" in example.about for example in held.splits["few"].examples)
    folders = tmp_path / "disk", tmp_path / "held"
    found.write(folders[0])
    held.write(folders[1])
    for name in ("card.json", "gold/dev.jsonl", "gold/few.jsonl"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes(), name


def test_further_data_are_compared_with_a_train_on_disk(on_disk, tmp_path):
    rows = list(rows_of("sentiment"))
    path = written(tmp_path / "train.jsonl", rows)
    more = written(tmp_path / "more.jsonl", [{"id": "n", "text": "quite new words", "label": "1"}, *rows[20:60]])
    told = []
    for on in (True, False):
        on_disk(on)
        folder = tmp_path / f"run-{on}"
        prepare("sentiment", train=str(path), dev=None, tests={}, options=PrepareOptions(), seed=1).write(folder)
        split = load("sentiment", str(more), SourceOptions(), labels=["negative", "positive"])
        split, overlap = compare("more", split, read_fitted(folder), allow=False)
        told.append(([example.about for example in split.examples], overlap))
        with pytest.raises(Refused, match=r"stand in|was read from it"):
            compare("train", load("sentiment", str(path), SourceOptions()), read_fitted(folder), allow=False)
    assert told[0] == told[1]
    assert told[0][1]["train/more exact"] > 10


def test_ids_that_repeat_are_numbered_or_refused(on_disk, tmp_path):
    rows = list(rows_of("sentiment"))
    rows[200]["id"] = rows[3]["id"]
    path = written(tmp_path / "train.jsonl", rows)
    found = load("sentiment", str(path), SourceOptions())
    assert found.notes["rows_renumbered_as_ids_repeat"] == 240
    with pytest.raises(Refused, match="id"):
        load("sentiment", str(path), SourceOptions(column=("id=id",)))
    on_disk(False)
    assert plain(load("sentiment", str(path), SourceOptions())) == plain(found)


def test_what_is_wrong_is_refused_as_it_is_of_a_file_that_is_held(on_disk, tmp_path):
    rows = list(rows_of("sentiment"))
    cases = [
        ([*rows[:100], {**rows[100], "text": 7}, *rows[101:]], {}, "7, not a text"),
        (rows, {"labels": ["good", "bad"]}, "not one of good, bad"),
        ([{**row, "label": "-"} for row in rows], {}, "no example is left"),
        ([{"id": row["id"], "text": row["text"]} for row in rows], {}, "no column for label"),
    ]
    for number, (some, how, said) in enumerate(cases):
        path = written(tmp_path / f"{number}.jsonl", some)
        told = []
        for on in (True, False):
            on_disk(on)
            with pytest.raises(Refused, match=said) as refused:
                load("sentiment", str(path), SourceOptions(), **how)
            told.append(str(refused.value))
        assert told[0] == told[1]
    numbers = written(tmp_path / "n.jsonl", [row | {"label": n % 3} for n, row in enumerate(rows_of("nli"))])
    on_disk(True)
    with pytest.raises(Refused, match="are numbers"):
        load("nli", str(numbers), SourceOptions())


def test_a_second_reading_comes_from_the_cache_and_another_file_does_not(on_disk, tmp_path, monkeypatch):
    path = written(tmp_path / "train.jsonl", rows_of("sentiment"))
    first = load("sentiment", str(path), SourceOptions())
    with monkeypatch.context() as patch:
        patch.setattr(large, "_write", None)
        assert plain(load("sentiment", str(path), SourceOptions())) == plain(first)
    written(path, list(rows_of("sentiment"))[:-9])
    other = load("sentiment", str(path), SourceOptions())
    assert other.hash != first.hash
    monkeypatch.setenv("HELDOUT_CACHE", "off")
    assert plain(load("sentiment", str(path), SourceOptions())) == plain(other)


def splits_of(task, train, options, seed=1, **others):
    return prepare(task, train=train, options=options, seed=seed, **{"dev": None, "tests": {}} | others)


@pytest.mark.parametrize(
    ("few", "asked", "as_dev"),
    [
        (False, {"limit_test": 30}, False),
        (False, {"dev_size": 30, "limit_test": 200}, True),
        (True, {}, False),
        (True, {"limit": 20, "dev_size": 30}, True),
    ],
)
@pytest.mark.parametrize("task", ["sentiment", "nli"])
def test_large_tests_and_devs_give_the_same_splits_and_ledger(on_disk, tmp_path, task, few, asked, as_dev):
    rows = list(rows_of(task, 300))
    train = written(tmp_path / "train.jsonl", rows[200:245] if few else rows[:240])
    others = {name: written(tmp_path / f"{name}.jsonl", rows[at:]) for name, at in (("one", 150), ("two", 201))}
    tests = {"one": str(others["one"])} | ({} if as_dev else {"two": str(others["two"])})
    dev = str(others["two"]) if as_dev else None

    def made():
        return splits_of(task, str(train), PrepareOptions(**asked), tests=tests, dev=dev)

    found = made()
    on_disk(False)
    held = made()
    kinds = {name: isinstance(split.examples, Rows) for name, split in found.splits.items()}
    assert kinds == {"train": not few, "dev": as_dev or not few} | dict.fromkeys(tests, True)
    for name in held.splits:
        assert plain(found.splits[name]) == plain(held.splits[name]), name
    assert found.ledger.overlap == held.ledger.overlap
    assert held.ledger.overlap["train/one exact"] > 0


def test_rows_are_read_on_after_the_cache_has_removed_them(on_disk, tmp_path, monkeypatch):
    rows = list(rows_of("sentiment", 300))
    train, test = written(tmp_path / "train.jsonl", rows[:240]), written(tmp_path / "test.jsonl", rows[150:])
    made = []
    for size in ("20", "0"):
        monkeypatch.setenv("HELDOUT_CACHE_GB", size)
        monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path / size))
        made.append(splits_of("sentiment", str(train), PrepareOptions(), tests={"test": str(test)}))
    assert [len(list((tmp_path / size).glob("rows/*/rows.txt"))) for size in ("20", "0")] == [2, 1]
    assert plain(made[0].splits["train"]) == plain(made[1].splits["train"])
    assert made[0].ledger == made[1].ledger


def test_a_large_one_of_several_trains_is_held_and_a_line_says_so(on_disk, tmp_path, capsys):
    rows = list(rows_of("sentiment"))
    large_, few = written(tmp_path / "large.jsonl", rows[:200]), written(tmp_path / "few.jsonl", rows[200:])
    found = splits_of("sentiment", [str(few), str(large_)], PrepareOptions())
    assert isinstance(found.splits["train"].examples, tuple)
    assert f"{large_}: large, but held in memory" in capsys.readouterr().err
    on_disk(False)
    splits_of("sentiment", [str(few), str(large_)], PrepareOptions())
    assert "held in memory" not in capsys.readouterr().err


def test_ids_that_repeat_are_numbered_where_another_column_could_be_one_of_ids(on_disk, tmp_path):
    rows = [row | {"uid": f"u{n % 60}"} for n, row in enumerate(rows_of("sentiment"))]
    rows[200]["id"] = rows[3]["id"]
    path, options = written(tmp_path / "train.jsonl", rows), SourceOptions(column=("group=id",))
    found = load("sentiment", str(path), options)
    assert len({example.id for example in found.examples}) == len(found.examples) > 100
    on_disk(False)
    assert plain(load("sentiment", str(path), options)) == plain(found)


def told(path, **how):
    """What is said of a file, by whom it is read."""
    with pytest.raises(Refused) as refused:
        load("sentiment", str(path), SourceOptions(**how))
    return str(refused.value)


def test_a_doubled_column_is_refused_as_it_is_of_a_file_that_is_held(on_disk, tmp_path):
    path = tmp_path / "doubled.csv"
    path.write_text("text,label,label\n" + "a film,1,0\n" * 90)
    said = told(path)
    assert "two columns are named 'label'" in said
    on_disk(False)
    assert told(path) == said


@pytest.mark.parametrize("delimiter", [";", "\t", "|", ","])
@pytest.mark.parametrize("packed", [False, True])
def test_a_csv_is_read_at_the_delimiter_of_its_header(on_disk, tmp_path, delimiter, packed):
    path = tmp_path / ("some.csv.gz" if packed else "some.csv")
    with gzip.open(path, "wt") if packed else path.open("w") as file:
        out = csv.writer(file, delimiter=delimiter)
        out.writerows([("text", "label"), *((f"a film, no {n}; or | so", n % 2) for n in range(90))])
    found = load("sentiment", str(path), SourceOptions())
    assert isinstance(found.examples, Rows) == (delimiter == ",")
    on_disk(False)
    assert plain(load("sentiment", str(path), SourceOptions())) == plain(found)
    assert len(found.examples) == 90


def test_markup_of_other_columns_does_not_clean_the_texts(on_disk, tmp_path):
    for column, cleaned in (("note", False), ("text", True)):
        rows = [{"text": f"fish &amp; chips {n}", "label": n % 2, "note": ""} for n in range(90)]
        rows[5][column] += "<br />"
        path = written(tmp_path / f"{column}.jsonl", rows)
        on_disk(True)
        found = load("sentiment", str(path), SourceOptions())
        on_disk(False)
        assert plain(load("sentiment", str(path), SourceOptions())) == plain(found)
        assert ("&amp;" not in found.examples[7].text["text"]) == cleaned


def test_a_damaged_parquet_is_refused_and_a_packed_one_is_held(on_disk, tmp_path):
    import pyarrow
    import pyarrow.parquet

    path = tmp_path / "some.parquet"
    rows = [{"text": f"a film {n}", "label": n % 2} for n in range(90)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    whole = path.read_bytes()
    (tmp_path / "packed.parquet.gz").write_bytes(gzip.compress(whole))
    assert isinstance(load("sentiment", str(tmp_path / "packed.parquet.gz"), SourceOptions()).examples, tuple)
    for damaged in (whole[:-20], whole[:4] + bytes(200) + whole[204:]):
        path.write_bytes(damaged)
        assert f"{path}: not a parquet file" in told(path)


def test_a_full_disk_is_told_with_what_to_do(on_disk, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = written(tmp_path / "train.jsonl", rows_of("sentiment"))
    monkeypatch.setattr(large, "_write", full)
    with pytest.raises(Failed, match=r"No space left.*HELDOUT_CACHE or TMPDIR"):
        load("sentiment", str(path), SourceOptions())
    assert "the cache is not used" in capsys.readouterr().err


def test_a_split_that_keeps_other_examples_has_their_hash(on_disk, tmp_path):
    found = load("sentiment", str(written(tmp_path / "train.jsonl", rows_of("sentiment"))), SourceOptions())
    others = [replace(example, gold="other") for example in found.examples]
    assert found.keep(others).hash == content_hash(others) != found.hash


@pytest.mark.parametrize("name", ["records.py", "cases.py", "labelled.py"])
def test_rows_that_other_code_wrote_are_not_read(on_disk, tmp_path, monkeypatch, name):
    path = written(tmp_path / "train.jsonl", rows_of("sentiment"))
    before, plainly = large._key(path, "sentiment", Reading(), ()), Path.read_bytes
    assert large._key(path, "sentiment", Reading(), ()) == before
    monkeypatch.setattr(Path, "read_bytes", lambda file: b"other" if file.name == name else plainly(file))
    assert large._key(path, "sentiment", Reading(), ()) != before


def test_only_tables_of_many_rows_are_large(on_disk, tmp_path):
    few = written(tmp_path / "few.jsonl", list(rows_of("sentiment"))[:48])
    many = written(tmp_path / "many.jsonl", rows_of("sentiment"))
    assert [large.is_large(path, Reading()) for path in (few, many)] == [False, True]
    assert not large.is_large(tmp_path, Reading())
    assert load_task("ner").large is load_task("qa").large is None


def reading_peak(path):
    tracemalloc.start()
    found = load("sentiment", str(path), SourceOptions())
    for example in found.examples:
        assert example.id
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_does_not_grow_with_the_texts(on_disk, tmp_path, monkeypatch):
    monkeypatch.setattr(survey, "BLOCK", 200)
    monkeypatch.setattr(streams, "CHUNK", 1 << 14)
    generator = random.Random(2)
    line = [{"text": " ".join(generator.choices(WORDS, k=60)), "label": n % 2} for n in range(500)]
    peaks = {}
    for n in (1_000, 9_000):
        path = tmp_path / f"{n}.jsonl"
        path.write_text("".join(json.dumps(line[i % 500] | {"id": f"r{i}"}) + "\n" for i in range(n)))
        peaks[n] = reading_peak(path)
    # A row's text has 250 bytes and an Example of it 800; numbers beside are not held in Python.
    assert peaks[9_000] - peaks[1_000] < 8_000 * 100
    on_disk(False)
    held = reading_peak(path)
    assert held > 4 * peaks[9_000]


@pytest.mark.parametrize("seed", range(6))
def test_carving_over_arrays_is_carving_over_lists(seed):
    generator = random.Random(seed)
    n = generator.choice([5, 40, 200])
    made = texts(generator, max(n, 40))[:n]
    about = [{"group": f"g{generator.randrange(n)}"} if generator.random() < 0.3 else {} for _ in range(n)]
    examples = [Example(f"{i}", {"text": made[i]}, generator.choice("aab"), about[i]) for i in range(n)]
    clusters = [generator.randrange(n) if generator.random() < 0.2 else n + i for i in range(n)]
    keys = np.array([order(seed, made[i]) for i in range(n)], np.uint64)
    codes = np.array(["ab".index(example.gold) for example in examples])
    groups = carving.numbered(row_writer.marks_of(examples))
    size = generator.randrange(1, n)
    units = carving.components(n, [np.array(clusters), groups])
    try:
        rest, dev = carve(examples, size, seed=seed, folds=made, clusters=clusters)
    except Refused as refused:
        with pytest.raises(Refused) as ours:
            carving.carved(keys, units, codes, size)
        assert str(ours.value) == str(refused)
        return
    taken = carving.carved(keys, units, codes, size)
    assert [examples[i] for i in np.flatnonzero(taken)] == dev
    assert [examples[i] for i in np.flatnonzero(~taken)] == rest
    positions = carving.sampled(keys, codes, size)
    assert positions.tolist() == sample(keys.tolist(), [example.gold for example in examples], size)
    assert [examples[i] for i in positions] == limited(examples, size, seed=seed, folds=made)


def test_components_are_those_of_union_find():
    generator = np.random.default_rng(4)
    for n, edges in ((1, 0), (30, 10), (200, 150), (300, 0)):
        pairs = generator.integers(0, n, (edges, 2))
        assert carving.components(n, [], pairs).tolist() == connect(n, pairs.tolist())
    chain = np.stack([np.arange(99), np.arange(1, 100)], axis=1)[::-1]
    assert set(carving.components(100, [], chain).tolist()) == {0}
