import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from heldout.answers import span_prediction
from heldout.errors import Refused
from heldout.records import Card, Example
from heldout.tasks import load_task
from heldout.tasks.qa import NBEST, window_starts
from heldout.train.models import load_model, load_tokenizer
from heldout.train.precision import make_accelerator
from heldout.train.predict import predict
from heldout.train.system import System
from heldout.train.task import Encoding
from heldout.train.untrusted import Source
from heldout.train.windows import collate

HEAD = ("LABEL_0", "LABEL_1")
V1, V2 = (Card("qa", version, "span", (), ("f1", "em")) for version in ("1.1", "2.0"))
TASK, ABSTAINING = load_task("qa", V1), load_task("qa", V2)
LONG = " ".join(f"scene {number} was very quite bright with a song" for number in "abcdefghij")
ROWS = [
    ("is the film dull", "the film is not dull, never.", ["not dull"]),
    ("what ends it", "Dull! It ends with a lovely song", ["a lovely song", "lovely song"]),
    ("what begins it", "Dull! It ends with a lovely song", ["Dull"]),
    ("who", LONG, ["scene e"]),
    ("what was", LONG, ["song"]),
    ("is it", "never", []),
    ("the film is " * 12, "the plot was noisy and stale", ["noisy"]),
]


def examples(rows=ROWS):
    return [
        Example(
            f"q{row}",
            {"question": question, "context": context},
            [{"text": text, "start": context.index(text)} for text in texts],
        )
        for row, (question, context, texts) in enumerate(rows)
    ]


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return load_tokenizer(Source(str(tiny_model)), 64)


@pytest.fixture
def system(tiny_model, tokenizer):
    model = load_model(TASK.model, Source(str(tiny_model)), labels=HEAD, seed=3)
    accelerator = make_accelerator("fp32")
    return System(TASK, accelerator.prepare_model(model, evaluation_mode=True), encoding(tokenizer), HEAD, accelerator)


def encoding(tokenizer, **changes):
    return Encoding(tokenizer, HEAD, **({"max_length": 32} | changes))


def text_of(window, context, first, last):
    """The text of the tokens at these positions of a window."""
    read = window.places
    tokens = (first - read.position + read.first, last - read.position + read.first)
    return context[read.passage.starts[tokens[0]] : read.passage.ends[tokens[1]]]


# Windows ------------------------------------------------------------------------------------------------------------


def test_a_short_passage_is_encoded_as_the_tokenizer_itself_does_a_pair(tokenizer):
    encoded = TASK.encode(examples(), encoding(tokenizer, max_length=64))
    looked_at = 0
    for row, (question, context, _) in enumerate(ROWS):
        theirs = tokenizer(question, context)
        if len(theirs["input_ids"]) <= 64 and not encoded.seen[row]["lost"]:
            looked_at += 1
            (window,) = encoded.windows[row]
            assert window.inputs == {name: theirs[name] for name in ("input_ids", "token_type_ids")}
    assert looked_at >= 4


