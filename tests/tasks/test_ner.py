from dataclasses import replace
from itertools import accumulate, pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heldout.bio import best_valid, strict
from heldout.records import Example
from heldout.tasks import load_task
from heldout.tasks.ner import NOWHERE, cut, most_context
from heldout.train.models import load_model, load_tokenizer
from heldout.train.precision import make_accelerator
from heldout.train.system import System
from heldout.train.task import Encoding
from heldout.train.untrusted import Source
from heldout.train.windows import IGNORED, collate

LABELS = ["O", "B-place", "I-place", "B-work", "I-work"]
TASK = load_task("ner")
# Control characters, a zero-width space and white space come to no sub-word.
SENTENCES = [
    ("the film Malmo is dull", "B-work I-work I-work O O"),
    ("never", "O"),
    ("the \x00 \u200b film", "O B-place O B-work"),
    (
        "the plot is not very bright and the song is stale in Malmo and its ending is noisy",
        "O " * 12 + "B-place O O O O O",
    ),
    ("\x00", "B-place"),
    ("a a a a a a a a a a a a a a", "B-work " + "I-work " * 13),
]


def examples(sentences=SENTENCES):
    return [
        Example(f"n{row}", {"words": words.split(" ")}, tags.split(), {}) for row, (words, tags) in enumerate(sentences)
    ]


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return load_tokenizer(Source(str(tiny_model)), 64)


@pytest.fixture
def system(tiny_model, tokenizer):
    model = load_model(TASK.model, Source(str(tiny_model)), labels=LABELS, seed=3)
    accelerator = make_accelerator("fp32")
    ready = accelerator.prepare_model(model, evaluation_mode=True)
    return System(TASK, ready, encoding(tokenizer), LABELS, accelerator)


def encoding(tokenizer, **changes):
    return Encoding(tokenizer, LABELS, **({"max_length": 16} | changes))


def oracle_logits(encoded, rows, labels=LABELS):
    """Logits of a model that knows gold wherever it reads a word, and is sure of a wrong tag everywhere else."""
    found = []
    for window in encoded.flat():
        values = np.full((len(window), len(labels)), -9.0, np.float32)
        for position, word in enumerate(window.places):
            tag = "B-work" if word == NOWHERE else rows[window.example].gold[word]
            values[position, labels.index(tag)] = 9.0
        found.append(values)
    return found


def test_a_word_is_read_at_its_first_sub_word_as_the_tokenizer_itself_aligns_it(tokenizer):
    rows, looked = examples(), 0
    encoded = TASK.encode(rows, encoding(tokenizer, max_length=64))
    for example, (window,) in zip(rows, encoded.windows, strict=True):
        theirs = tokenizer(example.text["words"], is_split_into_words=True)
        assert window.inputs["input_ids"] == theirs["input_ids"]
        assert window.inputs["token_type_ids"] == theirs["token_type_ids"]
        words = theirs.word_ids()
        firsts = [w if w is not None and w not in words[:n] else NOWHERE for n, w in enumerate(words)]
        assert window.places == firsts
        assert window.target == [IGNORED if w == NOWHERE else LABELS.index(example.gold[w]) for w in firsts]
        looked += sum(w != NOWHERE for w in firsts)
    assert looked == sum(len(e.gold) for e in rows) - 3


def test_a_word_of_several_sub_words_is_one_entity(tokenizer):
    # FAULTS N1: all sub-words of "Malmo" labelled B- counted as an entity each.
    row = Example("n", {"words": ["Malmo"]}, ["B-place"], {})
    encoded = TASK.encode([row], encoding(tokenizer))
    assert len(encoded.windows[0][0]) == 2 + len("malmo")
    everywhere = [np.tile(np.float32([0, 9, 0, 0, 0]), (7, 1))]
    (said,) = TASK.decode([row], encoded, everywhere, LABELS)
    assert said.answer == ["B-place"]
    assert [(e["start"], e["end"], e["type"]) for e in said.entities] == [(0, 1, "place")]


def test_words_that_come_to_nothing_are_answered_o_with_certainty_and_teach_nothing(system):
    rows = examples()
    encoded = TASK.encode(rows, system.encoding)
    said = system.answer(rows, encoded, "test")
    assert [len(p.answer) for p in said] == [len(e.gold) for e in rows] == [len(p.scores) for p in said]
    for row, word in ((2, 1), (2, 2), (4, 0)):
        assert said[row].answer[word] == "O"
        assert said[row].scores[word] == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert [sum(w.weight for w in windows) for windows in encoded.windows] == [5, 1, 2, 18, 0, 14]


