"""Train a tokenizer: count words, choose the alphabet, let the ``tokenizers`` library learn the pieces, assemble them.

The same corpus and options give the same files, byte for byte, in every run, thread count and hash seed. The library
does not promise that (FAULTS P1): it numbers ``##c`` and ``c</w>`` in the order of a hash map, and breaks ties by those
numbers. So its trainer gets the alphabet in a fixed order as special tokens, and the model is built anew from the
vocabulary it learned, in which they are plain pieces.

The tie rule: of the pairs that stand most often in the corpus, the one with the smallest id on the left is merged, then
with the smallest on the right. Ids: special tokens, characters by code point, marked characters (##c, c</w>) by code
point, then merged pieces in the order they were made. tokenizer/reference.py says the same in thirty lines.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from heldout.errors import Refused
from heldout.options import option
from heldout.tokenizer import parts
from heldout.tokenizer.parts import END, INSIDE, Kind, Normalization, Splitting
from heldout.tokenizer.words import Words, count_words

#: Characters of repeated words that the library's trainer is given at once.
FED = 1 << 16


@dataclass(frozen=True)
class TrainOptions:
    """How a tokenizer is trained."""

    kind: Kind | None = option(None, "what to train; bpe is over characters with an end-of-word mark")
    vocab_size: int | None = option(None, "entries of the vocabulary, special tokens and alphabet among them")
    normalization: Normalization | None = option(None, "Unicode's normal form (nfc unless given; none for bytes)")
    lowercase: bool = option(False, "fold to lower case")
    strip_accents: bool = option(False, "take accents off letters")
    pre_tokenizer: Splitting | None = option(None, "what a word is (bert unless given; byte-level for byte-bpe)")
    prefix_space: bool = option(False, "byte-level: a space before a text, so that its first word is as any other")
    min_frequency: int = option(2, "how often a pair must be seen to be merged", metavar="N")
    limit_alphabet: int = option(1000, "how many characters are kept, the most frequent", metavar="N")
    max_words: int = option(1_000_000, "distinct words held in memory; the rarest beyond are given up", metavar="N")


@dataclass(frozen=True)
class Trained:
    """A tokenizer and what is to be known of its training (training.json)."""

    kind: Kind
    tokenizer: Tokenizer
    facts: dict[str, Any]


@dataclass(frozen=True)
class _Plan:
    """The options with what depends on the kind resolved."""

    kind: Kind
    splitting: Splitting
    normalization: Normalization
    options: TrainOptions
    size: int


def train(texts: Iterable[str], options: TrainOptions, say: Callable[[str], None] = lambda message: None) -> Trained:
    """Train on a stream of texts; Refused for options that contradict each other or a vocabulary too small."""
    plan = _plan(options)
    normalizer = parts.normalizer(
        plan.splitting, plan.normalization, lowercase=options.lowercase, strip_accents=options.strip_accents
    )
    pre_tokenizer = parts.pre_tokenizer(plan.kind, plan.splitting, prefix_space=False)

    def split(text: str) -> list[str]:
        return [word for word, _ in pre_tokenizer.pre_tokenize_str(normalizer.normalize_str(text))]

    words = count_words(texts, split, limit=options.max_words, prefix_space=options.prefix_space)
    if not words.counts:
        raise Refused("the corpus holds no word: normalisation leaves nothing of it but white space")
    alphabet, left_out = _alphabet(plan, words.counts)
    counts = {word: n for word, n in words.counts.items() if left_out.isdisjoint(word)}
    letters = _letters(plan, alphabet, split)
    say(f"learning {plan.size:,} pieces from {len(counts):,} distinct words")
    vocab, merges = learn(
        plan.kind, counts, parts.special_tokens(plan.kind) + letters, plan.size, options.min_frequency
    )
    tokenizer = Tokenizer(parts.model(plan.kind, vocab, merges))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = parts.pre_tokenizer(plan.kind, plan.splitting, prefix_space=options.prefix_space)
    tokenizer.decoder = parts.decoder(plan.kind, plan.splitting)
    parts.add_special_tokens(tokenizer, plan.kind, plan.splitting)
    return Trained(plan.kind, tokenizer, _facts(plan, words, tokenizer, alphabet, left_out, letters))


def _plan(options: TrainOptions) -> _Plan:
    kind, size = options.kind, options.vocab_size
    if kind is None or size is None:
        missing = "--kind wordpiece, bpe or byte-bpe" if kind is None else "--vocab-size N, such as 8000"
        raise Refused(f"training a tokenizer needs {missing}")
    splitting = options.pre_tokenizer or ("byte-level" if kind == "byte-bpe" else "bert")
    if (kind == "byte-bpe") != (splitting == "byte-level") and kind != "wordpiece":
        raise Refused(f"--pre-tokenizer {splitting} is not for --kind {kind}: byte-level words make it byte-bpe")
    if options.prefix_space and splitting != "byte-level":
        raise Refused("--prefix-space is for byte-level words; the others leave white space out of their tokens")
    for name in ("min_frequency", "limit_alphabet", "max_words"):
        if getattr(options, name) < 1:
            raise Refused(f"--{name.replace('_', '-')} {getattr(options, name)}: give 1 or more")
    # Bytes give every text back as it was; Unicode's normal forms do not.
    normalization: Normalization = "none" if splitting == "byte-level" else "nfc"
    return _Plan(kind, splitting, options.normalization or normalization, options, size)


def _alphabet(plan: _Plan, counts: Counter[str]) -> tuple[list[str], set[str]]:
    """The characters that are kept, by code point, and those left out; frequency decides, then the code point."""
    if plan.splitting == "byte-level":
        return sorted(pre_tokenizers.ByteLevel.alphabet()), set()
    frequency = Counter[str]()
    for word, n in counts.items():
        for character in word:
            frequency[character] += n
    ranked = sorted(frequency, key=lambda character: (-frequency[character], character))
    kept = ranked[: plan.options.limit_alphabet]
    return sorted(kept), set(ranked[len(kept) :])


def _letters(plan: _Plan, alphabet: list[str], split: Callable[[str], list[str]]) -> list[str]:
    """The vocabulary's first entries: every kept character in each form that a word can need (FAULTS P3: of bytes too),
    so that only a character left out, or a word over LONGEST_WORD, is ever unknown."""
    if plan.kind == "byte-bpe":
        return alphabet
    if plan.kind == "bpe":
        return alphabet + [character + END for character in alphabet]
    # Punctuation and Chinese characters are words of their own, and need no form for the inside of one.
    joins = [letter for letter in alphabet if plan.splitting == "byte-level" or split("a" + letter)[0] != "a"]
    return alphabet + [INSIDE + letter for letter in joins]


def learn(
    kind: Kind, counts: dict[str, int], initial: list[str], size: int, min_frequency: int
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """The vocabulary and merges that the library learns from the counts of words, ``initial`` being its first entries.

    The library counts words itself, from texts only: so each word is given to it as often as it was counted (3 million
    words take a second), and its memory is that of the distinct words.
    """
    if size < len(initial):
        raise Refused(
            f"--vocab-size {size} has no room for the special tokens and the {len(initial)} forms of the alphabet; "
            f"ask for more, or for fewer characters with --limit-alphabet"
        )
    marks: dict[Kind, dict[str, Any]] = {
        "wordpiece": {"continuing_subword_prefix": INSIDE},
        "bpe": {"end_of_word_suffix": END},
        "byte-bpe": {},
    }
    make = trainers.WordPieceTrainer if kind == "wordpiece" else trainers.BpeTrainer
    trainer = make(
        vocab_size=size, min_frequency=min_frequency, special_tokens=initial, show_progress=False, **marks[kind]
    )
    tokenizer = Tokenizer(models.WordPiece(unk_token=parts.UNK) if kind == "wordpiece" else models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.CharDelimiterSplit("\n")
    tokenizer.train_from_iterator(_repeated(counts), trainer)
    learned = json.loads(tokenizer.to_str())["model"]
    return learned["vocab"], [(left, right) for left, right in learned.get("merges", [])]


def _repeated(counts: dict[str, int]) -> Iterator[str]:
    for word, n in counts.items():
        at_once = FED // (len(word) + 1) + 1
        for done in range(0, n, at_once):
            yield ("\n" + word) * min(at_once, n - done)


def _facts(
    plan: _Plan, words: Words, tokenizer: Tokenizer, alphabet: list[str], left_out: set[str], letters: list[str]
) -> dict[str, Any]:
    """What training.json says. Shares of [UNK] are over the words that were counted."""
    tokens = unknown = lost = 0
    for word, n in words.counts.items():
        pieces = [token.value for token in tokenizer.model.tokenize(word)]
        tokens += n * len(pieces)
        unknown += n * pieces.count(parts.UNK)
        lost += n * sum(character in left_out for character in word)
    special = parts.special_tokens(plan.kind)
    found = tokenizer.get_vocab_size()
    return {
        "kind": plan.kind,
        "pre_tokenizer": plan.splitting,
        "normalization": plan.normalization,
        "corpus": {"sha256": words.digest, "texts": words.texts, "characters": words.characters},
        "words": {
            "occurrences": words.counts.total() + words.given_up,
            "distinct": len(words.counts),
            "given_up": words.given_up,
            "counts_lack_up_to": words.lacking,
        },
        "alphabet": {
            "characters": len(alphabet),
            "left_out": len(left_out),
            "left_out_occurrences": lost,
        },
        "vocabulary": {
            "asked_for": plan.size,
            "size": found,
            "special": special,
            "characters": len(letters),
            "learned": found - len(special) - len(letters),
        },
        "tokens": tokens,
        "unknown": unknown if parts.UNK in special else None,
    }
