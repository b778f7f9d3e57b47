"""fastText: a word is the sum of its character n-grams (Bojanowski et al. 2017).

<where> has the 3- to 6-grams <wh, whe, her, ere, re>, … The marks < and > tell the trigram her from the word <her>. An
unseen word gets a vector from the n-grams that it shares with seen ones.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COMPARED = (("unhappiness", "happy"), ("unhappiness", "unhappy"), ("unhappiness", "happiness"), ("happy", "apply"))


def ngrams(word: str, shortest: int = 3, longest: int = 6) -> list[str]:
    """All n-grams of <word>, by length and then by place; repeated ones stand as often as they occur.

    >>> ngrams("her")
    ['<he', 'her', 'er>', '<her', 'her>', '<her>']
    """
    marked = f"<{word}>"
    return [marked[at : at + n] for n in range(shortest, longest + 1) for at in range(len(marked) - n + 1)]


def vector(word: str, rows: dict[str, Floats]) -> Floats:
    """The sum of the rows of the word's n-grams, each of shape (d,); n-grams without a row count nothing."""
    found = [rows[gram] for gram in ngrams(word) if gram in rows]
    return np.asarray(np.sum(found, axis=0))


def shared(a: str, b: str) -> int:
    """How many distinct n-grams two words have in common."""
    return len({*ngrams(a)} & {*ngrams(b)})


def values() -> Values:
    """The n-grams of 'where', the overlap of related words, repeated n-grams."""
    grams, banana = ngrams("where"), ngrams("banana")
    by_length = {str(n): sum(len(gram) == n for gram in grams) for n in (3, 4, 5, 6)}
    return {
        "ch.fasttext.where": {
            **{"trigrams": ngrams("where", longest=3), "all": grams, "count": len(grams), "count_by_n": by_length},
            "with_whole_word": len({*grams, "<where>"}),
            "her_is_not_word_her": [gram for gram in grams if gram in {*ngrams("her"), "<her>"}],
            "contains_bare_where": "where" in grams and "<where>" not in grams,
            "overlap": {f"{a}/{b}": shared(a, b) for a, b in COMPARED},
        },
        "ch.fasttext.repeat": {
            "occurrences": len(banana),
            "distinct": len({*banana}),
            # gensim's compute_ngrams counts occurrences too (tested).
            "gensim": len(banana),
        },
    }


def show() -> str:
    """The n-grams by length; what related words share."""
    by_length = table(["n", "n-grams of <where>"], [[n, " ".join(ngrams("where", n, n))] for n in (3, 4, 5, 6)])
    overlap = table(
        ["a", "b", "n-grams of a", "of b", "shared"],
        [[a, b, len(ngrams(a)), len(ngrams(b)), shared(a, b)] for a, b in (*COMPARED, ("wherever", "where"))],
    )
    twice = f"banana: {len(ngrams('banana'))} n-grams, {len({*ngrams('banana')})} of them distinct (ana stands twice)"
    return "\n\n".join([by_length, overlap, twice])


def picture(axes: "Axes") -> None:
    """n-grams in common, of four pairs of words."""
    bars(axes, {"": [shared(a, b) for a, b in COMPARED]}, [f"{a}\n{b}" for a, b in COMPARED], y="shared n-grams")


LESSON = Lesson(
    name="fasttext",
    title="fastText: 'where' is the sum of its fourteen n-grams, and 'wherever' shares ten of them",
    where="chapter 23.5",
    values=values,
    show=show,
    picture=picture,
    answers="""\
How many n-grams has 'where'? 5 + 4 + 3 + 2 = 14 of length 3 to 6; fastText adds the word <where> itself as a 15th unit.
Is G_where a set? The chapter writes one; for 'where' it makes no difference. 'banana' has 18 n-grams, 17 distinct, and
the libraries count all 18.
Sum or mean? The chapter sums. gensim's vectors are the mean of the rows, so their lengths differ and their
directions do not.
What about 'wherever', never seen? It shares 10 of its 26 n-grams with 'where', so it gets a vector.""",
)
