from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import Refused
from heldout.records import Example
from heldout.tasks import load_task
from heldout.train.framing import longest_first
from heldout.train.models import load_model, load_tokenizer
from heldout.train.precision import make_accelerator
from heldout.train.predict import predict
from heldout.train.system import System
from heldout.train.task import Encoding
from heldout.train.untrusted import Source

LABELS = ["entailment", "neutral", "contradiction"]
TASK = load_task("nli")
LONG = "the plot is not very bright and the song is stale " * 3
PAIRS = [
    ("a lovely film", "the film is lovely"),
    ("the plot is dull and the actor is noisy", "a"),
    ("a", "the plot is dull and the actor is noisy"),
    (LONG, "the song is bright"),
    ("the song is bright", LONG),
    (LONG, LONG + "a film"),
    (LONG + "a film", LONG),
    (LONG, LONG),
]


def examples(pairs=PAIRS):
    return [
        Example(f"e{row}", {"premise": one, "hypothesis": other}, LABELS[row % 3], {})
        for row, (one, other) in enumerate(pairs)
    ]


@pytest.fixture(scope="module")
def bert(tiny_model):
    return load_tokenizer(Source(str(tiny_model)), 64)


@pytest.fixture(scope="module")
def roberta(tmp_path_factory):
    """A byte-level tokenizer of no merges with RoBERTa's own frame, <s> a </s></s> b </s>, and no segments."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocab = {word: row for row, word in enumerate([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokenizer = Tokenizer(models.BPE(vocab, [], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>"}
    folder = tmp_path_factory.mktemp("roberta")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=["input_ids", "attention_mask"], **names
    ).save_pretrained(folder)
    (folder / "config.json").write_text('{"model_type": "roberta"}')
    (folder / "model.safetensors").write_bytes(b"")
    return load_tokenizer(Source(str(folder)), 64)


def encoding(tokenizer, **changes):
    return Encoding(tokenizer, **({"labels": LABELS, "max_length": 16} | changes))


@pytest.fixture
def system(tiny_model, bert):
    model = load_model(TASK.model, Source(str(tiny_model)), labels=LABELS, seed=3)
    accelerator = make_accelerator("fp32")
    prepared = accelerator.prepare_model(model, evaluation_mode=True)
    return System(TASK, prepared, encoding(bert), LABELS, accelerator)


@pytest.mark.parametrize("name", ["bert", "roberta"])
@pytest.mark.parametrize("max_length", [6, 7, 16, 17, 64])
def test_a_pair_is_encoded_as_the_tokenizer_itself_frames_and_truncates_it(request, name, max_length):
    tokenizer = request.getfixturevalue(name)
    tokenizer.truncation_side = "right"
    encoded = TASK.encode(examples(), encoding(tokenizer, max_length=max_length))
    one, other = zip(*PAIRS, strict=True)
    theirs = tokenizer(list(one), list(other), truncation="longest_first", max_length=max_length)
    ours = [window.inputs for window in encoded.flat()]
    assert [row["input_ids"] for row in ours] == theirs["input_ids"]
    assert [row.get("token_type_ids") for row in ours] == theirs.get("token_type_ids", [None] * len(PAIRS))
    assert (1 in ours[0].get("token_type_ids", [])) == (name == "bert")


@pytest.mark.parametrize("name", ["bert", "roberta"])
def test_the_tails_of_a_pair_are_kept_as_a_tokenizer_that_truncates_on_the_left_does(request, name):
    tokenizer = request.getfixturevalue(name)
    encoded = TASK.encode(examples(), encoding(tokenizer, long="tail"))
    one, other = zip(*PAIRS, strict=True)
    tokenizer.truncation_side = "left"
    theirs = tokenizer(list(one), list(other), truncation="longest_first", max_length=16)
    tokenizer.truncation_side = "right"
    assert [window.inputs["input_ids"] for window in encoded.flat()] == theirs["input_ids"]


@given(st.integers(0, 60), st.integers(0, 60), st.integers(2, 40))
def test_tokens_are_taken_from_the_longer_one_by_one(first, second, room):
    kept = [first, second]
    while sum(kept) > room:
        # Of two that are equally long by now, the one that was the shorter (or the first) loses.
        kept[0 if kept[0] >= kept[1] and not (kept[0] == kept[1] and first > second) else 1] -= 1
    assert longest_first(first, second, room) == tuple(kept)


def test_what_was_cut_is_counted_for_every_pair(bert):
    encoded = TASK.encode(examples(), encoding(bert))
    whole = [sum(len(bert(text, add_special_tokens=False)["input_ids"]) for text in pair) for pair in PAIRS]
    assert [seen["tokens"] + seen["lost"] for seen in encoded.seen] == whole
    assert [seen["lost"] > 0 for seen in encoded.seen] == [n > 13 for n in whole]
    assert {True, False} == {n > 13 for n in whole}


@pytest.mark.parametrize("only", ["premise", "hypothesis"])
def test_only_one_text_is_read_where_that_is_asked_for(bert, only):
    encoded = TASK.encode(examples(), encoding(bert, only=only))
    alone = [pair[only == "hypothesis"] for pair in PAIRS]
    assert [w.inputs["input_ids"] for w in encoded.flat()] == bert(alone, truncation=True, max_length=16)["input_ids"]
    assert all(set(window.inputs["token_type_ids"]) == {0} for window in encoded.flat())


def test_windows_of_a_pair_and_a_limit_without_room_are_refused(bert):
    with pytest.raises(Refused, match="--long windows: one text is read in windows, a pair is not"):
        TASK.encode(examples(), encoding(bert, long="windows"))
    with pytest.raises(Refused, match="--max-length 4: leaves no token of one of the texts"):
        TASK.encode(examples(), encoding(bert, max_length=4))
    assert len(TASK.encode(examples(), encoding(bert, long="windows", only="hypothesis")).flat()) > len(PAIRS)


def test_a_tokenizer_that_puts_nothing_between_two_texts_is_refused(bert):
    from copy import deepcopy

    from tokenizers import processors

    bare = deepcopy(bert)
    bare.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", pair="[CLS] $A $B", special_tokens=[("[CLS]", 2)]
    )
    with pytest.raises(Refused, match="no special tokens between two texts"):
        TASK.encode(examples(), encoding(bare))


@pytest.mark.parametrize("pad_to", [0, 64])
@pytest.mark.parametrize("batch", [1, 3, 16])
def test_neither_the_batch_nor_padding_changes_an_output(system, bert, pad_to, batch):
    # FAULTS E6, and the "batch size 1, 3, 16, padding 0 and 64".
    windows = TASK.encode(examples(), encoding(bert)).flat()
    ours = predict(system.model, windows, system.accelerator, pad_id=0)
    budget = max(map(len, windows)) * batch
    theirs = predict(system.model, windows, system.accelerator, pad_id=0, pad_to=pad_to, token_budget=budget)
    assert len(ours) == len(theirs) == len(PAIRS)
    assert np.abs(np.array(ours) - np.array(theirs)).max() < 1e-5


def test_the_order_of_the_two_texts_matters_and_answers_keep_their_ids(system):
    rows = examples(PAIRS[:5])
    said = system.predict(rows)
    assert [prediction.id for prediction in said] == [example.id for example in rows]
    turned = [replace(e, text={"premise": e.text["hypothesis"], "hypothesis": e.text["premise"]}) for e in rows]
    assert all(a.scores != pytest.approx(b.scores, abs=1e-4) for a, b in zip(said, system.predict(turned), strict=True))


def test_a_model_whose_labels_are_permuted_gives_the_same_answers(system, bert):
    # FAULTS C2: MNLI's labels in another order made 4 to 7% accuracy of 85 to 90%.
    import torch

    rows = examples()
    plain = system.predict(rows)
    order = [2, 0, 1]
    head = system.accelerator.unwrap_model(system.model).classifier
    with torch.no_grad():
        head.weight.copy_(head.weight[order].clone())
        head.bias.copy_(head.bias[order].clone())
    turned = replace(system, encoding=encoding(bert, labels=[LABELS[row] for row in order]))
    said = turned.predict(rows)
    assert [prediction.answer for prediction in said] == [prediction.answer for prediction in plain]
    assert [p.scores for p in said] == [pytest.approx(p.scores, abs=1e-6) for p in plain]


def test_gold_that_the_model_has_no_label_for_can_be_predicted_beside_gold_it_has(system):
    rows = [replace(example, gold=("entailment", "non-entailment")[n % 2]) for n, example in enumerate(examples())]
    assert [p.scores for p in system.predict(rows)] == [p.scores for p in system.predict(examples())]
