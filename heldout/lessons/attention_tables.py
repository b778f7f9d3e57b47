"""Two tables of attention weights, read with care: rows are queries, columns are keys.

Each row sums to 1, a column need not; the table is not symmetric; and a translation's table is rectangular, a row a
predicted target word and a column a source word. The chapter drew these, no model made them.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS = ("The1", "cat2", "sat3", "on4", "the5", "mat6")
#: The chapter's bidirectional head over 'The cat sat on the mat'.
SELF: Floats = np.array(
    [
        [0.05, 0.70, 0.05, 0.05, 0.05, 0.10],
        [0.05, 0.40, 0.20, 0.05, 0.05, 0.25],
        [0.05, 0.60, 0.10, 0.10, 0.05, 0.10],
        [0.05, 0.10, 0.10, 0.20, 0.05, 0.50],
        [0.05, 0.05, 0.05, 0.10, 0.05, 0.70],
        [0.05, 0.10, 0.05, 0.25, 0.05, 0.50],
    ]
)
TARGETS, SOURCES = ("Le", "chat", "dort"), ("The", "cat", "sleeps", "<EOS>")
#: The three weights that the chapter states; a target row's word looks at the source word of its own place.
ALIGNED = (0.85, 0.80, 0.75)


def cross() -> Floats:
    """The cross-attention table (3, 4); what the chapter leaves open is spread evenly here."""
    rows = np.repeat((1 - np.array(ALIGNED))[:, None] / (len(SOURCES) - 1), len(SOURCES), axis=1)
    rows[np.arange(3), np.arange(3)] = ALIGNED
    return rows


def strongest(weights: Floats, *, other: bool = False) -> list[str]:
    """The key that each query weighs most; with ``other`` its own place does not count."""
    return [WORDS[at] for at in np.where(np.eye(len(weights)) * other > 0, -1, weights).argmax(axis=1)]


def values() -> Values:
    """Sums, the strongest keys, the two asymmetries, the shape of the cross-attention table."""
    at = {word: row for row, word in enumerate(WORDS)}
    pairs = {"sat_cat": ("sat3", "cat2"), "on_mat": ("on4", "mat6")}
    weights = cross()
    return {
        "ch.attn.table": {
            **{"shape": SELF.shape, "row_sums": SELF.sum(axis=1), "col_sums": SELF.sum(axis=0)},
            **{"argmax": strongest(SELF), "argmax_other": strongest(SELF, other=True)},
            **{name: [SELF[at[a], at[b]], SELF[at[b], at[a]]] for name, (a, b) in pairs.items()},
            "symmetric": np.array_equal(SELF, SELF.T),
        },
        "ch.cross.schematic": {
            "shape": weights.shape,
            "stated": {f"{t}_{SOURCES[i]}".lower(): weights[i, i] for i, t in enumerate(TARGETS)},
            "row_remainder": [1 - row.max() for row in weights],
        },
    }


def show() -> str:
    """Who looks at whom, and the two sums."""
    found = values()["ch.attn.table"]
    rows = zip(WORDS, found["argmax"], found["argmax_other"], found["row_sums"], found["col_sums"], strict=True)
    looks = table(["word", "looks most at", "other than itself", "row sum", "column sum"], rows, digits=2)
    odd = "sat looks at cat with {:.2f}, cat at sat with {:.2f}; on at mat with {:.2f}, mat at on with {:.2f}"
    said = odd.format(*found["sat_cat"], *found["on_mat"])
    translated = table(["predicts", *SOURCES], [[t, *row] for t, row in zip(TARGETS, cross(), strict=True)], digits=2)
    return f"{looks}\n{said}\n\n{translated}\n(the chapter states the diagonal; the rest is spread evenly here)"


def picture(axes: "Axes") -> None:
    """The chapter's self-attention table."""
    heat(axes, SELF, WORDS, WORDS)
    axes.set(xlabel="key", ylabel="query")


LESSON = Lesson(
    name="attention-tables",
    title="two tables of attention weights: which side is the query, and what sums to 1",
    where="chapter 23.6",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Which word does 'the' look at? The first at cat, the second at mat: only positions can make two occurrences differ.
Does a large weight explain a prediction? No: values, other heads and later layers matter as well.
Why has the translation's table three rows, while the decoder has four positions? The chapter leaves out the row that
predicts <EOS>. The query that predicts 'chat' comes from the prefix '<BOS> Le', not from 'chat'. No causal mask
applies to the source's columns.
(In the file the heading of the self-attention table stands one cell to the left: the first number of a row belongs to
'The'.)""",
)
