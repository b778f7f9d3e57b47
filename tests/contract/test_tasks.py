"""What every task must hold to; tasks are found by listing the folder, so a new one is tested without being named."""

from pathlib import Path

import pytest

import heldout.tasks
from heldout.data import load_task as load_data
from heldout.data import task_names
from heldout.errors import Refused
from heldout.eval import metrics
from heldout.tasks import load_task, names
from heldout.train.models import load_model, load_tokenizer
from heldout.train.precision import make_accelerator
from heldout.train.system import System
from heldout.train.task import Encoding
from heldout.train.untrusted import Source
from heldout.train.windows import collate

# One made-up example and its label set for each task; a task that lacks one fails here.
FIXTURES = {
    "ner": ({"words": ["the", "film", "is", "not", "dull"]}, [["O", "B-work", "O", "O", "O"], ["O"] * 5]),
    "nli": ({"premise": "the film is not dull", "hypothesis": "the film is bright"}, ["entailment", "neutral"]),
    "qa": (
        {"question": "is the film dull", "context": "the film is not dull"},
        [[{"text": "not dull", "start": 12}, {"text": "not", "start": 12}], []],
    ),
    "sentiment": ({"text": "the film is not dull"}, ["positive", "negative"]),
}
KINDS = {"label", "tags", "span", "lm"}


def test_every_file_of_the_folder_is_a_task_with_a_fixture_here():
    found = sorted(path.stem for path in Path(heldout.tasks.__file__).parent.glob("*.py") if path.stem != "__init__")
    assert names() == found == sorted(FIXTURES)
    assert len(found) >= 4


def test_every_task_has_a_data_side_of_the_same_name():
    assert names() == task_names()


@pytest.fixture(params=names())
def task(request):
    return load_task(request.param)


@pytest.fixture
def rows(task):
    from heldout.records import Example

    text, golds = FIXTURES[task.name]
    return [Example(f"{task.name}-{n}", text, golds[n % len(golds)], {}) for n in range(5)]


def test_its_card_names_known_metrics_for_its_kind(task, rows):
    card = load_data(task.name).card(rows)
    assert card.name == task.name
    assert card.kind in KINDS
    assert card.metrics
    assert all(card.kind in metrics.find(name).kinds for name in card.metrics)


def test_encode_loss_decode_fit_together(task, rows, tiny_model):
    card = load_data(task.name).card(rows)
    tokenizer = load_tokenizer(Source(str(tiny_model)), 32)
    model = load_model(task.model, Source(str(tiny_model)), labels=task.head(card), seed=1)
    accelerator = make_accelerator("fp32")
    encoding = Encoding(tokenizer, task.head(card), 32)
    system = System(task, accelerator.prepare_model(model), encoding, task.head(card), accelerator)
    encoded = task.encode(rows, system.encoding)
    assert len(encoded.windows) == len(encoded.seen) == len(rows)
    assert all(set(seen) == {"tokens", "lost"} for seen in encoded.seen)
    # The windows of an example share a weight of 1, or of the number of its positions that have a loss each.
    whole = [len(example.gold) if card.kind == "tags" else 1 for example in rows]
    assert [sum(window.weight for window in windows) for windows in encoded.windows] == pytest.approx(whole)
    batch = collate(encoded.flat(), tokenizer.pad_token_id)
    losses = [
        task.loss(model(**batch.inputs), batch.targets, batch.weights * factor).item() for factor in (1.0, 2.0, 0.0)
    ]
    assert losses[0] > 0
    assert losses[1:] == pytest.approx([2 * losses[0], 0.0], rel=1e-5)
    predictions = system.answer(rows, encoded, "contract")
    assert [prediction.id for prediction in predictions] == [example.id for example in rows]
    assert all(prediction.to_json().keys() >= {"id", "answer"} for prediction in predictions)


def test_an_unknown_task_is_refused_naming_the_nearest():
    with pytest.raises(Refused, match="did you mean sentiment"):
        load_task("sentimant")
