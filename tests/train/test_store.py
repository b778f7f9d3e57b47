"""The teacher's store: what is read is what was computed, and another tokenizer, geometry or teacher is refused."""

import pytest
import torch
from transformers import AutoModelForQuestionAnswering

from heldout.errors import Refused
from heldout.train import store
from heldout.train.models import load_tokenizer
from heldout.train.task import Encoding
from heldout.train.untrusted import Source
from heldout.train.windows import Window, collate

TENSORS = ["hidden.1", store.LOGITS]


@pytest.fixture
def encoding(tiny_model):
    return Encoding(load_tokenizer(Source(str(tiny_model)), 32), ["a", "b"], 32)


@pytest.fixture
def windows():
    return [Window(row, {"input_ids": [2, *range(5, 6 + row % 9), 3]}) for row in range(store.SHARD + 20)]


def outputs(batch):
    """Of every position its id, and its place."""
    ids = batch.inputs["input_ids"].float()
    return {"hidden.1": ids[..., None].repeat(1, 1, 3), store.LOGITS: torch.stack([ids, ids / 7], -1)}


def key(encoding, windows, **changed):
    return store.key_of(encoding, windows, **{"teacher": "t", "tensors": TENSORS, **changed})


def filled(folder, encoding, windows, made=outputs):
    counted = []
    store.fill(folder, key(encoding, windows), windows, lambda rows: collate(rows, 0), made, counted.append)
    assert sum(counted) == len(windows)
    return store.open_store(folder, key(encoding, windows), windows)


def test_what_is_read_of_a_window_is_what_was_computed_for_it(tmp_path, encoding, windows):
    kept = filled(tmp_path / "w", encoding, windows)
    looked_at = 0
    for row in (0, 1, 17, store.SHARD - 1, store.SHARD, len(windows) - 1):
        ids = torch.tensor(windows[row].inputs["input_ids"]).float()
        assert torch.equal(kept.read("hidden.1", row), ids[:, None].repeat(1, 3))
        assert torch.equal(kept.read(store.LOGITS, row), torch.stack([ids, ids / 7], -1))
        looked_at += 1
    assert looked_at == 6


def test_a_pass_that_was_stopped_goes_on_with_the_file_that_lacks(tmp_path, encoding, windows):
    filled(tmp_path / "w", encoding, windows)
    first, second = sorted((tmp_path / "w").glob("*.safetensors"))
    before = first.stat().st_mtime_ns
    second.unlink()
    with pytest.raises(Refused, match=second.name):
        store.open_store(tmp_path / "w", key(encoding, windows), windows)
    filled(tmp_path / "w", encoding, windows)
    assert first.stat().st_mtime_ns == before
    assert second.exists()


def test_anything_else_is_refused_by_what_differs(tmp_path, encoding, windows):
    folder = tmp_path / "w"
    filled(folder, encoding, windows)
    other = Encoding(encoding.tokenizer, ["a", "b"], 16)
    cases = {
        r"--max-length \(32, not 16\)": (key(other, windows), windows),
        "another texts": (key(encoding, windows[1:]), windows[1:]),
        "another teacher": (key(encoding, windows, teacher="u"), windows),
        "--hidden": (key(encoding, windows, tensors=["hidden.2"]), windows),
        "another tokenizer": (key(encoding, windows) | {"tokenizer": "x"}, windows),
    }
    for said, (wanted, rows) in cases.items():
        with pytest.raises(Refused, match=said):
            store.open_store(folder, wanted, rows)
    assert len(cases) == 5


def test_the_hash_of_a_tokenizer_is_of_what_makes_ids(encoding, tiny_model, tmp_path):
    again = load_tokenizer(Source(str(tiny_model)), 8)
    assert store.tokenizer_hash(again) == store.tokenizer_hash(encoding.tokenizer)
    again.add_tokens(["newword"])
    assert store.tokenizer_hash(again) != store.tokenizer_hash(encoding.tokenizer)


def test_a_disk_without_room_is_said_before_it_is_full(tmp_path, encoding, windows, monkeypatch):
    import shutil

    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(store.shutil, "disk_usage", lambda folder: usage._replace(free=10))
    with pytest.raises(Refused, match=r"would take .* GB and the disk has 0\.0 GB"):
        filled(tmp_path / "w", encoding, windows)


def test_a_teacher_answers_twice_alike_and_has_no_gradients(tiny_model):
    # FAULTS D2: dropout of the tiny model is 0.1; in training mode two passes differ.
    from heldout.train import tapped
    from heldout.train.models import load_model

    model = load_model(AutoModelForQuestionAnswering, Source(str(tiny_model)), labels=["LABEL_0", "LABEL_1"], seed=1)
    model.train()
    teacher = tapped.teacher(model, ())
    ids = torch.arange(5, 25)[None]
    first, second = (teacher(input_ids=ids).outputs for _ in range(2))
    assert torch.equal(first.start_logits, second.start_logits)
    assert not first.start_logits.requires_grad
    assert not teacher.training
