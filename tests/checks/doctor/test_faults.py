"""Every check with its fault planted, and the same check on the untouched run, which passes."""

import dataclasses
import json
import shutil

import numpy as np
import pytest
import torch
from torch import nn
from transformers.modeling_outputs import SequenceClassifierOutput

from heldout.checks.doctor import all_checks, examine
from heldout.checks.doctor import processes as two
from heldout.checks.doctor.offsets import TORTURE, faults, tokens_of
from heldout.errors import Refused
from heldout.records import Prediction
from heldout.runs import read_json


class Wrapped(nn.Module):
    """A model with a fault put around its own forward."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.config = model.config

    def named_modules(self, *words, **more):
        return self.model.named_modules(*words, **more)


class ReadsPadding(Wrapped):
    def forward(self, attention_mask, **inputs):
        return self.model(attention_mask=torch.ones_like(attention_mask), **inputs)


class MixesRows(Wrapped):
    def forward(self, **inputs):
        logits = self.model(**inputs).logits
        return SequenceClassifierOutput(logits=logits + 0.5 * logits.mean(dim=0, keepdim=True))


class DropoutOn(Wrapped):
    def forward(self, **inputs):
        logits = self.model(**inputs).logits
        return SequenceClassifierOutput(logits=nn.functional.dropout(logits, 0.5, training=True))


class Counts(Wrapped):
    """Remembers what it was asked before: answers depend on the order of rows."""

    asked = 0

    def forward(self, **inputs):
        self.asked += 1
        return SequenceClassifierOutput(logits=self.model(**inputs).logits * (-1) ** self.asked)


class TooLargeForHalf(Wrapped):
    """Adds and takes away 4,096 in the precision of the matrices: in bf16 16 and more are lost."""

    def forward(self, **inputs):
        logits = self.model(**inputs).logits
        if torch.is_autocast_enabled("cpu"):
            logits = ((logits.bfloat16() + 4096) - 4096).float()
        return SequenceClassifierOutput(logits=logits)


def outcome(patient, name):
    (row,) = examine(patient, [name])
    assert row["figure"]
    assert (row["outcome"] == "fail") == bool(row["advice"])
    return row


def failed(patient, name):
    row = outcome(patient, name)
    assert row["outcome"] == "fail", row
    return row


ALL = [name for name in all_checks() if name != "processes"]


@pytest.mark.parametrize("name", ALL)
def test_an_untouched_run_passes(patient, name):
    row = outcome(patient, name)
    assert row["outcome"] == ("not applicable" if name == "onnx" else "pass"), row


def test_every_check_has_a_fault_planted_here():
    assert {
        *("batch_size", "padding", "row_order", "dtype", "dropout", "processes", "save_load", "labels", "metric"),
        *("kept", "truncation", "fitted_on", "overlap", "offsets", "plain_transformers", "onnx"),
    } == set(all_checks())


def test_a_model_that_ignores_the_attention_mask_is_caught(patient, with_model):
    row = failed(with_model(patient, ReadsPadding), "padding")
    assert "attention_mask" in row["advice"]
    failed(with_model(patient, ReadsPadding), "batch_size")


def test_a_model_that_mixes_the_rows_of_a_batch_is_caught(patient, with_model):
    assert failed(with_model(patient, MixesRows), "batch_size")["value"] > 0.01


def test_dropout_that_is_left_on_is_caught(patient, with_model):
    assert "dropout" in failed(with_model(patient, DropoutOn), "dropout")["advice"]


def test_a_model_with_a_memory_is_caught_by_the_order_of_rows(patient, with_model):
    assert failed(with_model(patient, Counts), "row_order")["value"] > 0


def test_a_model_that_needs_more_digits_than_bf16_has_is_caught(patient, with_model):
    row = failed(with_model(patient, TooLargeForHalf), "dtype")
    assert row["value"] > 0.02
    assert "--precision fp32" in row["advice"]


def test_a_part_that_is_not_saved_is_caught(patient):
    head = patient.system.model.classifier
    hook = head.register_forward_hook(lambda module, given, logits: logits * 1.5)
    try:
        assert failed(patient, "save_load")["value"] > 0
    finally:
        hook.remove()


def test_a_pickle_in_the_model_folder_is_caught(run, admitted):
    (run / "model" / "pytorch_model.bin").write_bytes(b"")
    assert "pytorch_model.bin" in failed(admitted(run), "save_load")["figure"]


def test_labels_in_another_order_than_trained_are_caught(run, admitted, rewritten):
    # FAULTS C2: the same weights under names that are swapped, and the predictions that come of it.
    names = ["positive", "negative"]
    rewritten(
        run / "model" / "config.json",
        id2label=dict(enumerate(names)),
        label2id={name: number for number, name in enumerate(names)},
    )
    patient = dataclasses.replace(admitted(run, limit=None), kept=False)
    row = failed(patient, "labels")
    assert "Reading negative as positive, positive as negative" in row["figure"]
    assert failed(admitted(run), "kept")["value"] > 0


def test_tables_of_names_that_disagree_are_caught(run, admitted, rewritten):
    rewritten(run / "model" / "config.json", label2id={"negative": 1, "positive": 0})
    assert "label2id" in failed(admitted(run), "labels")["figure"]


def test_predictions_of_another_model_are_caught(run, admitted):
    path = run / "predictions" / "fresh.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["scores"] = [row["scores"][1], row["scores"][0]]
        row["answer"] = {"negative": "positive", "positive": "negative"}[row["answer"]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert failed(admitted(run), "kept")["value"] == 24
    # The scores on file are of the predictions as they were.
    assert "scores/fresh.json says" in failed(admitted(run), "metric")["figure"]


def test_a_metric_that_averages_over_batches_is_caught(patient, monkeypatch):
    # FAULTS N5: a mean of the accuracy of batches of 7, whose last is smaller.
    from heldout.checks.doctor import metric

    real = metric.find

    def batched(name):
        found = real(name)

        def of(table):
            rows = np.arange(len(table))
            return float(np.mean([found.of(table.take(rows[at : at + 7])) for at in range(0, len(table), 7)]))

        return dataclasses.replace(found, exact=of)

    monkeypatch.setattr(metric, "find", batched)
    assert "heldout.eval says" in failed(patient, "metric")["figure"]


def test_lost_tokens_that_nobody_noted_are_caught(run, admitted):
    path = run / "predictions" / "fresh.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    del rows[0]["seen"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert "1 of them say nothing of it" in failed(admitted(run), "truncation")["figure"]


def test_a_temperature_fitted_on_the_test_is_caught(run, admitted, rewritten):
    # FAULTS C3: the provenance of what is fitted is checked, in fits/ and in the ledger.
    test = read_json(run / "ledger.json")["splits"]["fresh"]
    rewritten(run / "fits" / "temperature.json", fitted_on={"split": "fresh", "hash": test["hash"], "n": test["n"]})
    assert "temperature fitted on fresh" in failed(admitted(run), "fitted_on")["figure"]


def test_a_threshold_of_the_ledger_fitted_on_the_test_is_caught(run, admitted, rewritten):
    ledger = read_json(run / "ledger.json")
    test = ledger["splits"]["fresh"]
    entry = {"split": "fresh", "hash": test["hash"], "n": test["n"]}
    rewritten(run / "ledger.json", fitted=ledger["fitted"] | {"null_threshold": entry})
    assert "null_threshold fitted on fresh" in failed(admitted(run), "fitted_on")["figure"]


def test_duplicates_across_dev_and_test_are_caught_whatever_their_case_and_spaces(run, admitted):
    # FAULTS X1
    dev = [json.loads(line) for line in (run / "gold" / "dev.jsonl").read_text().splitlines()]
    path = run / "gold" / "fresh.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["text"]["text"] = dev[0]["text"]["text"].upper().replace(" ", "  ")
    longest = max(dev, key=lambda row: len(row["text"]["text"]))["text"]["text"]
    rows[1]["text"]["text"] = f"{longest} quite"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    row = failed(admitted(run), "overlap")
    assert f"2 of {len(rows)} texts of fresh stand in dev" in row["figure"]


def test_a_test_text_that_was_trained_on_is_caught_by_its_fingerprint(run, admitted):
    from heldout.data.fitted import fingerprint
    from heldout.records import read_card, read_gold

    first = read_gold(run / "gold" / "fresh.jsonl", read_card(run / "card.json"))[0]
    path = run / "train-texts.json"
    path.write_text(json.dumps([*read_json(path), fingerprint(first)]))
    assert "1 of 36 texts of fresh stand in train" in failed(admitted(run), "overlap")["figure"]


class Shifted:
    """A backend whose offsets count from the second character on, as one does that adds a space in front."""

    def __init__(self, backend, by):
        self.backend, self.by = backend, by
        self.decoder, self.pre_tokenizer = backend.decoder, backend.pre_tokenizer

    def encode_batch(self, texts, **how):
        found = self.backend.encode_batch(texts, **how)
        moved = [[(start + self.by, end + self.by) for start, end in one.offsets] for one in found]
        return [type("E", (), {"tokens": one.tokens, "offsets": o}) for one, o in zip(found, moved, strict=True)]


class InBytes(Shifted):
    """A backend whose offsets count bytes of UTF-8."""

    def encode_batch(self, texts, **how):
        found = self.backend.encode_batch(texts, **how)
        size = [[len(text[:at].encode()) for at in range(len(text) + 1)] for text in texts]
        moved = [[(table[s], table[e]) for s, e in one.offsets] for table, one in zip(size, found, strict=True)]
        return [type("E", (), {"tokens": one.tokens, "offsets": o}) for one, o in zip(found, moved, strict=True)]


@pytest.mark.parametrize(("broken", "least"), [(Shifted, 100), (InBytes, 20)])
def test_a_tokenizer_with_broken_offsets_is_caught(patient, broken, least):
    tokenizer = patient.system.encoding.tokenizer
    fake = type("T", (), {"backend_tokenizer": broken(tokenizer.backend_tokenizer, 1), "unk_token": "[UNK]"})
    texts = [*TORTURE, *(example.text["text"] for example in patient.examples)]
    wrong, tokens = faults(texts, tokens_of(fake), "[UNK]")
    assert tokens > 300
    assert len(wrong) >= least


def test_the_offsets_of_minilm_and_of_byte_level_bpe_hold_on_odd_unicode(minilm):
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(minilm)
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    wrong, tokens = faults(TORTURE, tokens_of(tokenizer), "[UNK]")
    assert tokens > 200
    assert wrong == []
    bytes_ = Tokenizer(models.BPE())
    bytes_.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, show_progress=False)
    bytes_.train_from_iterator(TORTURE, trainer)
    wrong, tokens = faults(TORTURE, tokens_of(type("T", (), {"backend_tokenizer": bytes_})), "")
    assert tokens > 200
    assert wrong == []


def test_a_letter_that_is_in_no_token_is_caught():
    wrong, _ = faults(["ab cd"], lambda texts: [[("ab", (0, 2))] for _ in texts], "[UNK]")
    assert len(wrong) == 1
    assert "2 letters" in wrong[0]


def test_a_config_that_makes_a_pipeline_put_a_sigmoid_on_the_logits_is_caught(run, admitted, rewritten):
    rewritten(run / "model" / "config.json", problem_type="multi_label_classification")
    assert "problem_type" in failed(admitted(run), "plain_transformers")["advice"]


def test_a_tokenizer_that_others_would_load_differently_is_caught(run, admitted):
    patient = admitted(run)
    path = run / "model" / "tokenizer.json"
    table = read_json(path)
    table["model"]["vocab"] = {word: (ids + 7) % 40 for word, ids in table["model"]["vocab"].items()}
    path.write_text(json.dumps(table))
    assert failed(patient, "plain_transformers")["figure"]


def test_a_model_that_does_not_load_elsewhere_is_a_failure_and_no_traceback(run, admitted):
    patient = admitted(run)
    shutil.rmtree(run / "model")
    assert "does not load" in failed(patient, "plain_transformers")["figure"]


def test_two_processes_answer_each_example_once(patient):
    row = outcome(patient, "processes")
    assert row["outcome"] == "pass", row
    assert "23 answers to 23 of 23 examples" in row["figure"]


@pytest.mark.parametrize("fault", ["doubled", "lost", "other", "died"])
def test_answers_of_two_processes_that_are_doubled_lost_or_others_are_caught(patient, monkeypatch, fault):
    # FAULTS E1: the last batch is filled up, or dropped.
    def processes(patient, n):
        good = list(patient.predictions[:n])
        flipped = [Prediction(p.id, p.answer, p.scores[::-1]) for p in good]
        answers = {"doubled": [*good, good[0]], "lost": good[:-1], "other": flipped, "died": []}[fault]
        return answers, "out of memory" if fault == "died" else ""

    monkeypatch.setattr(two, "two_processes", processes)
    row = failed(patient, "processes")
    expected = {
        "doubled": "24 answers to 23 of 23",
        "lost": "22 answers to 22 of 23",
        "other": "probabilities by",
        "died": "memory",
    }
    assert expected[fault] in row["figure"]


def test_a_check_that_is_none_is_refused_with_the_nearest(patient):
    with pytest.raises(Refused, match=r"--only paddings: no such check; did you mean padding\?"):
        examine(patient, ["paddings"])


class Graph(nn.Module):
    """A model as a function of its three inputs, for the export."""

    def __init__(self, model, scale=1.0):
        super().__init__()
        self.model, self.scale = model, scale

    def forward(self, input_ids, token_type_ids, attention_mask):
        found = self.model(input_ids=input_ids, token_type_ids=token_type_ids, attention_mask=attention_mask)
        return found.logits * self.scale


def asking(graph):
    """An exported model as heldout.checks.doctor.onnx asks it, without an export of several seconds."""

    def ask(inputs):
        with torch.inference_mode():
            return {"logits": graph(**{name: torch.from_numpy(value) for name, value in inputs.items()}).numpy()}

    return ask


@pytest.mark.parametrize(
    ("scale", "name", "passes"), [(1.0, "model", True), (1.1, "model", False), (1.1, "int8", True)]
)
def test_an_export_that_answers_otherwise_is_caught(run, admitted, monkeypatch, scale, name, passes):
    from heldout.checks.doctor import onnx

    (run / "onnx").mkdir()
    (run / "onnx" / f"{name}.onnx").write_bytes(b"")
    patient = admitted(run)
    monkeypatch.setattr(onnx, "session", lambda path: asking(Graph(patient.system.model, scale)))
    assert outcome(patient, "onnx")["outcome"] == ("pass" if passes else "fail")


def test_an_export_that_does_not_load_is_caught(run, admitted):
    pytest.importorskip("onnxruntime")
    (run / "onnx").mkdir()
    (run / "onnx" / "model.onnx").write_bytes(b"no graph")
    assert "does not run: model.onnx" in failed(admitted(run), "onnx")["figure"]
