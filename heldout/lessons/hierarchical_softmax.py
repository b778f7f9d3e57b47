"""Hierarchical softmax: one choice among all words becomes a few turns in a binary tree (Morin and Bengio 2005).

At a node n the walk turns left with probability σ(u_n · v), right with σ(−u_n · v); a word's probability is the product
of the turns to its leaf. σ(x) + σ(−x) = 1, so the leaves sum to 1 without a sum over the words. Huffman's tree gives
frequent words short walks.
"""

import heapq
from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.negative_sampling import sigmoid
from heldout.lessons.two_themes import COUNTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: A leaf is a word, a node the pair (left, right).
Tree: TypeAlias = "str | tuple[Tree, Tree]"
#: For each word the internal nodes of its walk, each with +1 for left and −1 for right.
Paths: TypeAlias = dict[str, list[tuple[int, int]]]
TOY: Tree = ("the", ("cat", ("drinks", "milk")))


def paths(tree: Tree) -> Paths:
    """Every word's walk from the root; internal nodes are numbered as they are first met."""
    numbers, found = count(), Paths()

    def walk(at: Tree, turns: list[tuple[int, int]]) -> None:
        if isinstance(at, str):
            found[at] = turns
            return
        node = next(numbers)
        for child, sign in zip(at, (1, -1), strict=True):
            walk(child, [*turns, (node, sign)])

    walk(tree, [])
    return found


def probabilities(walks: Paths, scores: ArrayLike) -> dict[str, float]:
    """P of every word, given u_n · v of every internal node, shape (nodes,)."""
    s = np.asarray(scores, dtype=float)
    return {word: float(np.prod([sigmoid(sign * s[node]) for node, sign in turns])) for word, turns in walks.items()}


def huffman(counts: Mapping[str, int]) -> Tree:
    """The tree of the least expected length: join the two rarest, again and again; equal ones by age, then by name."""
    age = count()
    heap: list[tuple[int, int, Tree]] = [(counts[word], next(age), word) for word in sorted(counts)]
    heapq.heapify(heap)
    while len(heap) > 1:
        (n, _, left), (m, _, right) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (n + m, next(age), (left, right)))
    return heap[0][2]


def values() -> Values:
    """The toy tree, and Huffman's over the counts of exercise 23.7."""
    toy, walks = paths(TOY), paths(huffman(COUNTS))
    leaves = probabilities(toy, [np.log(3), 0, -np.log(3)])
    lengths = {word: len(turns) for word, turns in walks.items()}
    share: Floats = np.array([COUNTS[word] for word in lengths]) / COUNTS.total()
    depth = np.array([*lengths.values()])
    return {
        "ch.hsoftmax.toy": {
            **{"leaf_probs": leaves, "sum": sum(leaves.values())},
            **{"L_minus_1": {word: len(turns) for word, turns in toy.items()}},
            "zero_vectors": probabilities(toy, np.zeros(3)),
        },
        "ch.hsoftmax.huffman": {
            **{"counts": dict(COUNTS), "code_lengths": lengths, "sorted_lengths": sorted(lengths.values())},
            **{"expected_length": share @ depth, "entropy_bits": -share @ np.log2(share)},
            "internal_nodes": len({node for turns in walks.values() for node, _ in turns}),
            "kraft": (0.5**depth).sum(),
            "balanced_1e6": int(np.ceil(np.log2(1e6))),
        },
    }


def show() -> str:
    """The leaves of the toy tree; the lengths of Huffman's."""
    toy = values()["ch.hsoftmax.toy"]
    rows = [[word, toy["L_minus_1"][word], toy["leaf_probs"][word], toy["zero_vectors"][word]] for word in paths(TOY)]
    leaves = table(["word", "turns", "P", "P at zero vectors"], rows, digits=5)
    tree = values()["ch.hsoftmax.huffman"]
    codes = table(["word", "count", "turns"], [[w, COUNTS[w], n] for w, n in tree["code_lengths"].items()])
    said = (
        f"{tree['expected_length']:.4f} turns a word; entropy {tree['entropy_bits']:.4f} bits; a flat softmax takes 10"
    )
    return f"{leaves}\nthey sum to {toy['sum']:.12f}\n\n{codes}\n{said}"


def picture(axes: "Axes") -> None:
    """Leaf probabilities of the toy tree, with its scores and with all of them 0."""
    toy = values()["ch.hsoftmax.toy"]
    groups = {"scores log 3, 0, −log 3": [*toy["leaf_probs"].values()], "all scores 0": [*toy["zero_vectors"].values()]}
    bars(axes, groups, list(toy["leaf_probs"]), y="P(word)")


LESSON = Lesson(
    name="hierarchical-softmax",
    title="hierarchical softmax: a word is a walk down a Huffman tree, and the leaves sum to 1",
    where="chapter 23.3",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Does a sum of 1 show that the signs are right? No: with left and right swapped the leaves sum to 1 as well. Their
single values tell.
What is P at zero vectors? Not uniform, as a flat softmax's is: 1/2, 1/4, 1/8, 1/8 by the tree.
How many vectors does the tree own? |V| − 1, one an internal node (9 for 10 words); a word costs L − 1 sigmoids.
Which tree? Word2vec takes Huffman's; a balanced one over a million words would take 20 turns for each of them.""",
)
