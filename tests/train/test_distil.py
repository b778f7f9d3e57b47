"""A distillation's setup for every kind of answer: the same loss whatever the padding and the cuts (FAULTS D4)."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

from heldout.records import Example, Prediction
from heldout.tasks import load_task
from heldout.train.answers import Answers
from heldout.train.distil import Distillation, Mix, Teacher
from heldout.train.finetune import Setup
from heldout.train.models import label_names, load_model, load_tokenizer
from heldout.train.task import Encoding
from heldout.train.untrusted import Source
from heldout.train.windows import collate

TAGS = ["O", "B-x", "I-x"]
WORDS = ["the", "film", "is", "very", "dull", "but", "its", "song", "was", "lovely", "and", "moving"]
#: Of each task: the card's kind, labels of the model, texts of unequal length with gold.
KINDS = {
    "sentiment": ("label", ["negative", "positive"]),
    "ner": ("tags", TAGS),
    "qa": ("span", ["LABEL_0", "LABEL_1"]),
}


def examples(name):
    made = []
    for n in range(4):
        words = WORDS[: 3 + 3 * n]
        if name == "sentiment":
            made.append(Example(str(n), {"text": " ".join(words)}, ("negative", "positive")[n % 2]))
        elif name == "ner":
            made.append(Example(str(n), {"words": words}, [TAGS[(n + i) % 2] for i in range(len(words))]))
        else:
            text = {"question": "is it dull", "context": " ".join(words)}
            made.append(Example(str(n), text, [{"text": "film", "start": 4}] if n % 2 else []))
    return made


class Kept:
    """A store in memory: seeded start and end logits of each window."""

    def __init__(self, lengths):
        generator = torch.Generator().manual_seed(1)
        self.rows = [torch.randn(length, 2, generator=generator) for length in lengths]

    def read(self, name, row):
        assert name == "logits"
        return self.rows[row]


def answers(rows, labels):
    generator = np.random.default_rng(1)
    predictions = []
    for example in rows:
        shape = (len(example.text["words"]), len(labels)) if "words" in example.text else (len(labels),)
        scores = generator.dirichlet(np.ones(shape[-1]), shape[:-1] or None)
        predictions.append(Prediction(example.id, None, scores.tolist()))
    return Answers("t", predictions, labels)


@pytest.fixture(params=KINDS)
def made(request, tiny_model):
    """A function from a mix (and other gold) to the distillation's setup, and the model in evaluation mode."""
    kind, labels = KINDS[request.param]
    task, source = load_task(request.param), Source(str(tiny_model))
    tokenizer = load_tokenizer(source, 16)
    model = load_model(task.model, source, labels=labels, seed=1).eval()
    encoding = Encoding(tokenizer, label_names(model), 16)

    def make(mix, rows=None):
        rows = rows or examples(request.param)
        encoded = task.encode(rows, encoding)
        teacher = Teacher(answers(rows, labels), Kept([len(window) for window in encoded.flat()]))
        padded = partial(collate, pad_id=tokenizer.pad_token_id)
        setup = Setup(model, encoding, encoded, padded, task.loss)
        return Distillation(task, kind, mix, teacher, 1)(setup), setup

    return make


def loss(setup, windows):
    batch = setup.collate(windows)
    return setup.loss(setup.model(**batch.inputs), batch.targets, batch.weights)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_cuts_and_padding_change_nothing(made, alpha):
    setup, _ = made(Mix(alpha, 2.0))
    windows = setup.encoded.flat()
    assert len(windows) >= 4
    whole = loss(setup, windows)
    alone = sum(loss(setup, [window]) for window in windows)
    assert whole.item() > 0.01
    assert alone.item() == pytest.approx(whole.item(), rel=1e-4)
    padded = replace(setup, collate=further(setup.collate))
    assert loss(padded, windows).item() == pytest.approx(whole.item(), rel=1e-4)


def further(plain):
    """Batches padded by seven positions more than they need."""

    def collated(windows):
        batch = plain(windows)
        inputs = {name: torch.nn.functional.pad(rows, (0, 7)) for name, rows in batch.inputs.items()}
        targets = dict(batch.targets)
        for name in ("soft", "read"):
            if name in targets and targets[name].ndim > 1 and "read" in targets:
                behind = torch.zeros(len(windows), 7, *targets[name].shape[2:], dtype=targets[name].dtype)
                targets[name] = torch.cat([targets[name], behind], 1)
        if "read" in targets and "hard" in targets and targets["hard"].shape[1] > 3:
            targets["hard"] = torch.nn.functional.pad(targets["hard"], (0, 7), value=-100)
        return replace(batch, inputs=inputs, targets=targets)

    return collated


def test_at_alpha_one_the_setup_is_the_one_of_fine_tuning(made):
    setup, plain = made(Mix(1.0, 2.0))
    assert setup is plain


def test_the_loss_is_the_mix_of_its_ends(made):
    ends = [loss(made(Mix(alpha, 2.0))[0], made(Mix(alpha, 2.0))[0].encoded.flat()).item() for alpha in (0.0, 0.25)]
    plain = made(Mix(1.0, 2.0))[1]
    task = loss(plain, plain.encoded.flat()).item()
    assert ends[1] == pytest.approx(0.25 * task + 0.75 * ends[0], rel=1e-4)


def test_without_labels_the_loss_at_alpha_zero_is_the_same(made, request):
    name = request.node.callspec.params["made"]
    rows = examples(name)
    bare = [replace(example, gold=None) for example in rows]
    with_gold, without = (made(Mix(0.0, 2.0), some)[0] for some in (rows, bare))
    assert loss(with_gold, with_gold.encoded.flat()).item() == pytest.approx(
        loss(without, without.encoded.flat()).item(), rel=1e-6
    )
    assert sum(window.weight for window in without.encoded.flat()) > 0


def test_question_frame_and_padding_are_no_place_of_an_answer(tiny_model):
    task, tokenizer = load_task("qa"), load_tokenizer(Source(str(tiny_model)), 16)
    window = task.encode(examples("qa"), Encoding(tokenizer, ["LABEL_0", "LABEL_1"], 16)).windows[0][0]
    read = [place >= 0 for place in task.positions(window)]
    tokens = tokenizer.convert_ids_to_tokens(window.inputs["input_ids"])
    assert [token for token, is_read in zip(tokens, read, strict=True) if is_read] == ["[CLS]", "the", "film", "is"]