def test_nothing_is_lost_of_a_sentence_that_is_longer_than_the_model(tokenizer):
    # FAULTS N4: gold beyond the limit was dropped and recall inflated. An entity at word 600, windows of 128.
    words = ["plot"] * 700
    gold = ["O"] * 600 + ["B-work", "I-work"] + ["O"] * 98
    row = Example("n", {"words": words}, gold, {})
    encoded = TASK.encode([row], encoding(tokenizer, max_length=64))
    assert len(encoded.windows[0]) > 10
    assert encoded.seen == [{"tokens": 700, "lost": 0}]
    (said,) = TASK.decode([row], encoded, oracle_logits(encoded, [row]), LABELS)
    assert said.answer == gold


@pytest.mark.parametrize("stride", [None, 0, 3, 13])
def test_what_the_model_says_at_a_word_is_what_the_answer_says_whatever_the_windows(tokenizer, stride):
    rows = [example for example in examples() if "\x00" not in example.text["words"]]
    encoded = TASK.encode(rows, encoding(tokenizer, stride=stride))
    assert max(map(len, encoded.windows)) > 1
    said = TASK.decode(rows, encoded, oracle_logits(encoded, rows), LABELS)
    assert [p.answer for p in said] == [e.gold for e in rows]
    assert [[(e["start"], e["end"], e["type"]) for e in p.entities] for p in said] == [strict(e.gold) for e in rows]


def test_windows_and_tokens_do_not_depend_on_the_tags(tokenizer):
    # FAULTS N7: long texts were cut with the help of gold entities.
    rows = examples()
    turned = [replace(row, gold=["O"] * len(row.gold)) for row in rows]
    one, two = (TASK.encode(each, encoding(tokenizer)) for each in (rows, turned))
    assert [w.inputs for w in one.flat()] == [w.inputs for w in two.flat()]
    assert [w.places for w in one.flat()] == [w.places for w in two.flat()]


def test_of_a_word_longer_than_a_window_the_beginning_is_read_and_the_rest_counted(tokenizer):
    row = Example("n", {"words": ["the", "x" * 40, "film"]}, ["O", "B-work", "O"], {})
    encoded = TASK.encode([row], encoding(tokenizer))
    assert encoded.seen == [{"tokens": 2 + 14, "lost": 40 - 14}]
    assert all(len(window) <= 16 for window in encoded.flat())
    (said,) = TASK.decode([row], encoded, oracle_logits(encoded, [row]), LABELS)
    assert said.answer == row.gold


LENGTHS = st.lists(st.integers(1, 6), max_size=30)


@given(LENGTHS, st.integers(6, 20), st.integers(0, 25))
def test_windows_are_cut_between_words_fit_and_share_no_more_than_the_stride(lengths, room, stride):
    spans = cut(lengths, room, stride)
    before = [0, *accumulate(lengths)]
    assert spans[0][0] == 0
    assert spans[-1][1] == len(lengths)
    assert all(before[end] - before[first] <= room for first, end in spans)
    for (first, end), (following, behind) in pairwise(spans):
        assert first < following <= end < behind
        shared = before[end] - before[following]
        assert shared <= stride
        # One word more would be too much to share, or leave no room for the next.
        one_more = before[end] - before[following - 1]
        assert following == first or one_more > stride or before[end + 1] - before[following - 1] > room


@given(LENGTHS, st.integers(6, 20), st.integers(0, 12))
def test_every_word_is_read_in_one_window_that_holds_it_with_the_most_context(lengths, room, stride):
    spans, before = cut(lengths, room, stride), [0, *accumulate(lengths)]
    read_in = most_context(lengths, spans)
    for word, number in enumerate(read_in):
        shown = [
            min(before[word] - before[first], before[end] - before[word + 1]) if first <= word < end else -1
            for first, end in spans
        ]
        assert shown[number] == max(shown) >= 0


def test_the_loss_of_a_step_is_the_mean_over_its_words_however_it_is_cut(tokenizer, system):
    # FAULTS T3: a mean of means weighs the words of a short micro-batch too much.
    encoded = TASK.encode(examples(), system.encoding)
    windows = encoded.flat()

    def summed(some):
        batch = collate(some, tokenizer.pad_token_id)
        with torch.no_grad():
            return TASK.loss(system.model(**batch.inputs), batch.targets, batch.weights).item()

    whole = summed(windows)
    assert whole == pytest.approx(sum(summed([window]) for window in windows), rel=1e-5)
    batch = collate(windows, tokenizer.pad_token_id)
    with torch.no_grad():
        logits = system.model(**batch.inputs).logits
    mean = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten())
    assert whole / sum(window.weight for window in windows) == pytest.approx(mean.item(), rel=1e-5)
    assert sum(window.weight for window in windows) == 40


