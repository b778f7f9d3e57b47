"""Changes of a text's surface that leave its meaning, and so every right answer, as they are: seeded pure functions.

    typos         1 in 20 words (one at least) gets two letters swapped, one dropped, doubled, or hit beside on the
                  keyboard; only words of 5 small letters or more, never the first or last letter, never a negation cue
    lower, upper  all letters small, all letters capitals
    punctuation   the final mark is dropped, or a full stop added where there is none
    contractions  "don't" is written out, or, in a text without any, "do not" is drawn together
    spaces        1 in 10 spaces is doubled (one at least), and one more stands at the end
    names         first names of our own lists, each for another of the same list, the same throughout the example
    numbers       whole numbers of three digits or more (years) all move up by the same 1 to 9: order and distance stay

Smaller numbers stay: "2 stars" and "two dogs" mean something. All see the fields of an example together, so that what
is named in premise and hypothesis, or in question and passage, is changed alike in both.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from heldout.data.suites.edits import Edit, Spans, touches

TYPO_SHARE, SPACE_SHARE = 0.05, 0.1
_CUES = """
never nobody nothing nowhere neither hardly barely rarely scarcely seldom without lacks lacked lacking fails failed
except unless hated loved hates loves though although least rather quite
"""
_WOMEN = """
Alice Anna Barbara Carol Caroline Catherine Diana Elena Elizabeth Emily Emma Fiona Hannah Helen Ingrid Irene Jane
Jennifer Jessica Julia Karen Laura Linda Lucy Margaret Maria Martha Mary Monica Nancy Nicole Olivia Patricia Rachel
Rebecca Sandra Sarah Sophie Susan Teresa Ursula Vanessa Victoria Wendy
"""
_MEN = """
Adam Albert Alexander Andrew Anthony Arthur Benjamin Brian Bruce Charles Christopher Daniel David Dennis Edward Eric
Francis Frederick Gary George Gregory Henry Howard Hugh James Jeremy John Joseph Kenneth Kevin Lawrence Martin Matthew
Michael Oliver Patrick Paul Peter Philip Richard Robert Ronald Samuel Simon Stephen Steven Stuart Thomas Timothy
Vincent Walter William
"""
_VERBS = "do does did is are was were have has had could should would must need"
#: In a word of these one letter more or less may turn a text round.
CUES = frozenset(_CUES.split())
WOMEN, MEN = _WOMEN.split(), _MEN.split()
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
BESIDE = {row[i]: row[max(0, i - 1) : i] + row[i + 1 : i + 2] for row in ROWS for i in range(len(row))}
#: Written out: what may be drawn together, and back. "'s" and "'d" have two readings, "n't" has one.
SHORT = {f"{verb} not": f"{verb}n't" for verb in _VERBS.split()}
SHORT |= {"can not": "can't", "cannot": "can't", "will not": "won't"}
LONG = {
    **{short: long for long, short in SHORT.items() if long != "can not"},
    **{"i'm": "i am", "i've": "i have", "i'll": "i will", "you're": "you are", "you've": "you have"},
    **{"you'll": "you will", "we're": "we are", "we've": "we have", "we'll": "we will", "they're": "they are"},
    **{"they've": "they have", "they'll": "they will"},
}


@dataclass(frozen=True)
class Text:
    """A text field and what in it must stay: the answers of gold, the words of entities."""

    text: str
    kept: Spans = ()


Fields = Mapping[str, Text]
Edits = dict[str, list[Edit]]
Change = Callable[[Fields, Random], Edits]


def _alone(change: Callable[[Text, Random], list[Edit]]) -> Change:
    """A change of each field by itself."""
    return lambda fields, random: {name: change(text, random) for name, text in fields.items()}


def _typos(field: Text, random: Random) -> list[Edit]:
    found = [
        word
        for word in re.finditer(r"(?<![\w'’@#/.-])[a-z]{5,}(?![\w'’@/-])", field.text)
        if word[0] not in CUES and not touches(*word.span(), field.kept)
    ]
    n = min(len(found), max(1, round(TYPO_SHARE * len(field.text.split()))))
    return [Edit(*word.span(), _mistyped(word[0], random)) for word in random.sample(found, n)]


def _mistyped(word: str, random: Random) -> str:
    at = random.randrange(1, len(word) - 2)
    before, here, after, rest = word[:at], word[at], word[at + 1], word[at + 2 :]
    ways = [
        before + after + rest,
        before + here + here + after + rest,
        before + random.choice(BESIDE[here]) + after + rest,
    ]
    ways += [before + after + here + rest] if here != after else []
    return random.choice(ways)


def _cased(case: Callable[[str], str]) -> Callable[[Text, Random], list[Edit]]:
    def change(field: Text, random: Random) -> list[Edit]:
        # Letter by letter: "ß" has no capital of one character, and every place must stay where it is.
        new = [cased if len(cased := case(letter)) == 1 else letter for letter in field.text]
        return [Edit(i, i + 1, b) for i, (a, b) in enumerate(zip(field.text, new, strict=True)) if a != b]

    return change


def _punctuation(field: Text, random: Random) -> list[Edit]:
    text = field.text.rstrip()
    bare = text.rstrip(".!?")
    if not bare or touches(len(bare), len(text), field.kept):
        return []
    if bare != text:
        return [Edit(len(bare), len(text), "")]
    return [Edit(len(text), len(text), ".")] if text[-1].isalnum() else []


def _contractions(field: Text, random: Random) -> list[Edit]:
    return _replaced(field, LONG) or _replaced(field, SHORT)


def _replaced(field: Text, pairs: Mapping[str, str]) -> list[Edit]:
    pattern = "|".join(sorted(map(re.escape, pairs), key=len, reverse=True))
    edits = []
    # "Don't you" cannot be written out in its place, nor "is not it" be drawn together.
    whole = rf"(?<![\w'-])(?:{pattern})(?![\w'-])(?!\s+(?:i|you|he|she|it|we|they)\b)"
    for found in re.finditer(whole, field.text.replace("’", "'"), re.IGNORECASE):
        new = pairs[found[0].lower()]
        new = new[0].upper() + new[1:] if found[0][0].isupper() else new
        if not touches(*found.span(), field.kept) and not (found[0].isupper() and len(found[0]) > 3):
            edits.append(Edit(*found.span(), new))
    return edits


def _spaces(field: Text, random: Random) -> list[Edit]:
    found = [at.start() for at in re.finditer(r"(?<=\S) (?=\S)", field.text)]
    free = [at for at in found if not touches(at, at + 1, field.kept)]
    doubled = random.sample(free, min(len(free), max(1, round(SPACE_SHARE * len(free)))))
    return [Edit(at, at, " ") for at in sorted(doubled)] + [Edit(len(field.text), len(field.text), " ")]


def _names(fields: Fields, random: Random) -> Edits:
    edits: Edits = {name: [] for name in fields}
    words = {word for field in fields.values() for word in re.findall(r"\w+", field.text)}
    for names in (WOMEN, MEN):
        there = sorted(words.intersection(names))
        others = [name for name in names if name not in words]
        for old, other in zip(there, random.sample(others, min(len(there), len(others))), strict=False):
            found = {name: _places(old, field.text) for name, field in fields.items()}
            # A name that gold keeps somewhere stays everywhere: it is one person.
            if not any(touches(*span, fields[name].kept) for name, spans in found.items() for span in spans):
                for name, spans in found.items():
                    edits[name] += [Edit(*span, other) for span in spans]
    return edits


def _places(word: str, text: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(rf"(?<![\w-]){word}(?![\w-])", text)]


def _numbers(fields: Fields, random: Random) -> Edits:
    pattern = re.compile(r"(?<![\w.,:/$£€-])[1-9]\d{2,8}(?![\w%:/-]|[.,]\d)")
    found = {name: list(pattern.finditer(field.text)) for name, field in fields.items()}
    step = random.randrange(1, 10)
    for name, numbers in found.items():
        for number in numbers:
            # One that stays, or grows a digit, would change what the others are in relation to it.
            if touches(*number.span(), fields[name].kept) or len(str(int(number[0]) + step)) > len(number[0]):
                return {}
    return {name: [Edit(*n.span(), str(int(n[0]) + step)) for n in numbers] for name, numbers in found.items()}


CHANGES: Mapping[str, Change] = {
    "typos": _alone(_typos),
    "lower": _alone(_cased(str.lower)),
    "upper": _alone(_cased(str.upper)),
    "punctuation": _alone(_punctuation),
    "contractions": _alone(_contractions),
    "spaces": _alone(_spaces),
    "names": _names,
    "numbers": _numbers,
}
#: Those that touch what gold keeps: all letters are changed alike.
EVERYWHERE = ("lower", "upper")
#: Those that leave a list of words a list of as many.
FOR_WORDS: Sequence[str] = ("typos", "lower", "upper", "names", "numbers")
