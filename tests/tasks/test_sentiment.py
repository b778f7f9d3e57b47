from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.records import Example
from heldout.tasks import load_task
from heldout.train.framing import cut
from heldout.train.models import load_model, load_tokenizer
from heldout.train.precision import make_accelerator
from heldout.train.system import System
from heldout.train.task import Encoding
from heldout.train.untrusted import Source

LABELS = ["negative", "positive"]
TASK = load_task("sentiment")
TEXTS = [
    "a lovely film",
    "",
    "dull",
    "the plot is not very bright and the song is stale " * 6,
    "the quite moving scene",
]


def examples(texts=TEXTS):
    return [Example(f"e{row}", {"text": text}, LABELS[row % 2], {}) for row, text in enumerate(texts)]


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return load_tokenizer(Source(str(tiny_model)), 64)


@pytest.fixture
def system(tiny_model, tokenizer):
    model = load_model(TASK.model, Source(str(tiny_model)), labels=LABELS, seed=3)
    accelerator = make_accelerator("fp32")
    return System(
        TASK, accelerator.prepare_model(model, evaluation_mode=True), encoding(tokenizer), LABELS, accelerator
    )


def encoding(tokenizer, **changes):
    return Encoding(tokenizer, LABELS, **({"max_length": 16, "long": "head"} | changes))


def test_the_head_of_a_text_is_encoded_as_the_tokenizer_itself_truncates_it(tokenizer):
    encoded = TASK.encode(examples(), encoding(tokenizer))
    theirs = tokenizer(TEXTS, truncation=True, max_length=16)
    for row, windows in enumerate(encoded.windows):
        assert len(windows) == 1
        assert windows[0].inputs["input_ids"] == theirs["input_ids"][row]
        assert windows[0].inputs["token_type_ids"] == theirs["token_type_ids"][row]


def test_minilms_file_with_its_truncation_to_128_does_not_cut_a_longer_text(minilm):
    # The tokenizer.json of MiniLM carries truncation 128 and padding to 128; backend_tokenizer would apply both.
    tokenizer = load_tokenizer(Source(str(minilm)), 256)
    text = "the plot goes on and on " * 60
    encoded = TASK.encode(examples([text]), encoding(tokenizer, max_length=256))
    assert len(encoded.windows[0][0]) == 256
    assert encoded.seen[0] == {"tokens": 254, "lost": 360 - 254}


@pytest.mark.parametrize("long", ["head", "tail", "head+tail"])
def test_what_was_cut_is_counted_for_every_text(tokenizer, long):
    # FAULTS X2: silent truncation; whoever reads the predictions must see what the model did not.
    encoded = TASK.encode(examples(), encoding(tokenizer, long=long))
    whole = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in TEXTS]
    assert [seen["tokens"] + seen["lost"] for seen in encoded.seen] == whole
    assert [seen["lost"] > 0 for seen in encoded.seen] == [n > 14 for n in whole]
    assert max(whole) > 14


@given(st.integers(0, 200), st.integers(1, 30))
def test_windows_cover_every_token_and_each_fits(length, room):
    body = list(range(length))
    pieces = cut(body, room, "windows")
    assert sorted({token for piece in pieces for token in piece}) == body
    assert all(len(piece) <= room for piece in pieces)
    assert all(piece == list(range(piece[0], piece[0] + len(piece))) for piece in pieces if piece)
    assert len(pieces) == 1 if length <= room else all(len(piece) == room for piece in pieces)


@given(st.integers(0, 100), st.integers(1, 30))
def test_a_cut_keeps_the_order_and_no_more_than_there_is_room_for(length, room):
    body = list(range(length))
    for long, piece in ((long, cut(body, room, long)[0]) for long in ("head", "tail", "head+tail")):
        assert len(piece) == min(length, room)
        assert piece == sorted(piece)
        assert long != "head" or piece == body[:room]
        assert long != "tail" or piece == body[max(length - room, 0) :]


def test_windows_of_one_text_share_its_weight_and_their_probabilities_are_averaged(tokenizer):
    encoded = TASK.encode(examples(), encoding(tokenizer, long="windows"))
    assert [sum(window.weight for window in windows) for windows in encoded.windows] == pytest.approx([1.0] * 5)
    assert len(encoded.windows[3]) > 1
    assert encoded.seen[3]["lost"] == 0
    logits = [np.array([float(n), 0.0], dtype=np.float32) for n in range(len(encoded.flat()))]
    predictions = TASK.decode(examples(), encoded, logits, LABELS)
    rows = range(3, 3 + len(encoded.windows[3]))
    expected = np.mean([1 / (1 + np.exp(-float(n))) for n in rows])
    assert predictions[3].scores[0] == pytest.approx(expected, abs=1e-12)
    assert all(sum(p.scores) == pytest.approx(1, abs=1e-12) for p in predictions)


@pytest.mark.parametrize("pad_to", [0, 20, 64])
def test_padding_changes_no_output(system, tokenizer, pad_to):
    # FAULTS E6: an attention mask left out, or a mean over padding.
    from heldout.train.predict import predict

    windows = TASK.encode(examples(), encoding(tokenizer)).flat()
    alone = [predict(system.model, [window], system.accelerator, pad_id=0)[0] for window in windows]
    together = predict(system.model, windows, system.accelerator, pad_id=0, pad_to=pad_to, token_budget=10_000)
    assert np.abs(np.array(alone) - np.array(together)).max() < 1e-5


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_the_loss_on_dev_does_not_depend_on_the_batch(system, tokenizer, batch):
    # FAULTS E3: a mean of batch means; here the loss is a sum by example, whatever the batches.
    from heldout.data import load_task as load_data
    from heldout.train.finetune import value_of

    rows = examples([text for text in TEXTS if text] * 2)
    one = replace(system, token_budget=16 * batch)
    card = load_data("sentiment").card(rows)
    values = [value_of("nll", card, rows, each.predict(rows)) for each in (one, system)]
    assert values[0] == pytest.approx(values[1], abs=1e-6)


def test_answers_stand_in_the_order_of_the_examples_with_their_own_ids(system):
    rows = examples()
    assert [prediction.id for prediction in system.predict(rows)] == [example.id for example in rows]
    assert [p.scores for p in system.predict(rows[::-1])][::-1] == [
        pytest.approx(p.scores, abs=1e-6) for p in system.predict(rows)
    ]
