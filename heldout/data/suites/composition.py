"""Composition: who has learnt "red car" and "blue house", does he understand "red house"?

A pair of sentences (NLI, two labels): the premise tells three things with their colours, and the hypothesis names one
thing with a colour; it follows where the premise has that very pair. Both words of a hypothesis that does not follow
stand in the premise, on different things, so that only who binds colours to things can tell:

    "There is a red car, a blue house and a green cup."   →  "There is a red car."     entailment
                                                          →  "There is a red house."   non-entailment

``suite:composition@train`` holds no held-out pair anywhere. In the test part the hypothesis has a pair that is
    seen         pairs of train alone, in sentences that are not in train,
    recombined   held out: each of its words is in train (with other words), the pair itself never is,
    unseen       a colour or a thing that train never mentions.
The seeds' example is in it: red car and blue house are seen, red house is held out.

``suite:composition@easy`` is for training as well: premises of one thing or two, from which the binding can be learnt
step by step. From @train alone MiniLM learns nothing in four epochs: which word goes with which is an exclusive or, of
which neither colour nor thing tells anything alone.
"""

import random
from collections.abc import Sequence, Set
from typing import Any, TypeAlias

from heldout.data.suites.frames import written

Pair: TypeAlias = tuple[str, str]
COLOURS = ("red", "blue", "green", "yellow", "white", "black", "brown", "grey", "purple", "orange")
THINGS = ("car", "house", "cup", "door", "boat", "chair", "lamp", "hat", "box", "ball", "table", "bag")
#: What train never mentions.
NEW_COLOURS, NEW_THINGS = ("pink", "golden", "silver"), ("bottle", "fence", "guitar", "kite")
#: Premises about three things, with each as "a red car" or apart ("the car is red"), and hypotheses about one.
FRAMES = (
    ("there is a {c0} {t0}, a {c1} {t1} and a {c2} {t2}.", "there is a {c} {t}."),
    ("i can see a {c0} {t0} next to a {c1} {t1}, and a {c2} {t2} behind them.", "i can see a {c} {t}."),
    ("the {t0} is {c0}, the {t1} is {c1} and the {t2} is {c2}.", "there is a {c} {t}."),
    ("she has a {t0} that is {c0}, a {t1} that is {c1} and a {t2} that is {c2}.", "she has a {c} {t}."),
)
#: Of one thing and of two, for @easy.
ONE = (("there is a {c0} {t0}.", "there is a {c} {t}."), ("the {t0} is {c0}.", "there is a {c} {t}."))
TWO = (
    ("there is a {c0} {t0} and a {c1} {t1}.", "there is a {c} {t}."),
    ("the {t0} is {c0} and the {t1} is {c1}.", "there is a {c} {t}."),
)
TRAIN, TEST, STEPS = 4_000, 1_200, 2_400
PARTS = ("seen", "recombined", "unseen")
SEEDS_PAIR = ("red", "house")


def held_out() -> frozenset[Pair]:
    """A quarter of the pairs: of every colour three things, of every thing two or three colours."""
    numbered = ((c, t) for c in range(len(COLOURS)) for t in range(len(THINGS)))
    return frozenset((COLOURS[c], THINGS[t]) for c, t in numbered if (3 * c + t) % 4 == 1)


