"""Negation in reviews: every text with its unnegated twin, and the gold that follows from how it was made.

What readers would argue about is left out: negated extremes ("not amazing" may still be good), "not annoying" (which
is no praise), "not without charm". The seeds' four sentences are the first frame's first two pairs.
"""

from collections.abc import Mapping
from typing import Any

from heldout.cases import CHANGED, ORIGINAL
from heldout.data.suites.frames import EACH, Frame, Slot, Values, rows_of, words, written

GOOD, BAD = "positive", "negative"
FLIPPED = {GOOD: BAD, BAD: GOOD}
THINGS = words("n", "film", "movie", "plot", "story", "acting", "script", "dialogue", "ending", "music", "pacing")
WORKS = words(
    *("n", "film", "movie", "series", "documentary", "comedy", "thriller", "musical", "western", "drama", "romance"),
    *("cartoon", "sequel", "remake", "trilogy", "biopic"),
)
#: Words whose plain negation says the opposite.
MILD = {
    GOOD: ("good", "enjoyable", "convincing", "interesting", "impressive", "entertaining", "memorable"),
    BAD: ("bad", "boring", "disappointing", "dull", "tedious", "forgettable"),
}
QUALITIES = {
    GOOD: ("charm", "wit", "tension", "depth", "originality"),
    BAD: ("clichés", "dull moments", "weak scenes", "false notes", "clumsy jokes"),
}
#: The seeds' four sentences, by pair: the plain one and the negated one.
SEEDS = (
    ("The film is good.", GOOD, "The film is not good.", BAD),
    ("The film is bad.", BAD, "The film is not bad.", GOOD),
)


def _slots(pole: str) -> dict[str, Slot]:
    """Fillings by name: {n} a thing, {a} a word of the pole, {a} with {b} two of them, {o} with {a} one of each."""
    mine, others = MILD[pole], MILD[FLIPPED[pole]]
    return {
        "n": THINGS,
        "w": WORKS,
        "a": words("a", *mine),
        "ab": [{"a": a, "b": b} for a in mine for b in mine if a != b],
        "ao": [{"a": a, "o": o} for a in mine for o in others],
        "x": words("x", *QUALITIES[pole]),
    }


def _frames(phenomenon: str, pole: str, keeps: bool, slots: str, *pairs: tuple[str, str]) -> list[Frame]:
    """Frames of one phenomenon over words of one pole: (changed, twin) texts; the changed one keeps the pole or not."""
    gold = pole if keeps else FLIPPED[pole]
    fill = tuple(_slots(pole)[name] for name in slots.split())
    return [
        Frame(phenomenon, {"text": text, "label": gold}, {"text": twin, "label": pole}, fill) for text, twin in pairs
    ]


def _both(phenomenon: str, keeps: bool, slots: str, *pairs: tuple[str, str]) -> list[Frame]:
    """The same frames over good words and over bad ones."""
    return [frame for pole in (GOOD, BAD) for frame in _frames(phenomenon, pole, keeps, slots, *pairs)]


