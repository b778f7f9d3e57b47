"""Pieces of a passage that look like nouns, without a parser: what baselines choose their answers from."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heldout.errors import Refused
from heldout.records import Card

#: A word: letters and digits, joined by what joins them inside a word or a number (don't, well-known, 1,200, U.S).
WORD = re.compile(r"[^\W_]+(?:[-'’.,][^\W_]+)*")
#: Between the words of one piece: a space, perhaps the sign of money before a number or of a share behind it.
JOINT = re.compile(r"\s?[$£€%]?\s?")
#: Words that are no noun and no part of one, in English: articles, pronouns, prepositions, auxiliaries and their like.
_FUNCTION = (
    "a about above after again against all also although among an and another any are as at be because been "
    "before being between both but by can could did do does during each either every few for from further had has "
    "have having he her here hers him his how however i if in into is it its itself just many may me might more "
    "most much must my near no nor not now of off often on once one only or other our out over own per same "
    "several shall she should since so some such than that the their them then there these they this those though "
    "through throughout thus to too under until up upon us very via was we were what when where whether which "
    "while who whom whose why will with within without would yet you your"
)
FUNCTION = frozenset(_FUNCTION.split())


@dataclass(frozen=True)
class Word:
    """A word of a text: where it stands, and itself with case folded."""

    start: int
    end: int
    fold: str


def words(text: str) -> list[Word]:
    """The words of a text in order."""
    return [Word(found.start(), found.end(), found[0].casefold()) for found in WORD.finditer(text)]


def runs(text: str, among: Sequence[Word]) -> Iterator[list[Word]]:
    """Runs of words that only a space parts, cut where a function word stands or where a capital begins or ends.

    >>> passage = "The mill near York was built by Ada Moor in 1820."
    >>> [passage[run[0].start : run[-1].end] for run in runs(passage, words(passage))]
    ['mill', 'York', 'built', 'Ada Moor', '1820']
    """
    run: list[Word] = []
    for word in among:
        if run and not (_joined(text, run[-1], word) and _name_like(text, run[-1]) == _name_like(text, word)):
            yield run
            run = []
        if word.fold not in FUNCTION:
            run.append(word)
    if run:
        yield run


def _joined(text: str, before: Word, word: Word) -> bool:
    return word.fold not in FUNCTION and JOINT.fullmatch(text, before.end, word.start) is not None


def _name_like(text: str, word: Word) -> bool:
    """Whether a word begins with a capital or a digit."""
    return text[word.start].isupper() or text[word.start].isdigit()


def is_name(text: str, run: Sequence[Word]) -> bool:
    """Whether a run is of capitals or numbers, and not only because a sentence begins with it."""
    opens = text[max(run[0].start - 2, 0) : run[0].start].rstrip()[-1:] in ("", *".!?")
    return _name_like(text, run[0]) and (text[run[0].start].isdigit() or not opens or len(run) > 1)


def need_spans(name: str, card: Card) -> None:
    """Refused for a card whose answers are no pieces of a passage."""
    if card.kind != "span":
        raise Refused(f"{name}: not applicable to {card.name}, whose answers are no pieces of a passage; leave it out")