def rows(part: str, seed: int = 0) -> list[dict[str, Any]]:
    """The rows of a part, train or test; half of the hypotheses follow, in every third of test too."""
    seen = [(c, t) for c in COLOURS for t in THINGS if (c, t) not in held_out()]
    if part == "train":
        return _rows("train", seed, "seen", seen, TRAIN, set())
    new = [(c, t) for c in NEW_COLOURS for t in (*THINGS, *NEW_THINGS)] + [(c, t) for c in COLOURS for t in NEW_THINGS]
    asked = {"seen": seen, "recombined": sorted(held_out()), "unseen": new}
    taken = {row["premise"] for row in rows("train", seed)}
    return SEEDS + [
        row for name, pairs in asked.items() for row in _rows("test", seed, name, pairs, TEST // len(asked), taken)
    ]


#: The seeds' own example.
SEEDS: list[dict[str, Any]] = [
    {
        "id": "seeds",
        "premise": "There is a red car and a blue house.",
        "hypothesis": "There is a red house.",
        "label": "non-entailment",
        "phenomenon": "recombined",
        "frame": "seeds",
    }
]


def easy(seed: int = 0) -> list[dict[str, Any]]:
    """Rows of seen pairs alone, every second of which follows: an eighth of one thing, the others of two.

    What does not follow names the first thing in a colour that is not told or, in three of seven rows of two, in the
    other's.
    """
    rng, seen = random.Random(f"composition/easy/{seed}"), sorted(_seen())
    found: dict[tuple[str, str], dict[str, Any]] = {}
    while len(found) < STEPS:
        number = len(found)
        frames = ONE if number % 16 < 2 else TWO
        facts = _unlike(rng, seen, 1 if frames is ONE else 2)
        follows, swapped = number % 2 == 0, frames is TWO and number % 4 == 1
        told = {colour for colour, _ in facts}
        wrong = [(c, t) for c, t in seen if t == facts[0][1] and c != facts[0][0] and (c in told) == swapped]
        if follows or wrong:
            asked = facts[0] if follows else rng.choice(wrong)
            texts = _filled(rng.choice(frames), rng.sample(facts, len(facts)), asked)
            if texts[0] != SEEDS[0]["premise"]:
                found.setdefault(texts, _row(f"easy {number + 1}", texts, follows, f"of {len(facts)}", ""))
    return list(found.values())


def _seen() -> frozenset[Pair]:
    return frozenset((c, t) for c in COLOURS for t in THINGS) - held_out()


def _unlike(rng: random.Random, pairs: Sequence[Pair], n: int) -> list[Pair]:
    """``n`` pairs that share no word."""
    while True:
        facts = rng.sample(pairs, n)
        if len({c for c, _ in facts}) == len({t for _, t in facts}) == n:
            return facts


def _row(name: str, texts: tuple[str, str], follows: bool, phenomenon: str, frame: str) -> dict[str, Any]:
    label = "entailment" if follows else "non-entailment"
    row = {"id": name, "premise": texts[0], "hypothesis": texts[1], "label": label, "phenomenon": phenomenon}
    return {**row, "frame": frame}


def _rows(
    part: str, seed: int, phenomenon: str, asked: Sequence[Pair], n: int, taken: Set[str]
) -> list[dict[str, Any]]:
    """``n`` rows, every second of which follows; no premise is among those ``taken``, nor stands there twice."""
    rng = random.Random(f"composition/{part}/{phenomenon}/{seed}")
    found: dict[str, dict[str, Any]] = {}
    while len(found) < n:
        number, target = len(found), asked[len(found) // 2 % len(asked)]
        follows = number % 2 == 0
        frame = rng.randrange(len(FRAMES))
        premise, hypothesis = _texts(rng, frame, target, follows)
        if premise not in taken and premise not in found:
            name = f"{part}, {phenomenon} {number + 1}"
            found[premise] = _row(name, (premise, hypothesis), follows, phenomenon, str(frame + 1))
    return list(found.values())


def _texts(rng: random.Random, frame: int, target: Pair, follows: bool) -> tuple[str, str]:
    """A premise and the hypothesis about the target pair; where it doesn't follow, its words stand on two things."""
    colour, thing = target
    others = _others(rng, target)
    # Else the target's colour on another thing and its thing in another colour, each a seen pair where train has it.
    apart = [(colour, others[0][1]), (others[1][0], thing), others[2]]
    facts = [target, *others[1:]] if follows else apart
    rng.shuffle(facts)
    return _filled(FRAMES[frame], facts, target)


def _filled(frame: tuple[str, str], facts: Sequence[Pair], asked: Pair) -> tuple[str, str]:
    """Premise and hypothesis of a frame, as people write them."""
    words = {f"{name}{k}": word for k, fact in enumerate(facts) for name, word in zip("ct", fact, strict=True)}
    return written(frame[0].format_map(words)), written(frame[1].format(c=asked[0], t=asked[1]))


def _others(rng: random.Random, target: Pair) -> list[Pair]:
    """Three seen pairs that share no word with each other or the target: (_, thing), (colour, _) go with its words.

    The target's colour with the first one's thing, and its thing with the second one's colour, are no held-out pairs.
    """
    colour, thing = target
    while True:
        colours = rng.sample([c for c in COLOURS if c != colour], 3)
        things = rng.sample([t for t in THINGS if t != thing], 3)
        pairs = list(zip(colours, things, strict=True))
        if held_out().isdisjoint([*pairs, (colour, things[0]), (colours[1], thing)]):
            return pairs