IS = "The {n} is {a}."
WAS = "The {n} was {a}."
FRAMES: tuple[Frame, ...] = (
    *_frames("not + good", GOOD, False, "n a", ("The {n} is not {a}.", IS), ("I found the {n} not {a}.", WAS)),
    *_frames("not + bad", BAD, False, "n a", ("The {n} is not {a}.", IS), ("Honestly, the {n} was not {a}.", WAS)),
    *_frames(
        "contracted + good",
        GOOD,
        False,
        "n a",
        ("The {n} isn't {a}.", IS),
        ("The {n} just wasn't {a}.", "The {n} just was {a}."),
    ),
    *_frames(
        "contracted + bad",
        BAD,
        False,
        "n a",
        ("The {n} isn't {a}.", IS),
        ("The {n} really wasn't {a}.", "The {n} really was {a}."),
    ),
    *_frames(
        "not + good, intensified",
        GOOD,
        False,
        "n a",
        ("The {n} is not very {a}.", "The {n} is very {a}."),
        ("The {n} is not at all {a}.", "The {n} is really {a}."),
        ("The {n} was not that {a}.", "The {n} was so {a}."),
        ("The {n} wasn't particularly {a}.", "The {n} was particularly {a}."),
    ),
    *_frames(
        "not + bad, intensified",
        BAD,
        False,
        "n a",
        ("The {n} is not at all {a}.", "The {n} is really {a}."),
        ("The {n} was not {a} in the least.", "The {n} was {a} in every way."),
        ("The {n} is not that {a}.", "The {n} is that {a}."),
    ),
    *_both("never", False, "n a", ("The {n} is never {a}.", "The {n} is always {a}.")),
    *_both("never", False, "w a", ("Not once, never, was this {n} {a}.", "Every time, this {n} was {a}.")),
    *_frames("no", BAD, False, "w x", ("There are no {x} in this {n}.", "There are so many {x} in this {n}.")),
    *_both("no", False, "w x", ("This {n} has no {x}.", "This {n} has lots of {x}.")),
    *_frames("no", GOOD, False, "w x", ("There is no {x} in this {n}.", "There is real {x} in this {n}.")),
    *_both(
        "nobody, nothing",
        False,
        "n a",
        ("Nobody could call the {n} {a}.", "Anybody would call the {n} {a}."),
        ("Nothing about the {n} is {a}.", "Everything about the {n} is {a}."),
    ),
    *_both("hardly, barely", False, "n a", ("The {n} is hardly {a}.", IS), ("The {n} was scarcely {a}.", WAS)),
    *_both("without", False, "w x", ("It is a {n} without {x}.", "It is a {n} full of {x}.")),
    *_both("neither nor", False, "n ab", ("The {n} is neither {a} nor {b}.", "The {n} is both {a} and {b}.")),
    *_both("neither nor", False, "n ab", ("The {n} was not {a}, nor was it {b}.", "The {n} was {a}, and it was {b}.")),
    *_frames(
        "lacks, fails",
        GOOD,
        False,
        "w x",
        ("The {n} lacks {x}.", "The {n} has {x}."),
        ("The {n} is devoid of {x}.", "The {n} is full of {x}."),
    ),
    *_frames("lacks, fails", GOOD, False, "n a", ("The {n} fails to be {a}.", "The {n} manages to be {a}.")),
    *_frames("lacks, fails", BAD, False, "w x", ("The {n} is free of {x}.", "The {n} is full of {x}.")),
    *_both(
        "double negation",
        True,
        "n a",
        ("It is not true that the {n} is not {a}.", "It is true that the {n} is {a}."),
        ("Nobody can say that the {n} isn't {a}.", "Everybody can say that the {n} is {a}."),
    ),
    *_frames(
        "double negation", GOOD, True, "n a", ("The {n} never fails to be {a}.", "The {n} always manages to be {a}.")
    ),
    *_both(
        "outside the scope",
        True,
        "w a",
        ("I did not see this {n} in a cinema, but it is {a}.", "I saw this {n} in a cinema, and it is {a}."),
        (
            "I have never been to France, where this {a} {n} was made.",
            "I have been to France, where this {a} {n} was made.",
        ),
        (
            "Nobody else was in the room when I watched this {a} {n}.",
            "My sister was in the room when I watched this {a} {n}.",
        ),
    ),
    *_both(
        "not only but",
        True,
        "n ab",
        ("The {n} is not only {a} but also {b}.", "The {n} is {a} and also {b}."),
        ("Not only was the {n} {a}, it was {b} too.", "The {n} was {a}, and it was {b} too."),
    ),
    *_both(
        "not X but Y",
        True,
        "n ao",
        ("The {n} is not {o} but {a}.", IS),
        ("The {n} isn't {o}, it is {a}.", "The {n}, I find, is {a}."),
    ),
    *_frames(
        "conditional",
        BAD,
        True,
        "w a",
        ("If this {n} were not so {a}, I would have watched it to the end.", "This {n} is so {a} that I left early."),
    ),
    *_frames(
        "conditional",
        GOOD,
        True,
        "w a",
        ("If this {n} were not so {a}, I would have left early.", "This {n} is so {a} that I watched it to the end."),
    ),
    *_both("conditional", True, "w a", ("If I am not mistaken, this {n} is {a}.", "If I am right, this {n} is {a}.")),
    *_both(
        "questioned",
        True,
        "n a",
        ("Isn't the {n} {a}?", "The {n} is {a}, yes?"),
        ("Who would not call the {n} {a}?", "Everyone would call the {n} {a}."),
        ("How can anyone not find the {n} {a}?", "Anyone can find the {n} {a}."),
    ),
    *_both(
        "I don't think",
        False,
        "n a",
        ("I don't think that the {n} is {a}.", "I think that the {n} is {a}."),
        ("I would not call the {n} {a}.", "I would call the {n} {a}."),
    ),
    *_both(
        "anything but",
        False,
        "n a",
        ("The {n} is anything but {a}.", IS),
        ("The {n} is far from {a}.", IS),
        ("The {n} is in no way {a}.", "The {n} is in every way {a}."),
    ),
    *_both(
        "expected, but not",
        False,
        "n a",
        ("I expected the {n} to be {a}, but it was not.", "I expected the {n} to be {a}, and it was."),
        ("They say the {n} is {a}; it isn't.", "They say the {n} is {a}; it is."),
    ),
    *(
        Frame(
            "never + comparative",
            {"text": f"I have never seen a {word} {{n}}.", "label": pole},
            {"text": f"It is the {most} {{n}} that I have seen.", "label": pole},
            (WORKS,),
        )
        for word, most, pole in (("better", "best", GOOD), ("worse", "worst", BAD))
    ),
)


def _finish(template: Mapping[str, str], filling: Mapping[str, str]) -> Values:
    return {"text": written(template["text"].format_map(filling)), "label": template["label"]}


def rows(each: int = EACH, seed: int = 0) -> list[dict[str, Any]]:
    """The seeds' two pairs, then ``each`` pairs of every phenomenon."""
    seeds = []
    for k, (plain, plain_gold, negated, gold) in enumerate(SEEDS, 1):
        about = {
            "pair": f"seeds, pair {k}",
            "phenomenon": "not + good" if gold == BAD else "not + bad",
            "frame": "seeds",
        }
        for role, text, label in ((ORIGINAL, plain, plain_gold), (CHANGED, negated, gold)):
            expect = {"expect": "mft"} if role == CHANGED else {}
            seeds.append(
                {"id": f"seeds, pair {k}, {role}", "text": text, "label": label, **about, "role": role, **expect}
            )
    return seeds + rows_of(FRAMES, _finish, each=each, seed=seed)
