"""What each layer of an encoder knows: its frozen states and a logistic regression (Tenney, Das and Pavlick 2019).

    ner         the type of each word inside a gold entity, from the mean of its pieces' states
    pos         the tag of each word, of a file in columns with any tags (part of speech): syntax. Without a file: noun
                or verb, of words that are both, in sentences of our own; no scored word is among those trained on
    sentiment   the label of a text, from the mean of its tokens' states

A quarter of the sentences or texts is scored, the rest trained on. Beside each layer stands the same probe on the same
architecture with random weights: what words alone give away. That layers go from syntax to task is a hypothesis: look
at which layer is best for which question, and whether its interval is above its neighbours'.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModel

from heldout.bio import split
from heldout.checks.contextual import Encoder, load_encoder
from heldout.data.conll import read_conll
from heldout.data.names import Reading
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.data.suites import word_classes
from heldout.errors import Refused
from heldout.eval.columns import aligned
from heldout.eval.statistics import wilson

Task = Literal["ner", "pos", "sentiment"]
Floats = npt.NDArray[np.float32]
#: Words of a longer text that are read, so that no position is missing.
LONGEST = 300


@dataclass(frozen=True)
class Asked:
    """A text as the encoder reads it, and the answers wanted: {word: answer}, or {-1: answer} for the whole text.

    group: texts of one group are scored together or not at all.
    """

    text: tuple[str, ...]
    wanted: Mapping[int, str]
    group: str = ""


def probe(name: str, task: Task, source: str, *, limit: int, seed: int) -> dict[str, Any]:
    """The accuracy of each layer's probe on a quarter of the data, with intervals, beside an untrained encoder's.

    Refused where the data hold fewer than 40 texts with an answer, or one answer only.
    """
    asked = {"ner": _entities, "pos": _columns, "sentiment": _labels}[task](source, limit, seed)
    if len(asked) < 40 or len({answer for one in asked for answer in one.wanted.values()}) < 2:
        raise Refused(f"{source}: {len(asked)} texts with an answer; a probe needs 40 or more and two answers")
    parts = _parts(asked, seed)
    trained = load_encoder(name)
    torch.manual_seed(seed)
    fresh = cast(Any, AutoModel).from_config(trained.model.config)
    fresh.train(False)
    untrained = Encoder(fresh, trained.tokenizer)
    gold = [[answer for one in part for answer in one.wanted.values()] for part in parts]
    scores = [_scores(encoder, parts, gold) for encoder in (trained, untrained)]
    most = Counter(gold[0]).most_common(1)[0][0]
    rows = [
        {"layer": layer, "accuracy": hits / len(gold[1]), "low": low, "high": high, "untrained": other / len(gold[1])}
        for layer, (hits, other) in enumerate(zip(*scores, strict=True))
        for low, high in [wilson(hits, len(gold[1]))]
    ]
    return {
        "task": task,
        "trained_on": len(gold[0]),
        "scored": len(gold[1]),
        "majority": gold[1].count(most) / len(gold[1]),
        "layers": rows,
    }


def _parts(asked: Sequence[Asked], seed: int) -> list[list[Asked]]:
    """What is trained on, and the quarter of the texts, or of their groups, that is scored."""
    groups = sorted({one.group for one in asked})
    order = np.random.default_rng(seed).permutation(len(groups) if len(groups) > 1 else len(asked))
    scored = set(order[: len(order) // 4].tolist())
    place = {group: at for at, group in enumerate(groups)}
    held = [(place[one.group] if len(groups) > 1 else at) in scored for at, one in enumerate(asked)]
    return [[one for one, out in zip(asked, held, strict=True) if out is wanted] for wanted in (False, True)]


def _scores(encoder: Encoder, parts: Sequence[Sequence[Asked]], gold: Sequence[Sequence[str]]) -> list[int]:
    """How many of the scored answers each layer's probe gets right."""
    from sklearn.linear_model import LogisticRegression

    train, test = (np.concatenate([_states(encoder, one) for one in part], axis=1) for part in parts)
    found = []
    for rows, held in zip(train, test, strict=True):
        mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
        model = LogisticRegression(C=0.1, max_iter=500).fit((rows - mean) / scale, gold[0])
        found.append(int((model.predict((held - mean) / scale) == np.array(gold[1])).sum()))
    return found


def _states(encoder: Encoder, one: Asked) -> Floats:
    """States of the wanted words (or the whole text), (layers + 1, answers, d)."""
    states, encoded = encoder.states(one.text, " ".join(one.text[:5]))
    words = encoded.word_ids()
    whole = [at for at, word in enumerate(words) if word is not None]
    pieces = [whole if wanted < 0 else [at for at in whole if words[at] == wanted] for wanted in one.wanted]
    # A word that the tokenizer leaves out (a control character) is read at [CLS].
    return np.stack([states[:, at or [0]].mean(axis=1) for at in pieces], axis=1)


def _entities(source: str, limit: int, seed: int) -> list[Asked]:
    examples = load("ner", source, SourceOptions(), limit=limit, seed=seed).examples
    found = []
    for example in examples:
        types = {at: split(tag)[1] for at, tag in enumerate((example.gold or [])[:LONGEST]) if tag != "O"}
        if types:
            found.append(Asked(tuple(example.text["words"][:LONGEST]), types))
    return found


def _labels(source: str, limit: int, seed: int) -> list[Asked]:
    examples = load("sentiment", source, SourceOptions(), limit=limit, seed=seed).examples
    return [Asked(tuple(str(e.text["text"]).split()[:LONGEST]), {-1: e.gold}) for e in examples if e.gold]


def _columns(source: str, limit: int, seed: int) -> list[Asked]:
    """Sentences of a file in columns, the last of them tags of any kind; our own where no file is named."""
    if not source:
        own = word_classes.sentences()
        kept = np.random.default_rng(seed).permutation(len(own))[:limit]
        return [Asked(own[at][0], {own[at][1]: own[at][2]}, own[at][3]) for at in sorted(kept.tolist())]
    table = read_conll(Path(source), Reading())
    if table is None or "tags" not in table.columns:
        raise Refused(f"{source}: must be a file in columns: a word a line, its tag in the last column")
    order = np.random.default_rng(seed).permutation(len(table.rows))[:limit]
    found = []
    for at in sorted(order.tolist()):
        values = table.rows[at].values
        words, tags = values["words"][:LONGEST], values["tags"][:LONGEST]
        found.append(Asked(tuple(words), dict(enumerate(tags))))
    return found


def show(account: Mapping[str, Any]) -> str:
    """The account as text."""
    rows = [["layer", "accuracy", "95% interval", "untrained encoder"]]
    for row in account["layers"]:
        interval = f"{row['low']:.3f} to {row['high']:.3f}"
        rows.append([str(row["layer"]), f"{row['accuracy']:.3f}", interval, f"{row['untrained']:.3f}"])
    best = max(account["layers"], key=lambda row: row["accuracy"])["layer"]
    head = f"{account['task']}: probes trained on {account['trained_on']:,} answers, scored on {account['scored']:,}; "
    head += f"the most frequent answer alone gets {account['majority']:.3f}. Layer 0 is the embeddings."
    tail = f"Best is layer {best}. One run on one split: a layer whose interval meets another's is not above it."
    return "\n".join([head, "", *aligned(rows), "", tail])
