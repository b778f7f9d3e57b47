"""Byte pair encoding on four words, and the tie that the chapter's first merges hide (Sennrich et al. 2016).

heldout/tokenizer/reference.py is the definition: count the pairs, merge the most frequent one, begin again. In
{fast 4, faster 3, tall 5, taller 4} three pairs stand at 9, and t + a is only one of them.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from heldout.lessons._contract import Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.tokenizer.reference import Pair, Symbols, bpe_tokenize, get_pair_counts, merge_pair, spelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Vocab = dict[Symbols, int]
WORDS = {"fast": 4, "faster": 3, "tall": 5, "taller": 4}
#: How one of the tied pairs is chosen; they come in the order in which the corpus shows them.
TIES: dict[str, Callable[[Sequence[Pair]], Pair]] = {
    "first_seen": lambda tied: tied[0],
    "last_seen": lambda tied: tied[-1],
    "lex_max": max,
    "lex_min": min,
}


def tied(vocab: Vocab) -> tuple[int, list[Pair]]:
    """The highest count of a pair and all pairs that have it."""
    counts = get_pair_counts(vocab)
    most = max(counts.values())
    return most, [pair for pair, n in counts.items() if n == most]


def learn(words: dict[str, int], rounds: int, choose: Callable[[Sequence[Pair]], Pair]) -> tuple[list[Pair], Vocab]:
    """So many merges, ties broken by ``choose``, and the words as they are spelled after them."""
    vocab, merges = spelled(words), list[Pair]()
    while len(merges) < rounds and get_pair_counts(vocab):
        merges.append(choose(tied(vocab)[1]))
        vocab = merge_pair(merges[-1], vocab)
    return merges, vocab


def every_path(vocab: Vocab, rounds: int) -> Iterator[list[Pair]]:
    """The merges under every way to break every tie."""
    if not rounds:
        yield []
        return
    for pair in tied(vocab)[1]:
        for rest in every_path(merge_pair(pair, vocab), rounds - 1):
            yield [pair, *rest]


def spell(pairs: Sequence[Pair]) -> list[str]:
    """Pairs as "left right"."""
    return [" ".join(pair) for pair in pairs]


def single_after(word: str, merges: Sequence[Pair]) -> int:
    """How many merges it takes until the word is one symbol and the end mark."""
    return next(n for n in range(len(merges) + 1) if bpe_tokenize(word, merges[:n]) == [word, "</w>"])


def rounds(words: dict[str, int], number: int) -> list[tuple[str, int, list[str]]]:
    """Each round's merge, its count, and the pairs tied for it, the first seen taken."""
    merges, _ = learn(words, number, TIES["first_seen"])
    found, vocab = [], spelled(words)
    for pair in merges:
        most, all_tied = tied(vocab)
        found.append((" ".join(pair), most, spell(all_tied)))
        vocab = merge_pair(pair, vocab)
    return found


def _tokenized(first: list[Pair], by_tie: dict[str, list[Pair]], paths: list[list[Pair]]) -> dict[str, object]:
    """Part 3: new words under the merges of the first-seen rule, of other rules, of every path, of more words."""
    more = {**WORDS, "smarter": 3}
    after = {n: learn(more, n, TIES["first_seen"])[0] for n in (8, 14, 16)}
    alone = {tie: learn({"smarter": 3}, 8, TIES[tie])[0] for tie in ("first_seen", "lex_max")}
    return {
        **{f"{w}_{tie}": bpe_tokenize(w, by_tie[tie]) for w in ("fastest", "tallest") for tie in TIES},
        **{f"{w}_all_paths": Counter(" ".join(bpe_tokenize(w, m)) for m in paths) for w in ("fastest", "tallest")},
        **{w: bpe_tokenize(w, first) for w in ("smartest", "tatata")},
        "seen_words": {word: bpe_tokenize(word, first) for word in WORDS},
        **{f"smartest_after_adding_smarter3_{n}": bpe_tokenize("smartest", merges) for n, merges in after.items()},
        "merges_with_smarter": [[merge, n] for merge, n, _ in rounds(more, 14)],
        "smartest_trained_on_smarter_only_8": bpe_tokenize("smartest", alone["first_seen"]),
        "smartest_trained_on_smarter_only_lexmax_8": bpe_tokenize("smartest", alone["lex_max"]),
    }


