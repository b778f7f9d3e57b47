"""How well flipped labels are found: N labels of IMDb train reviews flipped on purpose, precision and recall.

    python docs/label_errors.py ../shared/data/imdb/train.jsonl.gz [5000 [200 [C]]]

Prints, for the suspects of ``heldout data check`` and for the first K of them, how many are flipped ones.
"""

import random
import sys
import time

from heldout.checks.label_errors import C, cross_validated, suspects, units
from heldout.data.duplicates import find, fold_example
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions

LABELS = ("negative", "positive")


def measure(source: str, n: int, flips: int, c: float, seed: int = 1) -> dict[str, float]:
    """Flip ``flips`` labels of a sample of ``n`` reviews and look for them."""
    examples = load("sentiment", source, SourceOptions(), limit=n, seed=seed).examples
    flipped = set(random.Random(seed).sample(range(len(examples)), flips))
    given = [LABELS[1 - LABELS.index(e.gold)] if row in flipped else e.gold for row, e in enumerate(examples)]
    groups = units(examples, find([fold_example(e) for e in examples]).cluster.tolist())
    begun = time.perf_counter()
    scores = cross_validated([str(e.text["text"]) for e in examples], given, LABELS, groups, seed=seed, c=c)
    found = [suspect.row for suspect in suspects(given, LABELS, scores)]
    right = sum(LABELS[int(p.argmax())] == e.gold for p, e in zip(scores, examples, strict=True)) / len(examples)
    hits = [row in flipped for row in found]
    row: dict[str, float] = {"n": len(examples), "flipped": flips, "C": c, "accuracy": right, "suspects": len(found)}
    row |= {"found": sum(hits), "precision": sum(hits) / max(len(found), 1), "recall": sum(hits) / flips}
    for k in (50, 100, flips):
        row[f"precision of the first {k}"] = sum(hits[:k]) / k
    return row | {"seconds": time.perf_counter() - begun}


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    numbers = [float(word) for word in sys.argv[2:]] + [5000, 200, C][len(sys.argv) - 2 :]
    for name, value in measure(sys.argv[1], int(numbers[0]), int(numbers[1]), numbers[2]).items():
        print(f"{name}: {value:.4g}")
