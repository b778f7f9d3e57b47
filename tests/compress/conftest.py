"""Runs of every task on the tiny model with a random head: what answers is not trained, only told apart."""

import random
import shutil
from pathlib import Path

import pytest

from heldout.data import load_task as load_data
from heldout.ledger import Ledger, Split, write_ledger
from heldout.records import Example, content_hash
from heldout.runs import write_json, write_lines

ROWS = 12
WORDS = ["film", "plot", "scene", "song", "actor", "lovely", "dull", "bright", "never", "the"]


def words(generator, n):
    return " ".join(generator.choice(WORDS) for _ in range(n))


def example(task, number, generator):
    """A made-up example of unequal length, some longer than a window."""
    text = words(generator, generator.randrange(3, 40))
    if task == "sentiment":
        return Example(f"e{number}", {"text": text}, ("negative", "positive")[number % 2], {})
    if task == "nli":
        pair = {"premise": text, "hypothesis": words(generator, generator.randrange(2, 9))}
        return Example(f"e{number}", pair, ("entailment", "neutral", "contradiction")[number % 3], {})
    if task == "ner":
        sentence = text.split()
        tags = ["O"] * len(sentence)
        tags[number % 3] = ("B-work", "B-place")[number % 2]
        return Example(f"e{number}", {"words": sentence}, tags, {})
    answer = text.split()[1]
    gold = [{"text": answer, "start": text.index(answer)}] if number % 2 else []
    return Example(f"e{number}", {"question": "is the film dull", "context": text}, gold, {})


@pytest.fixture(scope="session")
def make_run(tiny_model, tmp_path_factory):
    """A function from a task's name to a run folder with model/, card, options, ledger and gold of dev and a test."""
    from heldout.tasks import load_task
    from heldout.train.models import load_model, load_tokenizer
    from heldout.train.untrusted import Source

    def make(task: str, rows: int = ROWS) -> Path:
        folder = tmp_path_factory.mktemp(task) / "run"
        generator = random.Random(3)
        sets = {name: [example(task, n, generator) for n in range(rows)] for name in ("dev", "t")}
        card = load_data(task).card([*sets["dev"], *sets["t"]])
        ours = load_task(task, card)
        model = load_model(ours.model, Source(str(tiny_model)), labels=ours.head(card), seed=1)
        model.save_pretrained(folder / "model")
        load_tokenizer(Source(str(tiny_model)), 24).save_pretrained(folder / "model")
        write_json(folder / "card.json", card.to_json())
        options = {"task": task, "max_length": 24, "model": str(tiny_model), "test": ["t=t.jsonl"]}
        write_json(folder / "options.json", options | {"trust_remote_code": False, "seed": 1})
        ledger = Ledger()
        for name, examples in sets.items():
            write_lines(folder / "gold" / f"{name}.jsonl", (one.to_json() for one in examples))
            ledger = ledger.with_split(name, Split(f"{name}.jsonl", content_hash(examples), len(examples), {}))
        write_ledger(folder, ledger)
        return folder

    return make


@pytest.fixture(scope="session")
def sentiment_run(make_run):
    """A run of sentiment that nobody changes."""
    return make_run("sentiment")


@pytest.fixture(scope="session")
def exported(sentiment_run, tmp_path_factory):
    """The same as ONNX, made by the command."""
    from heldout.cli import main

    out = tmp_path_factory.mktemp("exported") / "onnx-run"
    assert main(["compress", str(sentiment_run), "--onnx", "--out", str(out)]) == 0
    return out


@pytest.fixture
def copy_of(tmp_path):
    """A function that copies a run to where a test may change it."""

    def copied(folder: Path) -> Path:
        to = tmp_path / f"copy-of-{folder.name}"
        shutil.copytree(folder, to)
        return to

    return copied