@given(st.integers(0, 300), st.integers(1, 40), st.none() | st.integers(0, 60))
def test_windows_cover_every_token_and_share_what_was_asked_for(length, room, stride):
    starts = window_starts(length, room, stride)
    ends = [min(start + room, length) for start in starts]
    assert starts[0] == 0
    assert ends[-1] == length
    shared = min(room // 4 if stride is None else stride, room // 2)
    assert all(end - start >= shared for start, end in zip(starts[1:], ends, strict=False))
    assert len(starts) <= 1 + 2 * max(length - room, 0)


def test_the_answer_is_taught_where_it_stands_and_cls_where_it_does_not(tokenizer):
    encoded = TASK.encode(examples(), encoding(tokenizer))
    taught = []
    for example, windows in zip(examples(), encoded.windows, strict=True):
        assert sum(window.weight for window in windows) == pytest.approx(1)
        for window in windows:
            start, end, length = window.target
            assert length == len(window) <= 32
            if (start, end) != (0, 0):
                taught.append(example.id)
                assert text_of(window, example.text["context"], start, end) == example.gold[0]["text"]
    # q3's answer stands in one of its windows or, where they overlap, in two; q5 has none.
    assert set(taught) == {"q0", "q1", "q2", "q3", "q4", "q6"}
    assert len(encoded.windows[3]) > 3


def test_what_most_annotators_gave_is_taught(tokenizer):
    context = "a lovely song, a bright film"
    gold = [{"text": text, "start": context.index(text)} for text in ("lovely", "a bright film", "a bright film")]
    (window,) = TASK.encode([Example("q", {"question": "what", "context": context}, gold)], encoding(tokenizer)).flat()
    assert text_of(window, context, *window.target[:2]) == "a bright film"


def test_only_a_question_past_half_a_window_is_cut_and_that_is_counted(tokenizer):
    encoded = TASK.encode(examples(), encoding(tokenizer))
    whole = [
        [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in (question, context)]
        for question, context, _ in ROWS
    ]
    half = (32 - 3) // 2
    for seen, (question, context) in zip(encoded.seen, whole, strict=True):
        assert seen["tokens"] == min(question, half) + context
        assert seen["lost"] == max(question - half, 0)
    assert [seen["lost"] > 0 for seen in encoded.seen] == [False] * 6 + [True]


def test_an_answer_in_no_window_is_counted_and_teaches_nothing(tokenizer):
    whole = " ".join(["bright"] * 40)
    rows = [("what", whole, [whole]), ("what", "the film was bright", ["film was bright"])]
    encoded = TASK.encode(examples(rows), encoding(tokenizer))
    assert [seen.get("unreachable") for seen in encoded.seen] == [1, None]
    assert {window.weight for window in encoded.windows[0]} == {0.0}
    # It must also be short enough to be given.
    encoded = TASK.encode(examples(rows), encoding(tokenizer, max_answer=2))
    assert [seen.get("unreachable") for seen in encoded.seen] == [1, 1]


def test_an_answer_that_can_be_given_is_taught_before_one_that_most_gave_but_is_too_long(tokenizer):
    context = "a lovely song, a bright film"
    gold = [{"text": text, "start": context.index(text)} for text in (context, context, "lovely")]
    rows = [Example("q", {"question": "what", "context": context}, gold)]
    (window,) = TASK.encode(rows, encoding(tokenizer, max_answer=3)).flat()
    assert text_of(window, context, *window.target[:2]) == "lovely"
    assert window.weight == 1


def test_a_tokenizer_that_puts_nothing_first_is_refused(tokenizers):
    # T5's way; position 0 would be a token of the question.
    backend = Tokenizer.from_str(tokenizers["bytes"].backend_tokenizer.to_str())
    backend.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)]
    )
    bare = PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>", eos_token="</s>")
    with pytest.raises(Refused, match="no special token first"):
        TASK.encode(examples(), encoding(bare))


def test_a_window_without_room_for_both_texts_is_refused(tokenizer):
    with pytest.raises(Refused, match="--max-length 4"):
        TASK.encode(examples(), encoding(tokenizer, max_length=4))


# The search ---------------------------------------------------------------------------------------------------------


def random_logits(encoded, seed=0):
    generator = np.random.default_rng(seed)
    return [generator.normal(0, 3, (len(window), 2)).astype(np.float32) for window in encoded.flat()]


