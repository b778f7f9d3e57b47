"""GloVe: vectors whose products are the logs of co-occurrence counts (Pennington, Socher and Manning 2014).

J = Σ_{X_ij > 0} h(X_ij) (v_i · u_j + b_i + c_j − log X_ij)²,  h(x) = min(1, (x / x_max)^α), by AdaGrad.

A step takes ``batch`` pairs at once: the gradients of a row are summed over its pairs, then its step is the rate times
that sum over the root of 1 + all squared sums so far (the 1 is the authors' first value). With a batch of 1 that is
their pair by pair. As in their code the factor 2 of the gradient is left to the rate. A word's vector is v + u.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from heldout.embeddings.cooccurrence import count, deal, parts, read_part
from heldout.embeddings.options import VectorOptions
from heldout.embeddings.text import Sentences
from heldout.embeddings.vectors import Floats, Vectors
from heldout.errors import Failed, Refused
from heldout.runs import atomic

#: A gradient is cut to this size, as the authors' code cuts it: one bad pair must not throw a word away.
CUT = 100.0


@dataclass(frozen=True)
class State:
    """Rows (n, d + 1), the last column their bias, of words (v, b) and contexts (u, c), and AdaGrad's sums of each."""

    v: Floats
    u: Floats
    v_sums: Floats
    u_sums: Floats


def start(words: int, size: int, seed: int) -> State:
    """Uniform in ±0.5 / (d + 1), biases too, and sums of 1, as the authors' code."""
    generator = np.random.default_rng([seed, 1])
    v, u = ((generator.random((words, size + 1)) - 0.5) / (size + 1) for _ in range(2))
    ones = np.ones((words, size + 1), np.float32)
    return State(v.astype(np.float32), u.astype(np.float32), ones, ones.copy())


def weight(x: npt.NDArray[np.float64], x_max: float, alpha: float) -> npt.NDArray[np.float64]:
    """h(x): what a pair's error weighs."""
    return np.asarray(np.minimum(1, (x / x_max) ** alpha))


def step(state: State, entries: npt.NDArray[np.void], options: VectorOptions) -> float:
    """One AdaGrad step on a batch of entries, in place; returns their summed weighted squared error before it."""
    i, j, x = entries["i"], entries["j"], entries["x"]
    rows, columns = state.v[i], state.u[j]
    error = np.einsum("nd,nd->n", rows[:, :-1], columns[:, :-1]) + rows[:, -1] + columns[:, -1] - np.log(x)
    weighted = weight(x, options.x_max, options.alpha) * error
    scale = weighted.astype(rows.dtype)[:, None]
    # The gradient by a bias is the error itself: the other side's last column is read as 1.
    columns[:, -1] = rows[:, -1] = 1
    _descend(state.v, state.v_sums, i, np.clip(scale * columns, -CUT, CUT), options.rate)
    _descend(state.u, state.u_sums, j, np.clip(scale * rows, -CUT, CUT), options.rate)
    return float(weighted @ error)


def _descend(table: Floats, sums: Floats, rows: npt.NDArray[np.int32], gradients: Floats, rate: float) -> None:
    # Rows in order, then one sum a run: np.add.at took ten times as long.
    order = np.argsort(rows, kind="stable")
    distinct, begins = np.unique(rows[order], return_index=True)
    total = np.add.reduceat(gradients[order], begins, axis=0)
    sums[distinct] += total * total
    table[distinct] -= rate * total / np.sqrt(sums[distinct])


def train_glove(
    sentences: Sentences, options: VectorOptions, folder: Path, say: Callable[[str], None], *, resume: bool = False
) -> tuple[Vectors, dict[str, Any]]:
    """Count, train, and give v + u, with what was measured; ``folder`` holds the pairs and the state of each epoch.

    With ``resume`` what the folder holds of an earlier life is taken up: the vectors are those of a run that was never
    stopped. Refused where no word is as frequent as ``min_count`` or no two stand together; Failed on overflow.
    """
    counts = [(word, n) for word, n in sentences.counts().most_common() if n >= options.min_count]
    if not counts:
        raise Refused(f"no word occurs {options.min_count} times; lower --min-count or give more text")
    index = {word: row for row, (word, _) in enumerate(counts)}
    begun = time.perf_counter()
    table = folder / "pairs"
    if not (resume and table.is_dir()):
        counter = count(sentences, index, options.window, folder, options.pairs_in_memory)
        if not counter.held and not counter.shards:
            raise Refused("no two words of the vocabulary stand in one sentence; lower --min-count or give more text")
        deal(counter, len(index), table, options.seed)
    entries = sum(path.stat().st_size for path in parts(table)) // 16
    counted = time.perf_counter() - begun
    say(f"glove: {len(index):,} words, {entries:,} pairs counted in {counted:.1f} s")
    state, losses, done = _epochs(len(index), options, folder, table, say, resume=resume)
    facts = {"pairs": entries, "counting_seconds": round(counted, 2), "loss_a_pair": losses, "epochs_now": done}
    rows = state.v[:, :-1] + state.u[:, :-1]
    return Vectors(tuple(index), rows, np.array([n for _, n in counts], np.int64)), facts


def _epochs(
    words: int, options: VectorOptions, folder: Path, table: Path, say: Callable[[str], None], *, resume: bool
) -> tuple[State, list[float], int]:
    """The state after all epochs, the loss of each, and how many of them this life of the run did."""
    path = folder / "state.safetensors"
    state, losses = _taken_up(path) if resume and path.exists() else (start(words, options.size, options.seed), [])
    before = len(losses)
    for epoch in range(before, options.passes):
        begun, total, n = time.perf_counter(), 0.0, 0
        generator = np.random.default_rng([options.seed, 2, epoch])
        files = parts(table)
        for file in generator.permutation(len(files)):
            entries = generator.permutation(read_part(files[file]))
            n += len(entries)
            for at in range(0, len(entries), options.batch):
                total += step(state, entries[at : at + options.batch], options)
        losses.append(total / n)
        if not np.isfinite(total):
            raise Failed(f"glove: the loss overflowed in epoch {epoch + 1}; lower --learning-rate {options.rate:g}")
        _keep(path, state, losses)
        speed = n / (time.perf_counter() - begun)
        say(f"glove: epoch {epoch + 1} of {options.passes}, loss a pair {total / n:.5f}, {speed:,.0f} pairs a second")
    return state, losses, options.passes - before


def _keep(path: Path, state: State, losses: list[float]) -> None:
    with atomic(path) as temporary:
        save_file({**vars(state), "losses": np.array(losses)}, temporary)


def _taken_up(path: Path) -> tuple[State, list[float]]:
    try:
        found = load_file(path)
        losses = found.pop("losses").tolist()
        return State(**found), losses
    except (SafetensorError, KeyError, TypeError) as error:
        raise Refused(f"{path}: cannot be read ({error}); remove it to train from the pairs again") from None
