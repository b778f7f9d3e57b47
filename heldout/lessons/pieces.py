"""Words, pieces and bytes: what a tokenizer must never lose.

White space leaves the full stop on the dog; WordPiece marks what continues a word and calls a whole word unknown where
one place has no piece; bytes can write anything. What is cut must come together again, byte for byte.
"""

from typing import TYPE_CHECKING

from heldout.lessons._contract import Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.tokenizer.reference import wordpiece_tokenize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOX = "The quick brown fox jumps over the lazy dog."
#: The chapter's cut of its sentence about the Verbasizer; a piece that begins a word holds the space before it.
BOWIE = ["The", " Ver", "bas", "izer", " helped", " Bow", "ie", " create", " unexpected", " word", " combinations"]
VOCAB = ("[UNK]", "jump", "##ing", "##s", "un", "##happi", "##ness", "happy", "##h")
WORDS = ("jumping", "jumps", "unhappiness", "jumped", "unhappy")
TEXT = "naïve 猫 🙂"


def values() -> Values:
    """Exercise 23.1, the Verbasizer, WordPiece and bytes."""
    words, joined, data = FOX.split(), "".join(BOWIE), TEXT.encode()
    return {
        "ex23.1": {
            **{"count": len(words), "tokens": words, "types_case": len({*words})},
            "types_casefold": len({word.casefold() for word in words}),
            "jumping": wordpiece_tokenize("jumping", {"jump", "ing"}, inside=""),
        },
        "ch.verbasizer": {"joined": joined, "n_pieces": len(BOWIE), "n_words": len(joined.split())},
        "ch.wordpiece": {
            "tokens": {word: wordpiece_tokenize(word, VOCAB) for word in WORDS},
            **{"byte_roundtrip": data.decode(), "bytes_len": len(data)},
        },
    }


def show() -> str:
    """Tokens of the fox, of WordPiece, of bytes."""
    found = values()
    cut = table(["word", "WordPiece"], [[word, " ".join(p)] for word, p in found["ch.wordpiece"]["tokens"].items()])
    fox = f"{len(FOX.split())} tokens by white space, the last one {FOX.split()[-1]!r}"
    bowie = f"{' | '.join(BOWIE)}\n{len(BOWIE)} pieces of {found['ch.verbasizer']['n_words']} words; joined again: "
    lossless = f"{TEXT!r}: {len(TEXT)} characters, {len(TEXT.encode())} bytes, 256 different ones at most"
    return "\n\n".join([fox, bowie + repr(found["ch.verbasizer"]["joined"]), cut, lossless])


def picture(axes: "Axes") -> None:
    """The length of one text in words, characters and bytes."""
    units = [len(TEXT.split()), len(TEXT), len(TEXT.encode())]
    bars(axes, {"": units}, ["words", "characters", "bytes"], y=f"units of {len(TEXT.split())} words")


LESSON = Lesson(
    name="pieces",
    title="words, pieces, bytes: what white space, WordPiece and bytes make of a text",
    where="chapter 23.5 and 23.8; exercise 23.1",
    values=values,
    show=show,
    picture=picture,
    answers="""\
(a) 9 tokens; the last one is 'dog.' with its full stop.
(b) Punctuation sticks to words, case makes two types of one word, forms of a word have nothing in common, unseen words
    have no entry, and many languages put no spaces between words.
(c) jump + ing ('##ing' where, as in WordPiece, the mark of continuing is written).
(d) An open vocabulary of bounded size: no unknown words (with bytes, none at all), frequent words whole, rare ones in
    parts that they share with others. The price is longer sequences.
The Verbasizer's split is 'might be': which pieces there are depends on the tokenizer. That they join to the sentence,
spaces included, does not.""",
)
