"""How word vectors are trained: the options, with gensim 4.4's defaults, which the seeds' run has."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from heldout.errors import Refused
from heldout.options import nearest, option

Kind = Literal["cbow", "skipgram", "fasttext", "glove"]
#: What ``--again`` may change.
CHANGED = ("seed", "window", "epochs", "size", "min_count")


@dataclass(frozen=True)
class VectorOptions:
    """What word vectors are trained with; what one kind alone has stands last."""

    kind: Kind = option("skipgram", "train: cbow and skipgram (word2vec), fasttext (n-grams), or glove")
    size: int = option(100, "train: dimensions of a vector")
    window: int = option(5, "train: words on each side that are a word's context, at most")
    min_count: int = option(5, "train: leave out words seen less often")
    epochs: int | None = option(None, "train: passes over the corpus (default 5), or its pairs (default 25, glove)")
    seed: int = option(1, "train: draws the first vectors; judge: the pairs and replicates")
    workers: int = option(1, "train: threads of gensim; with more than 1 no run can be repeated")
    softmax: Literal["negative", "hierarchical"] = option("negative", "train: negative samples or a Huffman tree")
    negative: int = option(5, "train: noise words a pair (negative)")
    exponent: float = option(0.75, "train: noise words are drawn by count to this power")
    subsample: float = option(1e-3, "train: words more frequent than this share are thinned out; 0: none is")
    shrink_windows: bool = option(True, "train: draw each window's radius from 1 to --window")
    learning_rate: float | None = option(None, "train: at first (default 0.025, glove 0.05)")
    last_learning_rate: float = option(1e-4, "train: at the end, after a linear fall (not glove)")
    skip_gram: bool = option(True, "train: fasttext by skip-gram; --no-skip-gram by cbow")
    shortest: int = option(3, "train: characters of the shortest n-gram (fasttext)")
    longest: int = option(6, "train: characters of the longest n-gram (fasttext)")
    buckets: int = option(100_000, "train: rows that n-grams are hashed to (fasttext; its authors took 2,000,000)")
    x_max: float = option(100.0, "train: co-occurrences that get the full weight (glove)")
    alpha: float = option(0.75, "train: rarer pairs weigh (count / x-max) to this power (glove)")
    batch: int = option(1024, "train: pairs a step (glove; 1 is its authors' way, and slow)")
    pairs_in_memory: int = option(20_000_000, "train: co-occurrences held at once, 16 bytes each (glove)")

    def __post_init__(self) -> None:
        """Refused for values that mean nothing."""
        at_least_one = ("size", "window", "min_count", "epochs", "workers", "shortest", "buckets", "batch")
        for name in (*at_least_one, "pairs_in_memory"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise Refused(f"--{name.replace('_', '-')} {getattr(self, name)}: must be 1 or more")
        if self.longest < self.shortest:
            raise Refused(f"--longest {self.longest}: is below --shortest {self.shortest}")
        if self.negative < 1 and self.softmax == "negative":
            raise Refused(f"--negative {self.negative}: must be 1 or more, or take --softmax hierarchical")
        for name in ("subsample", "last_learning_rate"):
            if getattr(self, name) < 0:
                raise Refused(f"--{name.replace('_', '-')} {getattr(self, name)}: must not be below 0")
        for name in ("x_max", "alpha", "learning_rate"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise Refused(f"--{name.replace('_', '-')} {value}: must be above 0")

    @property
    def passes(self) -> int:
        """The epochs. After 2 GloVe's vectors of War and Peace still had a mean cosine of 0.94 with each other."""
        return self.epochs or (25 if self.kind == "glove" else 5)

    @property
    def rate(self) -> float:
        """The learning rate at first."""
        return self.learning_rate or (0.05 if self.kind == "glove" else 0.025)


def varied(options: VectorOptions, changes: Sequence[str]) -> dict[str, "VectorOptions"]:
    """The options of each further run, by its name: "seed=7" is the same run under another seed.

    Refused for what is no such option, or no whole number.
    """
    found = {}
    for change in changes:
        name, _, value = change.partition("=")
        name = name.replace("-", "_")
        if name not in CHANGED or not value.isdigit():
            raise Refused(f"--again {change}: write one of {', '.join(CHANGED)} = a number, as seed=7{_near(name)}")
        found[change] = dataclasses.replace(options, **cast(Any, {name: int(value)}))
    return found


def _near(name: str) -> str:
    return nearest(name, CHANGED)
