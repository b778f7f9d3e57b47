import json
from dataclasses import replace

import pytest

from heldout.data.fitted import compare, fingerprints, read_fitted
from heldout.data.prepare import PrepareOptions, load, prepare
from heldout.data.sources import SourceOptions
from heldout.errors import Refused


def write(folder, name, numbers, shout=False):
    """A text that shares no three words in a row with that of another number, and its label."""
    path = folder / f"{name}.jsonl"
    texts = [f"film{n} was{n} {('dull', 'bright')[n % 2]}{n} throughout{n} and{n} beyond{n}" for n in numbers]
    rows = [{"text": text.upper() if shout else text, "label": n % 2} for n, text in zip(numbers, texts, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.fixture
def run(tmp_path):
    """A run folder as far as the splits go: 18 of 30 texts are train, 2 dev, 10 left out by --limit."""
    source = write(tmp_path, "train", range(30))
    options = PrepareOptions(limit=18, dev_size=2)
    tests = {"test": write(tmp_path, "test", range(100, 104))}
    prepare("sentiment", train=source, dev=None, tests=tests, options=options, seed=0).write(tmp_path / "run")
    return tmp_path / "run"


def compared(run, source, name="new", allow=False):
    return compare(name, load("sentiment", source, SourceOptions()), read_fitted(run), allow=allow)


def texts_of(run, name):
    return [json.loads(line)["text"]["text"] for line in (run / "gold" / f"{name}.jsonl").read_text().splitlines()]


def test_new_texts_are_told_from_those_of_train_and_dev(run, tmp_path):
    split, overlap = compared(run, write(tmp_path, "copy", range(40), shout=True))
    assert overlap == {"train/new exact": 18, "dev/new exact": 2}
    assert sum(example.about.get("overlap") == "exact" for example in split.examples) == 18
    assert split.notes == {}


def test_a_copy_of_a_part_of_train_is_refused_though_trains_source_is_gone(run, tmp_path):
    split, _ = compared(run, write(tmp_path, "copy", range(30), shout=True))
    part = replace(split, examples=tuple(example for example in split.examples if "overlap" in example.about))
    (tmp_path / "train.jsonl").unlink()
    with pytest.raises(Refused, match=r"--data new=.*copy\.jsonl: all 18 of its texts stand in train .*--allow-fitted"):
        compare("new", part, read_fitted(run), allow=False)
    marked, _ = compare("new", part, read_fitted(run), allow=True)
    assert marked.notes == {"stands_whole_in_train": 18}


def test_dev_is_refused_as_well(run, tmp_path):
    (tmp_path / "dev.csv").write_text("text,label\n" + "\n".join(f"{text},1" for text in texts_of(run, "dev")))
    with pytest.raises(Refused, match="all 2 of its texts stand in dev"):
        compared(run, str(tmp_path / "dev.csv"))


def test_the_source_of_train_is_refused_by_whatever_path(run, tmp_path):
    with pytest.raises(Refused, match=r"--data new=.*: train was read from it"):
        compared(run, f"{tmp_path}/run/../train.jsonl")
    split, overlap = compared(run, f"{tmp_path}/train.jsonl", allow=True)
    assert split.notes == {"from_the_source_of_train": 30}
    assert overlap == {"train/new exact": 18, "dev/new exact": 2}


def test_a_copy_of_all_that_train_and_dev_were_carved_from_is_refused_too(run, tmp_path):
    source = write(tmp_path, "copy", range(30), shout=True)
    split = load("sentiment", source, SourceOptions())
    known = {number for earlier in read_fitted(run) for number in earlier.texts.tolist()}
    prints = fingerprints(split.examples).tolist()
    kept = tuple(example for example, number in zip(split.examples, prints, strict=True) if number in known)
    both = replace(split, examples=kept)
    with pytest.raises(Refused, match="all 20 of its texts stand in train and dev together"):
        compare("new", both, read_fitted(run), allow=False)
    marked, _ = compare("new", both, read_fitted(run), allow=True)
    assert marked.notes == {"stands_whole_in_train": 20, "stands_whole_in_dev": 20}


def test_a_run_that_does_not_tell_trains_texts_says_that_nobody_looked(run, tmp_path):
    (run / "train-texts.json").unlink()
    split, overlap = compared(run, write(tmp_path, "copy", range(40)))
    assert split.notes == {"not_compared_with_train": 40}
    assert overlap == {"dev/new exact": 2}
    with pytest.raises(Refused, match="train was read from it"):
        compared(run, f"{tmp_path}/train.jsonl")
    assert compared(run, f"{tmp_path}/train.jsonl", allow=True)[0].notes["stands_whole_in_train"] == 30


@pytest.mark.parametrize("content", ["[", "{}", "[1]"])
def test_damaged_fingerprints_are_refused(run, content):
    (run / "train-texts.json").write_text(content)
    with pytest.raises(Refused, match=r"train-texts\.json"):
        read_fitted(run)
