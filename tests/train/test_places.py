"""Offsets must index the original text, whatever the tokenizer does to it (FAULTS Q3, Q5, Q6, Q8, Q14)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from heldout.train.models import load_tokenizer
from heldout.train.places import places
from heldout.train.untrusted import Source

CORPUS = [
    "the mill was built by Ada Moor in 1820 .",
    "she sold it, and the café too; ça va? \U0001f3ac \U0001f469‍\U0001f4bb",
] * 3
#: Pieces that have gone wrong for somebody: accents composed and not, joined emoji, control characters, odd spaces.
PIECES = (
    *("Ada", "Moor", "café", "cafe\u0301", "ÇA", "ç\u0327a", "n\u0303", "1,820", "$5.50", "don't", "…", "—", "naïve"),
    *("\U0001f3ac", "\U0001f469‍\U0001f4bb", "\U0001f1eb\U0001f1f7", "👍🏽", "東京", "日本語", "नमस्ते", "ﬁne", "Ⅳ", "½"),
    *(" ", "  ", "\r\n", "\n", "\t", "\u00a0", "\u2003", "\u200b", "\u200d", "\ufeff", "\u00ad", "\x07", "\u2028"),
    *("<mask>", "[SEP]", "</s>", ".", ",", "?", "(", ")", "\u0301", "İ", "ß", "ŉ"),
)
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), min_size=1, max_size=12).map("".join)
#: JSON and the tokenizers take no lone surrogates.
WHOLE = TEXT.filter(lambda text: text.strip() and _encodable(text))


def _encodable(text):
    return all(not 0xD800 <= ord(character) < 0xE000 for character in text)


def byte_level(**options):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=options.pop("add_prefix_space", False))
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "<pad>", "</s>", "<mask>"]
    tokenizer.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(vocab_size=340, initial_alphabet=alphabet, special_tokens=special, show_progress=False),
    )
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), **options)
    return tokenizer


def nfkc_unigram():
    """As XLM-R's kin: compatibility characters are rewritten, a word's space is a sign of its own."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.train_from_iterator(
        CORPUS, trainers.UnigramTrainer(vocab_size=80, special_tokens=["<unk>"], unk_token="<unk>", show_progress=False)
    )
    return tokenizer


@pytest.fixture(scope="module")
def tokenizers(minilm):
    return {
        "wordpiece": load_tokenizer(Source(str(minilm)), 256).backend_tokenizer,
        "byte level": byte_level(add_prefix_space=False, trim_offsets=False),
        "roberta": byte_level(add_prefix_space=False, trim_offsets=True),
        "prefix space": byte_level(add_prefix_space=True, trim_offsets=True),
        "unigram": nfkc_unigram(),
    }


NAMES = ("wordpiece", "byte level", "roberta", "prefix space", "unigram")


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(text=WHOLE, data=st.data())
def test_the_tokens_of_an_answer_hold_it_as_it_stands(tokenizers, name, text, data):
    found = places(text, tokenizers[name].encode(text, add_special_tokens=False).offsets)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    answer = text[start:end]
    start, end = start + len(answer) - len(answer.lstrip()), end - len(answer) + len(answer.rstrip())
    span = found.locate(start, end) if start < end else None
    covered = {at for a, b in zip(found.starts, found.ends, strict=True) for at in range(a, b)}
    if span is None:
        assert covered.isdisjoint(range(start, end))
        return
    first, last = span
    assert first <= last
    assert found.begins[first]
    assert found.closes[last]
    # What no token holds (a word of nothing but control characters) may be lost at the ends, nothing else.
    lost = set(range(start, end)) - set(range(found.starts[first], found.ends[last]))
    assert lost.isdisjoint(covered)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(text=WHOLE)
def test_only_words_that_came_to_no_token_are_in_no_token(tokenizers, name, text):
    found = places(text, tokenizers[name].encode(text, add_special_tokens=False).offsets)
    covered = {at for a, b in zip(found.starts, found.ends, strict=True) for at in range(a, b)}
    assert all(not text[at].isspace() for at in {*found.starts[found.starts < found.ends].tolist()})
    at = 0
    for word in text.split():
        at = text.index(word, at)
        inside = covered & set(range(at, at + len(word)))
        assert not inside or len(inside) == len(word)
        at += len(word)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None)
@given(text=WHOLE)
def test_two_spans_of_tokens_are_never_the_same_piece_of_text(tokenizers, name, text):
    found = places(text, tokenizers[name].encode(text, add_special_tokens=False).offsets)
    begins, closes = found.starts[found.begins], found.ends[found.closes]
    assert len(set(begins.tolist())) == len(begins)
    assert len(set(closes.tolist())) == len(closes)
    assert begins.tolist() == sorted(begins.tolist())
    assert all(text[start:].strip() == text[start:].rstrip() for start in begins.tolist())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("context", "answer"),
    [
        ("Amsterdam is its capital.", "Amsterdam"),
        ("They call it the Café de Flore, in Paris.", "Café de Flore"),
        ("They call it the Cafe\u0301 de Flore\u0301, in Paris.", "Cafe\u0301 de Flore\u0301"),
        ("Sold\r\nby Ada Moor\r\nin 1820.", "Ada Moor"),
        ("Sold by Ada Moor in 1820", "1820"),
        ("a \U0001f469‍\U0001f4bb b", "\U0001f469‍\U0001f4bb"),
        ("It cost $5.50 then.", "$5.50"),
        ("before <mask> Ada Moor … after", "Ada Moor"),
    ],
)
def test_an_answer_comes_back_to_the_letter(tokenizers, name, context, answer):
    found = places(context, tokenizers[name].encode(context, add_special_tokens=False).offsets)
    start = context.index(answer)
    first, last = found.locate(start, start + len(answer))
    assert answer in context[found.starts[first] : found.ends[last]]
    if name != "unigram" and answer.isascii():
        assert context[found.starts[first] : found.ends[last]] == answer


def test_an_answer_that_ends_at_a_space_ends_with_the_word_before_it(tokenizers):
    # FAULTS Q8: char_to_token of a space is None, which became the end of the window.
    text = "built by Ada Moor in 1820"
    found = places(text, tokenizers["roberta"].encode(text, add_special_tokens=False).offsets)
    spans = {found.locate(9, end) for end in (17, 18)}
    assert len(spans) == 1
    first, last = spans.pop()
    assert text[found.starts[first] : found.ends[last]] == "Ada Moor"


def test_nothing_has_no_place():
    found = places(" \u200b ", [])
    assert len(found) == 0
    assert found.locate(0, 3) is None
    spaces = places("a  b", [(0, 1), (1, 2), (2, 4)])
    assert spaces.begins.tolist() == spaces.closes.tolist() == [True, False, True]
    assert spaces.locate(1, 2) is None
