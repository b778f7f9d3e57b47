"""Windows as flat arrays are the windows that the task made, in memory and from the cache alike."""

import random
from dataclasses import replace

import pytest
import tokenizers
import torch
from safetensors.torch import load_file

from heldout.ledger import Ledger, read_ledger, write_ledger
from heldout.records import Example
from heldout.tasks import load_task
from heldout.train import tokens
from heldout.train.finetune import finetune
from heldout.train.models import load_tokenizer
from heldout.train.task import Encoded, Encoding
from heldout.train.tokens import encode
from heldout.train.untrusted import Source

LABELS = {"sentiment": ["no", "yes"], "nli": ["no", "yes"], "ner": ["O", "B-x", "I-x"], "qa": ["LABEL_0", "LABEL_1"]}


def rows(task, n):
    generator = random.Random(3)
    texts = [" ".join(generator.choices(["film", "plot", "a", "é", "witty", "…"], k=1 + i % 40)) for i in range(n)]
    for i, text in enumerate(texts):
        if task == "sentiment":
            yield Example(f"{i}", {"text": text}, [None, "no", "yes", "other"][i % 4])
        elif task == "nli":
            yield Example(f"{i}", {"premise": text, "hypothesis": texts[i - 1]}, ["no", "yes"][i % 2])
        elif task == "ner":
            words = text.split()
            yield Example(f"{i}", {"words": words}, ["B-x" if word == "film" else "O" for word in words])
        else:
            yield Example(f"{i}", {"question": texts[i - 1], "context": f"It is {text}"}, [{"text": text, "start": 6}])


@pytest.fixture
def encoding(tiny_model):
    def make(task, **how):
        return Encoding(load_tokenizer(Source(str(tiny_model)), 24), LABELS[task], 24, **how)

    return make


@pytest.mark.parametrize(
    ("task", "how"),
    [
        ("sentiment", {"long": "windows"}),
        ("sentiment", {"long": "head+tail"}),
        ("nli", {}),
        ("ner", {}),
        ("qa", {}),
    ],
)
@pytest.mark.parametrize("cache", ["off", "on"])
def test_packed_windows_are_those_of_the_task(task, how, cache, encoding, monkeypatch, tmp_path):
    monkeypatch.setenv("HELDOUT_CACHE", "off" if cache == "off" else str(tmp_path))
    monkeypatch.setattr(tokens, "BLOCK", 7)
    examples, by = list(rows(task, 45)), encoding(task, **how)
    plain = load_task(task).encode(examples, by)
    for _ in range(2):
        found = encode(load_task(task), examples, by)
        # As text: arrays, in the places of spans, have no one truth of being equal.
        assert [repr(list(windows)) for windows in found.windows] == [repr(windows) for windows in plain.windows]
        one_by_one = [found.flat()[n] for n in range(len(found.flat()))]
        assert repr(list(found.flat())) == repr(plain.flat()) == repr(one_by_one)
        assert list(found.seen) == list(plain.seen)
        assert found.lengths() == plain.lengths()
        assert repr([found.windows[-1], found.windows[3:5]]) == repr([plain.windows[-1], plain.windows[3:5]])
    assert len(plain.flat()) >= 45
    with pytest.raises(IndexError):
        found.windows[45]


def test_a_second_start_tokenises_nothing_and_any_change_does(encoding, monkeypatch, tmp_path):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path))
    sentiment, examples, by = load_task("sentiment"), list(rows("sentiment", 30)), encoding("sentiment")
    encode(sentiment, examples, by)

    def kept():
        return {path for path in tmp_path.glob("tokens/*") if path.is_dir()}

    assert len(kept()) == 1
    encode(sentiment, examples, by)
    assert len(kept()) == 1
    other = [*examples[:-1], replace(examples[-1], text={"text": "dull"})]
    gold = [*examples[:-1], replace(examples[-1], gold="yes")]
    for number, (some, how) in enumerate(
        [
            (other, by),
            (gold, by),
            (examples[::-1], by),
            (examples, replace(by, max_length=23)),
            (examples, replace(by, long="tail")),
            (examples, replace(by, labels=["yes", "no"])),
        ],
        2,
    ):
        encode(sentiment, some, how)
        assert len(kept()) == number
    by.tokenizer.add_tokens(["witty"])
    encode(sentiment, examples, by)
    assert len(kept()) == 8


