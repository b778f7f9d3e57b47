"""How long `heldout score` takes on many predictions, and how much memory: made-up data of any size, measured.

    python docs/score_speed.py 25000 10000 --words 230     25,000 long texts, 10,000 replicates
    python docs/score_speed.py 1000000 1000 --words 12     a million short ones, 1,000 replicates

The command runs in a process of its own, as people call it: reading, joining, slices, every metric of a label card
with a temperature, intervals of everything. Printed are wall and CPU time and the largest resident set.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path

METRICS = ["accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_mass", "aurc"]
FILLER = ["the", "film", "a", "plot", "with", "and", "but", "its", "actor", "was", "is", "very", "good", "bad", "not"]


def write(folder: Path, n: int, words: int) -> None:
    """Card, gold and predictions of n texts of about so many words, four in five answered right."""
    generator = random.Random(0)
    card = {"name": "made up", "kind": "label", "labels": ["negative", "positive"], "metrics": METRICS}
    card["slices"] = ["negation", "length", "overlap"]
    (folder / "card.json").write_text(json.dumps(card))
    with (folder / "gold.jsonl").open("w") as gold, (folder / "predictions.jsonl").open("w") as predictions:
        for row in range(n):
            text = " ".join(generator.choices(FILLER, k=generator.randrange(words // 2, words * 3 // 2)))
            p = generator.betavariate(2, 0.7)
            right = generator.random() < p
            label = card["labels"][row % 2]
            scores = [p, 1 - p] if (label == "negative") == right else [1 - p, p]
            answer = card["labels"][int(scores[1] > scores[0])]
            seen = {"tokens": words, "lost": int(row % 10 == 0)}
            gold.write(json.dumps({"id": str(row), "text": {"text": text}, "gold": label}) + "\n")
            predictions.write(json.dumps({"id": str(row), "answer": answer, "scores": scores, "seen": seen}) + "\n")


def measure(folder: Path, replicates: int) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak memory in MB of scoring it."""
    files = [word for kind in ("gold", "predictions") for word in (f"--{kind}", str(folder / f"{kind}.jsonl"))]
    call = ["score", "--card", str(folder / "card.json"), *files, "--replicates", str(replicates), "--json"]
    start = time.perf_counter()
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "heldout", *call],
        os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit("heldout score failed")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Make the data, score it, say what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("n", type=int)
    parser.add_argument("replicates", type=int)
    parser.add_argument("--words", type=int, default=230)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        write(Path(name), options.n, options.words)
        wall, cpu, memory = measure(Path(name), options.replicates)
    load = os.getloadavg()[0]
    print(f"{options.n:,} predictions, {options.replicates:,} replicates: {wall:.1f} s wall, {cpu:.1f} s CPU,")
    print(f"{memory:,.0f} MB, on {os.cpu_count()} CPUs with a load of {load:.1f}")


if __name__ == "__main__":
    main()
