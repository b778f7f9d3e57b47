"""Ten sentences of a report and a comparison, computed again from the records without any code of heldout.

    python docs/check_sentences.py RUN PROBE     RUN of recipes/imdb-2000.toml, PROBE of imdb-2000-probe.toml

scipy has Wilson's interval and the binomial test, the rest is plain Python. docs/results.md says what came out.
"""

import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from scipy.stats import binomtest


def rows(path: Path) -> dict[str, Any]:
    """The lines of a jsonl file by id."""
    # Not splitlines: reviews hold U+0085, which is a line's end to it and none to JSON lines.
    with path.open(encoding="utf-8") as lines:
        return {row["id"]: row for row in map(json.loads, lines)}


def right(folder: Path, data: str) -> dict[str, bool]:
    """Which examples a run answers as gold has them."""
    gold, said = rows(folder / "gold" / f"{data}.jsonl"), rows(folder / "predictions" / f"{data}.jsonl")
    return {id_: said[id_]["answer"] == row["gold"] for id_, row in gold.items()}


def ece(confidence: dict[str, float], hits: dict[str, bool]) -> float:
    """15 bins, each (low, high]."""
    gaps: dict[int, float] = defaultdict(float)
    for id_, p in confidence.items():
        gaps[max(0, math.ceil(p * 15) - 1)] += hits[id_] - p
    return sum(map(abs, gaps.values())) / len(confidence)


def softened(scores: list[float], temperature: float) -> float:
    """The largest of softmax(log p / T)."""
    weights = [max(p, 1e-12) ** (1 / temperature) for p in scores]
    return max(weights) / sum(weights)


def main(run: Path, probe: Path) -> None:
    """Print the ten."""
    seeds = [right(run / f"seed-{k}", "imdb") for k in (1, 2, 3)]
    tfidf, frozen = right(run / "baselines" / "tfidf", "imdb"), right(probe, "imdb")
    n, counts = len(tfidf), [sum(seed.values()) for seed in seeds]
    print("1 seed-1:", counts[0], "of", n, binomtest(counts[0], n).proportion_ci(method="wilson"))
    mean = sum(counts) / 3 / n
    print("2 seeds:", counts, mean, "sd", math.sqrt(sum((count / n - mean) ** 2 for count in counts) / 2))
    print("3 tf-idf:", sum(tfidf.values()), " 4 probe:", sum(frozen.values()))
    said = rows(run / "seed-1" / "predictions" / "imdb.jsonl")
    sure = {id_: max(row["scores"]) for id_, row in said.items()}
    there = [id_ for id_, p in sure.items() if 13 / 15 < p <= 14 / 15]
    hits, share = sum(seeds[0][id_] for id_ in there), sum(sure[id_] for id_ in there) / len(there)
    print("5 given with 87% to 93%:", len(there), "mean", share, "right", hits)
    temperature = json.loads((run / "seed-1" / "fits" / "temperature.json").read_text())["parameters"]["temperature"]
    after = {id_: softened(row["scores"], temperature) for id_, row in said.items()}
    print("6 temperature", temperature, "ECE", ece(sure, seeds[0]), "to", ece(after, seeds[0]))
    cells = Counter((tfidf[id_], frozen[id_]) for id_ in tfidf)
    lost, won = cells[True, False], cells[False, True]
    print("7 tf-idf alone", lost, "probe alone", won, "both", cells[True, True], "neither", cells[False, False])
    print("8 exact McNemar p", binomtest(lost, lost + won).pvalue)
    of_tfidf = rows(run / "baselines" / "tfidf" / "predictions" / "imdb.jsonl")
    surest = sorted(of_tfidf, key=lambda id_: -max(of_tfidf[id_]["scores"]))[: n * 8 // 10]
    print("9 the surest 80% of tf-idf:", sum(tfidf[id_] for id_ in surest) / len(surest))
    originals = [right(run / f"seed-{k}", "original") for k in (1, 2, 3)]
    print("10 original:", [sum(seed.values()) for seed in originals], "of", len(originals[0]))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