def test_answers_are_the_best_valid_sequence_of_the_scores_that_are_written(system):
    rows = examples()
    with torch.no_grad():
        system.model.classifier.bias[LABELS.index("I-work")] += 3
    said = system.predict(rows)
    argmax = [[LABELS[int(np.argmax(word))] for word in p.scores] for p in said]
    assert [best_valid(p.scores, LABELS) for p in said] == [p.answer for p in said]
    assert argmax != [p.answer for p in said], "this model says what IOB2 does not allow"
    for p in said:
        assert np.abs(np.sum(p.scores, axis=1) - 1).max() < 1e-4
        assert [(e["start"], e["end"], e["type"]) for e in p.entities] == strict(p.answer)
        for e in p.entities:
            chosen = [p.scores[n][LABELS.index(p.answer[n])] for n in range(e["start"], e["end"])]
            assert e["p"] == pytest.approx(np.mean(chosen), rel=1e-5)
    assert sum(len(p.entities) for p in said) > 0


def same(one, two):
    assert [p.id for p in one] == [p.id for p in two]
    assert [p.answer for p in one] == [p.answer for p in two]
    for a, b in zip(one, two, strict=True):
        assert np.abs(np.array(a.scores) - np.array(b.scores)).max() < 1e-5


@pytest.mark.parametrize("batch", [1, 3, 16])
@pytest.mark.parametrize("pad_to", [0, 64])
def test_neither_batch_nor_padding_changes_a_prediction(system, tokenizer, batch, pad_to):
    # FAULTS E1, E6, N5: 25 sentences are no multiple of any batch.
    from heldout.train.predict import predict

    rows = [replace(row, id=f"{n}-{row.id}") for n in range(5) for row in examples()][:25]
    encoded = TASK.encode(rows, system.encoding)
    windows = encoded.flat()
    one = [predict(system.model, [window], system.accelerator, pad_id=0)[0] for window in windows]
    many = predict(system.model, windows, system.accelerator, pad_id=0, token_budget=16 * batch, pad_to=pad_to)
    assert [values.shape for values in many] == [(len(window), 5) for window in windows]
    said = [TASK.decode(rows, encoded, logits, LABELS) for logits in (one, many)]
    assert len(said[1]) == 25
    same(*said)


def test_a_model_with_its_labels_in_another_order_answers_the_same(system, tokenizer, tiny_model):
    # FAULTS C2.
    turned = ["I-work", "O", "B-place", "I-place", "B-work"]
    model = load_model(TASK.model, Source(str(tiny_model)), labels=turned, seed=1)
    with torch.no_grad():
        for mine, theirs in ((model.classifier.weight, system.model.classifier.weight), (model.classifier.bias, None)):
            values = torch.zeros_like(mine) if theirs is None else theirs[[LABELS.index(label) for label in turned]]
            mine.copy_(values)
        system.model.classifier.bias.zero_()
    accelerator = system.accelerator
    other = System(
        TASK, accelerator.prepare_model(model, evaluation_mode=True), encoding(tokenizer), LABELS, accelerator
    )
    other = replace(other, encoding=replace(other.encoding, labels=turned))
    same(system.predict(examples()), other.predict(examples()))


@pytest.fixture(scope="module")
def byte_level(tmp_path_factory):
    """RoBERTa's kind of tokenizer, trained on our own words, saved as transformers saves it."""
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaTokenizer

    folder = tmp_path_factory.mktemp("bytes")
    made = ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made.train_from_iterator(["the film in Malmö is not dull, and the plot is" * 3], 330, special_tokens=special)
    made.save_model(str(folder))
    RobertaTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(folder)
    (folder / "config.json").write_text('{"model_type": "roberta"}')
    return folder


def loaded(folder):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def test_words_of_a_byte_level_tokenizer_are_those_of_running_text(byte_level, tmp_path):
    # FAULTS Q5: without the space a word inside a sentence becomes the sub-words of a beginning.
    words = ["the", "film", "in", "Malmö", "", " ", "is", "\x00", "dull"]
    row = Example("n", {"words": words}, ["O"] * 9, {})
    tokenizer = loaded(byte_level)
    (window,) = TASK.encode([row], encoding(tokenizer, max_length=64)).windows[0]
    spaced = tokenizer.convert_ids_to_tokens(loaded(byte_level)(" the film in Malmö")["input_ids"])
    mine = tokenizer.convert_ids_to_tokens(window.inputs["input_ids"])
    assert mine[: len(spaced) - 1] == spaced[:-1]
    assert "Ġfilm" in mine
    read = [word for word in window.places if word != NOWHERE]
    assert read == sorted(set(read))
    assert set(read) >= {0, 1, 2, 3, 6, 8}
    tokenizer.save_pretrained(tmp_path)
    again = loaded(tmp_path)(words, is_split_into_words=True)
    assert again["input_ids"] == window.inputs["input_ids"]
