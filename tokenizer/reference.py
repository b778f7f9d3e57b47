"""BPE and WordPiece in plain Python, to be read as their definition; the fast ones are tested against it.

BPE (Sennrich, Haddow and Birch 2016): count the pairs of neighbouring symbols over all words, merge the most frequent
pair everywhere, begin again. Here is the worked example of the lesson, whose first round is a three-way tie at 9:

>>> vocab = spelled({"fast": 4, "faster": 3, "tall": 5, "taller": 4})
>>> get_pair_counts(vocab)["t", "a"], get_pair_counts(vocab)["a", "l"], get_pair_counts(vocab)["l", "l"]
(9, 9, 9)
>>> merges = train_bpe(vocab, 8)
>>> [left + right for left, right in merges]
['ta', 'tal', 'tall', 'fa', 'fas', 'fast', 'er', 'er</w>']
>>> for word in ("fastest", "tallest", "smartest"):
...     print(*bpe_tokenize(word, merges))
fast e s t </w>
tall e s t </w>
s m a r t e s t </w>

WordPiece as everybody trains it today learns the same merges, over pieces that say whether they stand inside a word,
and then forgets their order: a word is read as its longest known beginning, then the longest known piece after it.

>>> pieces = {"jump", "##ing", "##s", "un", "##happi", "##ness", "happy", "##h"}
>>> [wordpiece_tokenize(word, pieces) for word in ("jumping", "unhappiness", "jumped")]
[['jump', '##ing'], ['un', '##happi', '##ness'], ['[UNK]']]
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

Symbols = tuple[str, ...]
Pair = tuple[str, str]


def spelled(words: Mapping[str, int], *, end: str = "</w>") -> dict[Symbols, int]:
    """Words as their characters and the end-of-word marker as a symbol of its own, each with its frequency."""
    return {(*word, end): n for word, n in words.items()}


def get_pair_counts(vocab: Mapping[Symbols, int]) -> dict[Pair, int]:
    """How often each pair of neighbours stands in the corpus, in the order in which the pairs are first seen.

    A word counts as often as it occurs, and every place in it counts: (a, a) stands twice in aaa.
    """
    counts: dict[Pair, int] = {}
    for symbols, n in vocab.items():
        for pair in pairwise(symbols):
            counts[pair] = counts.get(pair, 0) + n
    return counts


def merge_pair(pair: Pair, vocab: Mapping[Symbols, int], *, inside: str = "") -> dict[Symbols, int]:
    """Every occurrence of the pair as one symbol, from left to right and without overlap: l l l becomes ll l.

    >>> merge_pair(("a", "b"), {("xa", "b"): 1, ("a", "b", "a", "b"): 2})
    {('xa', 'b'): 1, ('ab', 'ab'): 2}
    """
    merged: dict[Symbols, int] = {}
    for symbols, n in vocab.items():
        word = _merged(symbols, pair, inside)
        merged[word] = merged.get(word, 0) + n
    return merged


def _merged(symbols: Symbols, pair: Pair, inside: str) -> Symbols:
    word: list[str] = []
    at = 0
    while at < len(symbols):
        if symbols[at : at + 2] == pair:
            word.append(joined(pair, inside))
            at += 2
        else:
            word.append(symbols[at])
            at += 1
    return tuple(word)


def joined(pair: Pair, inside: str = "") -> str:
    """The symbol that a pair becomes; the right one's mark of standing inside a word goes.

    >>> joined(("un", "##ha"), "##"), joined(("##n", "##e"), "##")
    ('unha', '##ne')
    """
    return pair[0] + pair[1].removeprefix(inside)


def train_bpe(vocab: Mapping[Symbols, int], rounds: int) -> list[Pair]:
    """The merges of so many rounds; of the most frequent pairs the one first seen is merged (Python's own ``max``)."""
    merges: list[Pair] = []
    while len(merges) < rounds and (counts := get_pair_counts(vocab)):
        merges.append(max(counts, key=lambda pair: counts[pair]))
        vocab = merge_pair(merges[-1], vocab)
    return merges


def train_by_id(
    vocab: Mapping[Symbols, int], initial: Sequence[str], size: int, *, min_frequency: int = 1, inside: str = ""
) -> tuple[dict[str, int], list[Pair]]:
    """Vocabulary and merges by the tie rule of the fast trainers: the smallest id on the left, then on the right.

    ``initial`` are the symbols in the order of their ids; learning stops at ``size`` of them, or where no pair is seen
    ``min_frequency`` times.
    """
    ids, merges = {symbol: row for row, symbol in enumerate(initial)}, list[Pair]()
    while len(ids) < size and (counts := get_pair_counts(vocab)):
        pair = max(counts, key=lambda pair: (counts[pair], -ids[pair[0]], -ids[pair[1]]))
        if counts[pair] < min_frequency:
            break
        merges.append(pair)
        ids.setdefault(joined(pair, inside), len(ids))
        vocab = merge_pair(pair, vocab, inside=inside)
    return ids, merges


def bpe_tokenize(word: str, merges: Sequence[Pair], *, end: str = "</w>") -> list[str]:
    """The symbols of a word after every learned merge; characters that were never seen stay symbols.

    The merge that was learned first goes first, at its leftmost place, until none is left. That is to apply the merges
    in order, unless two of them make the same symbol.
    """
    return list(apply_merges((*word, end), merges))


def apply_merges(symbols: Symbols, merges: Sequence[Pair]) -> Symbols:
    """The symbols after every learned merge, as ``bpe_tokenize`` says."""
    rank = {pair: row for row, pair in enumerate(merges)}
    while True:
        pairs = list(pairwise(symbols))
        at = min(range(len(pairs)), key=lambda at: rank.get(pairs[at], len(merges)), default=None)
        if at is None or pairs[at] not in rank:
            return symbols
        symbols = (*symbols[:at], joined(pairs[at]), *symbols[at + 2 :])


def wordpiece_tokenize(
    word: str, vocab: Collection[str], *, unknown: str = "[UNK]", inside: str = "##", longest: int = 100
) -> list[str]:
    """The longest known pieces from left to right; the whole word is unknown where one place has none.

    Longer than ``longest`` characters, it is unknown as it stands.
    """
    pieces: list[str] = []
    start = 0
    while start < len(word) <= longest:
        mark = inside if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in vocab), None)
        if end is None:
            return [unknown]
        pieces.append(mark + word[start:end])
        start = end
    return pieces if len(word) <= longest else [unknown]
