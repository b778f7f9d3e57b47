"""The passages where a word stands: what a neighbour must be read against before it is believed."""

from collections.abc import Iterable
from itertools import islice

from heldout.embeddings.text import Sentences


def passages(sentences: Sentences, word: str, *, width: int = 8, shown: int = 5) -> tuple[int, list[str]]:
    """How often a word occurs, and the passages of ``shown`` places spread over the corpus, ``width`` words each side.

    The corpus is read twice: once to count, once for the places.
    """
    total = sum(sentence.count(word) for sentence in sentences)
    wanted = {total * k // shown for k in range(min(shown, total))} if total > shown else set(range(total))
    places = (text for number, text in enumerate(_places(sentences, word, width)) if number in wanted)
    return total, list(islice(places, len(wanted)))


def _places(sentences: Sentences, word: str, width: int) -> Iterable[str]:
    for sentence in sentences:
        for at, found in enumerate(sentence):
            if found == word:
                before, after = sentence[max(0, at - width) : at], sentence[at + 1 : at + 1 + width]
                yield " ".join([*before, f"[{word}]", *after])
