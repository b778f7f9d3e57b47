"""A fine-tuning of a tiny model on made-up reviews, which the tests of this folder vary."""

import pytest

from heldout.data import load_task as load_data
from heldout.ledger import Ledger, write_ledger
from heldout.records import Example, content_hash
from heldout.tasks import load_task
from heldout.train.finetune import Job
from heldout.train.options import FitOptions


@pytest.fixture
def job(tmp_path, tiny_model, reviews_csv):
    rows = [line.split(",") for line in reviews_csv.read_text().splitlines()[1:]]
    examples = [Example(name, {"text": text}, label) for name, text, label in rows]
    write_ledger(tmp_path, Ledger())
    return Job(
        folder=tmp_path,
        task=load_task("sentiment"),
        card=load_data("sentiment").card(examples),
        train=examples[:64],
        train_hash=content_hash(examples[:64]),
        dev=examples[64:],
        dev_hash=content_hash(examples[64:]),
        options=FitOptions(
            model=str(tiny_model), max_length=24, precision="fp32", epochs=4, learning_rate=5e-3, save_every=3
        ),
        seed=1,
        resume_hint="heldout finetune … --resume",
    )
