"""From per-token outputs to structures: BIO tags and answer spans.

B-X begins an entity, I-X continues it, O is outside. An answer (i, j) maximises P_start(i) P_end(j) with i ≤ j and a
limit of length, over all pairs at once; two separate argmaxes need not make a span. heldout/bio.py and heldout/spans.py
do this for the real tasks.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.bio import strict, tags_of
from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import heat
from heldout.lessons.skip_gram import softmax
from heldout.spans import best, pool

if TYPE_CHECKING:
    from matplotlib.axes import Axes

JOBS, JOBS_ENTITIES = "Steve Jobs founded Apple Inc in California", [(0, 2, "PER"), (3, 5, "ORG"), (6, 7, "LOC")]
APPLE, APPLE_ENTITIES = "Apple Inc. was founded by Steve Jobs", [(0, 2, "ORG"), (5, 7, "PER")]
PASSAGE = ["Apple", "was", "founded", "by", "Steve", "Jobs", "in", "1976"]
START: Floats = np.array([1.0, 1, 1, 1, 5, 3, 1, 1])
END: Floats = np.array([1.0, 1, 1, 1, 3, 4, 1, 5])
#: The best start stands behind the best end.
CROSSED = (np.array([1.0, 1, 5]), np.array([5.0, 1, 4]))


def naive(start: Floats, end: Floats) -> list[int]:
    """The two argmaxes, from 1: no span where the end comes first."""
    return [int(start.argmax()) + 1, int(end.argmax()) + 1]


def search(start: Floats, end: Floats, longest: int, keep: int = 1) -> list[tuple[float, int, int]]:
    """The best spans as (P_start P_end, first token, last token), from 1, of at most ``longest`` tokens."""
    spans = best(pool([(0, start, end)], tokens=len(start), longest=longest), keep)
    p, q = softmax(start), softmax(end)
    return [(float(p[i] * q[j]), i + 1, j + 1) for i, j, _ in spans]


def text(span: list[int]) -> str:
    """The words of a span that counts from 1."""
    return " ".join(PASSAGE[span[0] - 1 : span[1]])


def values() -> Values:
    """Exercise 23.6."""
    tags = tags_of(JOBS_ENTITIES, len(JOBS.split()))
    p, q, (product, *found), ends = softmax(START), softmax(END), search(START, END, 3)[0], naive(START, END)
    by_limit = {str(n): [*search(START, END, n)[0][1:]] for n in range(1, len(PASSAGE) + 1)}
    crossed, *_ = search(*CROSSED, 3)
    both = float(p[ends[0] - 1] * q[ends[1] - 1])
    joint = {text(ends): "naive combination", text(found): "length-constrained joint search"}
    return {
        "ex23.6a": {
            **{"tags": tags, "chapter_example": tags_of(APPLE_ENTITIES, len(APPLE.split()))},
            "spans_decoded": [[kind, first, behind] for first, behind, kind in strict(tags)],
        },
        "ex23.6b": {
            **{"P_start": p, "P_end": q, "argmax_start": ends[0], "argmax_end": ends[1]},
            **{"naive_span": ends, "naive_text": text(ends), "naive_length": ends[1] - ends[0] + 1},
            **{"naive_product": both, "span": found, "text": text(found), "product": product},
            "n_valid_pairs": int(np.isfinite(pool([(0, START, END)], tokens=8, longest=3)).sum()),
            **{"top4": search(START, END, 3, keep=4), "unconstrained_i_le_j": by_limit["8"]},
            **{"ratio_naive_over_best": both / product, "span_maxlen": by_limit},
        },
        "ex23.6c": {"recovers": joint["Steve Jobs"]},
        "ex23.6d": {"naive": naive(*CROSSED), "span": [*crossed[1:]], "product": crossed[0]},
    }


def show() -> str:
    """Tags; start and end; the best span by limit."""
    found = values()
    tags = table(["word", "tag"], zip(JOBS.split(), found["ex23.6a"]["tags"], strict=True))
    b = found["ex23.6b"]
    heads = table(
        ["token", "word", "P_start", "P_end"], zip(range(1, 9), PASSAGE, b["P_start"], b["P_end"], strict=True)
    )
    rows = [["two argmaxes", text(b["naive_span"]), b["naive_product"]]]
    rows += [[f"at most {n} tokens", text(b["span_maxlen"][str(n)]), search(START, END, n)[0][0]] for n in range(1, 5)]
    return "\n\n".join([tags, heads, table(["search", "answer", "P_start · P_end"], rows)])


def picture(axes: "Axes") -> None:
    """P_start(i) P_end(j) of all spans of at most three tokens."""
    products = np.outer(softmax(START), softmax(END))
    allowed = np.triu(np.ones((8, 8))) - np.triu(np.ones((8, 8)), k=3)
    heat(axes, np.where(allowed > 0, products, 0), PASSAGE, PASSAGE, digits=3)
    axes.set(xlabel="end", ylabel="start", title="at most three tokens")


LESSON = Lesson(
    name="bio-and-spans",
    title="BIO tags and answer spans: why two argmaxes are not an answer",
    where="chapter 23.9; exercise 23.6",
    values=values,
    show=show,
    picture=picture,
    answers="""\
1. B-PER I-PER O B-ORG I-ORG O B-LOC. Two B-PER in a row would be two persons; an I-X that nothing precedes is an
   orphan, which strict reading (ours) does not count and conlleval's lenient one does.
2. Start peaks at 'Steve' (token 5), end at '1976' (token 8): 'Steve Jobs in 1976', four tokens. Over the 21 pairs of at
   most three tokens the best is 'Steve Jobs' (5, 6), 0.185.
3. The search with the limit recovers 'Steve Jobs'. i ≤ j alone does not help here: without a limit the joint search
   also returns the naive span (its product is e times as large). i ≤ j matters where the best start stands behind the
   best end: starts 1, 1, 5 and ends 5, 1, 4 give (3, 1), which is no span; the search gives (3, 3).""",
)
