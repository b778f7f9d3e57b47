"""A one-hot vector selects a row of a table, and knows nothing else.

x_w E = E[w]: the product with a one-hot row is a look-up. Any two words are equally far apart (√2) and at a right
angle (cosine 0), so whatever likeness of words there is must be learnt by the rows of the table.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS = ("the", "cat", "drinks", "milk")
#: The input table of the lesson's worked step, a row a word.
E_IN: Floats = np.array([[0.1, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
QUESTIONS = ("Animal", "Domestic", "Larger than human", "Long tail", "Can move on two feet")
ANIMALS = {"Bear": (1, 0, 1, 0, 1), "Dog": (1, 1, 0, 1, 0), "Cat": (1, 1, 0, 1, 0)}
CAT, FELINE = "The cat sat on the mat", "A feline rested on the rug"


def one_hot(word: str, words: tuple[str, ...] = WORDS) -> Floats:
    """The vector of shape (words,) with a 1 at the word's place."""
    return np.array([float(other == word) for other in words])


def cosine(a: Floats, b: Floats) -> float:
    """a · b over the product of their lengths."""
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def shared_words(a: str, b: str) -> dict[str, object]:
    """Words of two sentences in common, by type with case folded, and the Jaccard index of their sets."""
    first, second = a.casefold().split(), b.casefold().split()
    both, either = set(first) & set(second), set(first) | set(second)
    return {
        "shared": sorted(both),
        "jaccard": len(both) / len(either),
        "shared_tokens_in_a": sum(word in both for word in first),
    }


def values() -> Values:
    """One-hot geometry, the look-up, the twenty questions, the two paraphrases."""
    cat, milk = one_hot("cat"), one_hot("milk")
    answers = np.array([*ANIMALS.values()], dtype=float)
    bear, dog, feline = answers
    return {
        "lesson.onehot": {
            "dot": cat @ milk,
            "distance": np.linalg.norm(cat - milk),
            "x_cat": cat,
            "lookup": cat @ E_IN,
            "cosine": cosine(cat, milk),
        },
        "ch.twentyq": {
            "columns": QUESTIONS,
            "bear": dict(zip(QUESTIONS, ANIMALS["Bear"], strict=True)),
            "hamming_dog_cat": int((dog != feline).sum()),
            "hamming_bear_dog": int((bear != dog).sum()),
            "dots": answers @ answers.T,
            "cos_bear_dog": cosine(bear, dog),
        },
        "ch.shared_words": shared_words(CAT, FELINE),
    }


def show() -> str:
    """The look-up, the animals, the shared words."""
    found = values()
    lookup = table(
        ["word", "one-hot", "one-hot @ E_in", "E_in[word]"],
        [[w, one_hot(w).astype(int), one_hot(w) @ E_IN, E_IN[row]] for row, w in enumerate(WORDS)],
    )
    geometry = "any two of them: dot {dot:.0f}, cosine {cosine:.0f}, distance {distance:.4f}".format(
        **found["lesson.onehot"]
    )
    animals = table(["", *QUESTIONS], [[name, *row] for name, row in ANIMALS.items()])
    shared = found["ch.shared_words"]
    both = f"{CAT!r} and {FELINE!r} share {shared['shared']}: Jaccard {shared['jaccard']:.4f}"
    return "\n\n".join([f"{lookup}\n{geometry}", animals, both])


def picture(axes: "Axes") -> None:
    """Dot products of the animals' answers: dog and cat are one vector."""
    answers = np.array([*ANIMALS.values()])
    heat(axes, answers @ answers.T, list(ANIMALS), list(ANIMALS), digits=0)
    axes.set_title("questions answered alike with yes")


LESSON = Lesson(
    name="one-hot",
    title="a one-hot vector selects a row of a table, and knows nothing else",
    where="lesson 2; chapter 23.1",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Does the row have to be looked up by a product? No: E_in[word] is the same row, bit for bit, without the zeros.
Can a model that takes one-hot inputs learn likeness? Yes, through its table; only the inputs' own geometry has none.
What do binary answers miss? Dog and cat get the same row: these five questions cannot tell them apart, and yes or no
hides degrees. (In the seeds' table the heading stands one column to the left: "Animal" is the first question.)""",
)
