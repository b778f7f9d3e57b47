"""How often 95% intervals hold the true value: made-up systems whose true values are known, scored again and again.

    python docs/coverage.py            prints the table of the docs (about a minute)
    python docs/coverage.py 200 300    fewer test sets and replicates: quicker and rougher

Two systems of two labels: of the calibrated one an answer given with confidence p is right with chance p; the
overconfident one is right with chance p − 0.1. True values are those of a test set of four million. The last row moves
the ECE's interval down by its bias (the plain value less the debiased one), cut at 0.
"""

import sys
from collections.abc import Sequence

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import find
from heldout.eval.metrics.ece import binned, debiased
from heldout.eval.resampling import Bundle, Statistic, bootstrap
from heldout.eval.statistics import Sampling, percentiles, wilson

SIZES = (50, 500)
#: How much less often than it says an answer is right.
SYSTEMS = {"calibrated": 0.0, "overconfident by 0.1": 0.1}
METRICS = ("accuracy", "macro_f1", "nll", "brier", "ece")
TRUE = 4_000_000
#: Test sets that share the draws of one bootstrap: their intervals stay those of the command, and it is quicker.
TOGETHER = 100
Interval = tuple[float, float]


def drawn_table(rng: np.random.Generator, n: int, over: float) -> LabelTable:
    """A test set of n: confidences spread over 0.6 to 1, gold balanced, right with chance p − over."""
    p = rng.uniform(0.6, 1, n)
    gold = rng.integers(0, 2, n)
    answer = np.where(rng.random(n) < p - over, gold, 1 - gold)
    scores = np.where(answer[:, None] == np.arange(2), p[:, None], 1 - p[:, None])
    return LabelTable(("negative", "positive"), gold, answer, scores)


def intervals(
    tables: Sequence[LabelTable], names: Sequence[str], replicates: int, seed: int
) -> dict[str, list[Interval]]:
    """The intervals of metrics on test sets of one size, as heldout score makes them."""
    n = len(tables[0])
    sampling = Sampling(n, None, replicates, seed)
    metrics = [find(name) for name in names if not find(name).share]
    statistics = [Statistic(metric.columns(table), metric.value) for metric in metrics for table in tables]
    found = [percentiles(values) for values in bootstrap([Bundle(np.arange(n), statistics, sampling)], sampling)[0]]
    by = {m.name: found[k * len(tables) : (k + 1) * len(tables)] for k, m in enumerate(metrics)}
    shares = {name: [wilson(float(t.correct.sum()), n) for t in tables] for name in names if find(name).share}
    return by | shares


def coverage(n: int, over: float, trials: int, replicates: int, names: Sequence[str] = METRICS) -> dict[str, float]:
    """The share of test sets whose interval holds the true value, by metric, and of the ECE less its bias."""
    rng = np.random.default_rng([n, round(100 * over)])
    truth = {name: find(name).of(drawn_table(rng, TRUE, over)) for name in names}
    # Bins of a calibrated system are off by noise alone, however many texts: its true ECE is 0, the other's is 0.1.
    truth |= {"ece": over}
    held: dict[str, list[bool]] = {}
    for batch in range(-(-trials // TOGETHER)):
        tables = [drawn_table(rng, n, over) for _ in range(min(TOGETHER, trials - batch * TOGETHER))]
        found = intervals(tables, names, replicates, batch)
        if "ece" in names:
            found["ece, less its bias"] = [_less_bias(t, i) for t, i in zip(tables, found["ece"], strict=True)]
        for name, bounds in found.items():
            true = truth[name.split(",")[0]]
            held.setdefault(name, []).extend(low <= true <= high for low, high in bounds)
    return {name: float(np.mean(hits)) for name, hits in held.items()}


def _less_bias(table: LabelTable, interval: Interval) -> Interval:
    bias = find("ece").of(table) - debiased(binned(table, "ece"))
    return max(0.0, interval[0] - bias), max(0.0, interval[1] - bias)


def main(trials: int = 2000, replicates: int = 1000) -> None:
    """Print the table in Markdown."""
    columns = {(n, name): coverage(n, over, trials, replicates) for n in SIZES for name, over in SYSTEMS.items()}
    heads = [f"{name}, n = {n}" for n, name in columns]
    print(f"| share of {trials:,} intervals that hold the true value | {' | '.join(heads)} |")
    print("|---" * (len(heads) + 1) + "|")
    for metric in next(iter(columns.values())):
        method = "Wilson" if metric == "accuracy" else "bootstrap"
        print(f"| {metric} ({method}) | {' | '.join(f'{found[metric]:.1%}' for found in columns.values())} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