def values() -> Values:
    """Exercise 23.10, under four ways to break ties and under all 720."""
    learned = {tie: learn(WORDS, 8, choose) for tie, choose in TIES.items()}
    first, vocab = learned["first_seen"]
    each, paths = rounds(WORDS, 8), list(every_path(spelled(WORDS), 8))
    ninth = tied(vocab)
    both = Counter(str(max(single_after("fast", m), single_after("tall", m))) for m in paths)
    return {
        "ex23.10a": {
            "initial_counts": {" ".join(pair): n for pair, n in get_pair_counts(spelled(WORDS)).items()},
            **{"counts": [n for _, n, _ in each], "after3": "".join(first[2])},
            **{f"merges_{tie}": spell(merges) for tie, (merges, _) in learned.items()},
            **{"ties_first_seen": [t for *_, t in each], "tie_sizes_first_seen": [len(t) for *_, t in each]},
            "merge_boundary": list(merge_pair(("a", "b"), {("xa", "b"): 1})),
            "merge_overlap": next(iter(merge_pair(("l", "l"), {("l", "l", "l"): 1}))),
            "prediction_paths": [sum(spell(m[:2]) == ["t a", "ta l"] for m in paths), len(paths)],
        },
        "ex23.10b": {
            "vocab": {" ".join(symbols): n for symbols, n in vocab.items()},
            **{f"{word}_single_after": single_after(word, first) for word in ("fast", "tall")},
            **{"both_by_path": both, "ninth": [ninth[0], spell(ninth[1])]},
        },
        "ex23.10c": _tokenized(first, {tie: merges for tie, (merges, _) in learned.items()}, paths),
    }


def show() -> str:
    """The rounds with their ties; the merges by tie rule; new words."""
    found = values()
    a, c = found["ex23.10a"], found["ex23.10c"]
    first = table(
        ["round", "merge", "count", "tied with"],
        [[at, merge, n, ", ".join(t[1:]) or "-"] for at, (merge, n, t) in enumerate(rounds(WORDS, 8), 1)],
    )
    by_tie = table(["ties go to the", "merges"], [[tie, ", ".join(a[f"merges_{tie}"])] for tie in TIES])
    merges, _ = learn(WORDS, 8, TIES["first_seen"])
    words = ("fastest", "tallest", "smartest")
    new = table(["new word", "pieces"], [[word, " ".join(bpe_tokenize(word, merges))] for word in words])
    held, of = a["prediction_paths"]
    said = f"of {of} ways to break the ties the chapter's first two merges come in {held}"
    more = f"smartest after 16 merges with 'smarter' added: {' '.join(c['smartest_after_adding_smarter3_16'])}"
    return "\n\n".join([f"{first}\n{said}", by_tie, f"{new}\n{more}"])


def picture(axes: "Axes") -> None:
    """Counts of all pairs at the start: three of them stand at 9."""
    counts = values()["ex23.10a"]["initial_counts"]
    bars(axes, {"": [*counts.values()]}, [pair.replace(" ", "\n") for pair in counts], y="count at the start")


LESSON = Lesson(
    name="bpe",
    title="byte pair encoding on four words, and the tie behind its first merge",
    where="chapter 23.5; exercise 23.10",
    values=values,
    show=show,
    picture=picture,
    answers="""\
1. Do the first three merges match the prediction? With ties to the pair first seen, yes: t+a, ta+l, tal+l. But t+a, a+l
   and l+l all stand at 9, so the prediction is one of several outcomes: of 720 ways to break the ties 120 begin so.
   What is forced: the counts 9, 9, 9, 7, 7, 7, 7, 7, 'tall' after three merges, and the vocabulary after eight.
2. 'tall' is one symbol after 3 merges, 'fast' after 6 (6 to 8, by the ties); each still has </w> beside it.
3. The stem stands in two words, so all its pairs were merged; no word of the corpus has e+s, so -est stays in
   pieces. 'smartest' comes out in letters: with 'smarter' added the stem takes 16 merges to be whole, and trained
   on 'smarter' alone the merges run across its end: smarte s t.""",
)