def brute(example, windows, logits, tokenizer, longest):
    """Every span of every window by a double loop, straight from the tokenizer's offsets of the whole passage."""
    context = example.text["context"]
    offsets = tokenizer(context, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    found, null = {}, math.inf
    for window, rows in zip(windows, logits, strict=True):
        types = window.inputs["token_type_ids"]
        inside = [at for at in range(len(types)) if types[at] == 1][:-1]
        null = min(null, float(rows[0, 0]) + float(rows[0, 1]))
        for i in inside:
            for j in inside:
                if i <= j < i + longest:
                    first, last = (window.places.first + at - inside[0] for at in (i, j))
                    place = (offsets[first][0], offsets[last][1])
                    found[place] = max(found.get(place, -math.inf), float(rows[i, 0]) + float(rows[j, 1]))
    return found, null


@pytest.mark.parametrize("longest", [1, 3, 30])
def test_decoding_is_the_double_loop_over_all_windows(tokenizer, longest):
    rows = examples()
    encoded = TASK.encode(rows, encoding(tokenizer, max_answer=longest))
    logits = random_logits(encoded)
    predictions = TASK.decode(rows, encoded, logits, HEAD)
    at = 0
    for example, windows, prediction in zip(rows, encoded.windows, predictions, strict=True):
        found, null = brute(example, windows, logits[at : at + len(windows)], tokenizer, longest)
        at += len(windows)
        total = math.log(sum(math.exp(score) for score in found.values()) + math.exp(null))
        ranked = sorted(found.items(), key=lambda item: -item[1])[:NBEST]
        scores = prediction.scores
        assert [(span["start"], span["end"]) for span in scores["nbest"]] == [place for place, _ in ranked]
        assert [span["p"] for span in scores["nbest"]] == pytest.approx([math.exp(s - total) for _, s in ranked])
        assert scores["null_score"] == pytest.approx(null - ranked[0][1])
        assert scores["best"] == scores["nbest"][0]
        for span in scores["nbest"]:
            assert span["text"] == example.text["context"][span["start"] : span["end"]]
        assert prediction.answer == scores["best"]["text"]
        span_prediction("here", prediction.to_json(), ())
    assert at == len(logits) > len(rows)


def peaked(encoded, start, end, high=50.0):
    """Logits of one window that are high at these positions only."""
    (window,) = encoded.flat()
    rows = np.zeros((len(window), 2), np.float32)
    rows[start, 0] = rows[end, 1] = high
    return [rows]


def test_logits_that_peak_on_question_and_specials_leave_the_answer_in_the_passage(tokenizer):
    # FAULTS Q11: a top 20 over all positions that is full of question tokens finds no answer at all.
    rows = [Example("q", {"question": "the film is quite very " * 6, "context": "dull, never bright"}, [])]
    encoded = TASK.encode(rows, encoding(tokenizer, max_length=64))
    (window,) = encoded.flat()
    position = window.places.position
    assert position > NBEST + 2
    logits = np.zeros((len(window), 2), np.float32)
    logits[:position] = 40 + np.arange(position)[:, None]
    logits[-1] = 90
    logits[position + 2] = 1
    scores = TASK.decode(rows, encoded, [logits], HEAD)[0].scores
    assert scores["best"]["text"] == "never"
    assert all(span["text"] in "dull, never bright" for span in scores["nbest"])


@pytest.mark.parametrize(("answer", "side"), [("Dull", 0), ("song", -1)])
def test_an_answer_on_the_passages_first_or_last_token_is_an_answer(tokenizer, answer, side):
    # FAULTS Q9: only (CLS, CLS) says that there is none.
    context = "Dull! It ends with a lovely song"
    rows = examples([("what", context, [answer])])
    encoded = ABSTAINING.encode(rows, encoding(tokenizer))
    (window,) = encoded.flat()
    read = window.places
    at = read.position if side == 0 else read.position + read.tokens - 1
    assert window.target[:2] == (at, at)
    assert ABSTAINING.decode(rows, encoded, peaked(encoded, at, at), HEAD)[0].answer == answer


def test_with_impossible_questions_the_null_answers_where_it_scores_higher(tokenizer):
    rows = examples([("what", "a lovely song", ["song"])])
    encoded = ABSTAINING.encode(rows, encoding(tokenizer))
    logits = peaked(encoded, 0, 0)
    (said,) = ABSTAINING.decode(rows, encoded, logits, HEAD)
    assert said.answer == ""
    assert said.scores["null_score"] == 100.0
    assert said.scores["best"]["text"]
    # SQuAD 1.1 always has an answer, whatever the null scores.
    assert TASK.decode(rows, encoded, logits, HEAD)[0].answer == said.scores["best"]["text"]
    # CLS as the start alone is no null: its end is in the passage.
    position = encoded.flat()[0].places.position
    assert ABSTAINING.decode(rows, encoded, peaked(encoded, 0, position, 1.0), HEAD)[0].scores["null_score"] == 0.0
    assert ABSTAINING.decode(rows, encoded, peaked(encoded, 0, position, 1.0), HEAD)[0].answer == "a"


def test_the_null_of_several_windows_is_the_lowest(tokenizer):
    rows = examples([ROWS[3]])
    encoded = ABSTAINING.encode(rows, encoding(tokenizer))
    logits = [np.zeros((len(window), 2), np.float32) for window in encoded.flat()]
    assert len(logits) > 3
    for number, window in enumerate(logits):
        window[0] = 10.0 if number else -3.0
    assert ABSTAINING.decode(rows, encoded, logits, HEAD)[0].scores["null_score"] == -6.0


def test_a_passage_that_comes_to_no_token_has_all_of_it_as_best_at_no_probability(tokenizer):
    rows = [Example("q", {"question": "what", "context": "\x07\u200b"}, [{"text": "\x07", "start": 0}])]
    encoded = ABSTAINING.encode(rows, encoding(tokenizer))
    assert encoded.seen[0]["unreachable"] == 1
    (said,) = ABSTAINING.decode(rows, encoded, random_logits(encoded), HEAD)
    assert said.scores["best"] == {"text": "\x07\u200b", "start": 0, "end": 2, "p": 0.0}
    span_prediction("here", said.to_json(), ())


PIECES = ["Ada", " ", "café", "cafe\u0301", "\U0001f3ac", "\r\n", "\u200b", ".", "1,820", "the", "  ", "\t", "—"]


@pytest.fixture(scope="module")
def tokenizers(minilm):
    """MiniLM's WordPiece, and bytes without merges in RoBERTa's frame, <s> a </s></s> b </s>."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocab = {word: row for row, word in enumerate([*special, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    backend = Tokenizer(models.BPE(vocab, [], unk_token="<unk>"))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    names = {"pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>", "sep_token": "</s>"}
    return {
        "wordpiece": load_tokenizer(Source(str(minilm)), 64),
        "bytes": PreTrainedTokenizerFast(
            tokenizer_object=backend, model_input_names=["input_ids", "attention_mask"], **names
        ),
    }


@pytest.mark.parametrize("name", ["wordpiece", "bytes"])
@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=30).map("".join), st.integers(0, 99))
def test_every_span_is_the_passages_own_text_whatever_is_in_it(tokenizers, name, context, seed):
    if not context.strip():
        return
    rows = [Example("q", {"question": "who", "context": context}, [])]
    encoded = TASK.encode(rows, encoding(tokenizers[name], max_length=16))
    (said,) = TASK.decode(rows, encoded, random_logits(encoded, seed), HEAD)
    span_prediction("here", said.to_json(), ())
    places = [(span["start"], span["end"]) for span in said.scores["nbest"]]
    assert len(set(places)) == len(places)
    for span in said.scores["nbest"]:
        assert context[span["start"] : span["end"]] == span["text"] == span["text"].strip() or span["p"] == 0
    assert sum(span["p"] for span in said.scores["nbest"]) <= 1 + 1e-9


@pytest.mark.parametrize("name", ["wordpiece", "bytes"])
@pytest.mark.parametrize("answer", ["Amsterdam", "café", "cafe\u0301", "\U0001f3ac", "1,820"])
def test_what_is_taught_comes_back_to_the_letter(tokenizers, name, answer):
    # FAULTS Q3, Q6, Q14: "msterdam", drifting offsets, text that the tokenizer folded.
    context = f"It was {answer}, they say; {answer}\r\nonce more."
    rows = [Example("q", {"question": "what?", "context": context}, [{"text": answer, "start": 7}])]
    encoded = TASK.encode(rows, encoding(tokenizers[name], max_length=64))
    start, end, _ = encoded.flat()[0].target
    (said,) = TASK.decode(rows, encoded, [*peaked(encoded, start, end)], HEAD)
    assert said.answer == answer
    assert said.scores["best"]["start"] == 7


# The loss -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pad_to", [0, 48, 64])
def test_the_loss_is_the_mean_of_start_and_end_and_padding_takes_no_part(system, tokenizer, pad_to):
    windows = TASK.encode(examples(), encoding(tokenizer)).flat()
    batch = collate(windows, 0, pad_to=pad_to)
    with torch.inference_mode():
        value = TASK.loss(system.model(**batch.inputs), batch.targets, batch.weights).item()
    expected = 0.0
    for window in windows:
        with torch.inference_mode():
            alone = system.model(**collate([window], 0).inputs)
        for side, logits in enumerate((alone.start_logits, alone.end_logits)):
            shares = torch.log_softmax(logits[0].double(), dim=0)
            expected -= window.weight * float(shares[window.target[side]]) / 2
    assert value == pytest.approx(expected, rel=1e-5)


def test_a_head_that_was_trained_on_squad_is_kept(tiny_model, tmp_path):
    model = load_model(TASK.model, Source(str(tiny_model)), labels=TASK.head(V1), seed=3)
    model.save_pretrained(tmp_path)
    again = load_model(TASK.model, Source(str(tmp_path)), labels=TASK.head(V2), seed=8)
    assert torch.equal(model.qa_outputs.weight, again.qa_outputs.weight)
    other = load_model(TASK.model, Source(str(tiny_model)), labels=TASK.head(V1), seed=8)
    assert not torch.equal(model.qa_outputs.weight, other.qa_outputs.weight)


# Prediction ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pad_to", [0, 64])
@pytest.mark.parametrize("batch", [1, 3, 16])
def test_predictions_depend_on_neither_batch_nor_padding(system, tokenizer, batch, pad_to):
    rows = examples()
    encoded = TASK.encode(rows, encoding(tokenizer))
    windows = encoded.flat()
    logits = predict(
        system.model,
        windows,
        system.accelerator,
        pad_id=0,
        logits=TASK.logits,
        token_budget=batch * max(pad_to, 32),
        pad_to=pad_to,
    )
    assert [row.shape for row in logits] == [(len(window), 2) for window in windows]
    there = TASK.decode(rows, encoded, logits, HEAD)
    here = system.predict(rows)
    assert [one.id for one in there] == [example.id for example in rows]
    assert [one.answer for one in there] == [one.answer for one in here]
    for one, other in zip(there, here, strict=True):
        assert one.scores["null_score"] == pytest.approx(other.scores["null_score"], abs=1e-4)
        assert one.scores["best"]["p"] == pytest.approx(other.scores["best"]["p"], abs=1e-5)