@pytest.mark.parametrize("library", ["tokenizers", "transformers"])
def test_windows_of_another_library_are_not_read(library, encoding, monkeypatch):
    sentiment, examples, by = load_task("sentiment"), list(rows("sentiment", 3)), encoding("sentiment")
    before = tokens.key_of(sentiment, examples, by)
    assert tokens.key_of(sentiment, examples, by) == before
    monkeypatch.setattr(getattr(tokens, library), "__version__", "0.0.1")
    assert tokens.key_of(sentiment, examples, by) != before


class AtSpaces:
    """A part of a tokenizer that is code, which no file of it can hold."""

    def pre_tokenize(self, text):
        text.split(lambda number, part: part.split(" ", "removed"))


def test_a_tokenizer_that_has_no_file_is_not_kept(encoding, monkeypatch, tmp_path):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path))
    sentiment, examples, by = load_task("sentiment"), list(rows("sentiment", 9)), encoding("sentiment")
    by.tokenizer.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.PreTokenizer.custom(AtSpaces())
    assert len(encode(sentiment, examples, by).windows) == 9
    assert not list(tmp_path.iterdir())


def test_without_a_cache_no_key_is_made(encoding, monkeypatch):
    monkeypatch.setenv("HELDOUT_CACHE", "off")
    monkeypatch.setattr(tokens, "key_of", None)
    assert len(encode(load_task("sentiment"), list(rows("sentiment", 9)), encoding("sentiment")).windows) == 9


def test_an_encoding_made_on_the_spot_is_not_kept(encoding, monkeypatch, tmp_path):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path))
    task, examples = load_task("sentiment"), list(rows("sentiment", 9))
    first_half = replace(task, encode=lambda some, by: task.encode(some, replace(by, max_length=6)))
    found = encode(first_half, examples, encoding("sentiment"))
    assert max(map(len, found.flat())) == 6
    assert not list(tmp_path.iterdir())


def test_what_a_task_sets_in_its_tokenizer_is_set_from_the_cache_too(encoding, monkeypatch, tmp_path):
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path))
    told = []
    task = load_task("sentiment")
    marked = replace(task, encode=lambda some, by: told.append(len(some)) or task.encode(some, by))
    encode(marked, list(rows("sentiment", 5)), encoding("sentiment"))
    assert told[0] == 0


def plainly(task, examples, encoding, what, shown):
    return task.encode(examples, encoding)


def test_training_from_the_cache_ends_with_the_weights_of_training_without(job, monkeypatch, tmp_path):
    ended, plans = [], []
    for name, cache in (("plain", None), ("off", "off"), ("first", "cache"), ("second", "cache")):
        monkeypatch.setenv("HELDOUT_CACHE", "off" if cache in (None, "off") else str(tmp_path / cache))
        folder = tmp_path / name
        folder.mkdir()
        write_ledger(folder, Ledger())
        with monkeypatch.context() as patch:
            if cache is None:
                patch.setattr(
                    "heldout.train.finetune.encode", lambda task, some, by, what, shown: task.encode(some, by)
                )
            finetune(replace(job, folder=folder))
        ended.append(load_file(folder / "model" / "model.safetensors"))
        plans.append(read_ledger(folder).plan)
    assert len(set(plans)) == 1
    assert len(list((tmp_path / "cache").glob("tokens/*.lock"))) == 2
    for other in ended[1:]:
        assert all(torch.equal(ended[0][name], other[name]) for name in ended[0])


def test_no_examples_are_no_windows(encoding):
    found = encode(load_task("sentiment"), [], encoding("sentiment"))
    assert isinstance(found, Encoded)
    assert not found.flat()
