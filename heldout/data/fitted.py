"""Data that a run was fitted on: how its texts are remembered, and how further data are compared with them.

Train's texts are kept in RUN/train-texts.json as fingerprints (those of a million or more in train-texts.npy), so that
``heldout predict`` can tell where a text was trained on though the source has moved or changed. Fingerprints find equal
texts (case, white space and markup folded); near duplicates, which need the texts themselves, are only looked for while
the splits are prepared.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heldout.data import minhash
from heldout.data.duplicates import fold_example
from heldout.data.parts import PLUS
from heldout.data.rows import Rows
from heldout.data.sources import Loaded
from heldout.data.suites.surface import behind
from heldout.errors import Refused
from heldout.ledger import FROM_THE_SOURCE_OF, STANDS_WHOLE_IN, read_ledger
from heldout.records import Example, read_card, read_gold
from heldout.runs import atomic, read_json, write_json

TRAIN_TEXTS, TRAIN_NUMBERS = "train-texts.json", "train-texts.npy"
PRINT = re.compile("[0-9a-f]{16}")
Prints = NDArray[np.uint64]


def fingerprint(example: Example) -> str:
    """The folded text of an example as 64 bits of BLAKE2b in hex: 25,000 texts take 0.5 MB and don't collide."""
    return minhash.fingerprint(fold_example(example)).to_bytes(8, "little").hex()


def fingerprints(examples: Sequence[Example]) -> Prints:
    """The same of every example, as numbers."""
    if isinstance(examples, Rows):
        return examples.column("print")
    return _numbers([fingerprint(example) for example in examples])


def _numbers(prints: Sequence[str]) -> Prints:
    return np.frombuffer(bytes.fromhex("".join(prints)), "<u8")


def write_train_texts(folder: Path, train: Sequence[Example]) -> None:
    """Write the fingerprints of train's texts, sorted, each once."""
    if isinstance(train, Rows):
        with atomic(folder / TRAIN_NUMBERS) as temporary, temporary.open("wb") as file:
            np.save(file, np.unique(fingerprints(train)), allow_pickle=False)
    else:
        write_json(folder / TRAIN_TEXTS, sorted({fingerprint(example) for example in train}))


def same_place(one: str, other: str) -> bool:
    """Whether two sources are one (the same words, or two ways to write one path), or one of the other's several."""
    return any(_same_path(a, b) for a in {one, *one.split(PLUS)} for b in {other, *other.split(PLUS)})


def _same_path(one: str, other: str) -> bool:
    one, other = behind(one), behind(other)
    return one == other or (
        Path(one).exists() and Path(other).exists() and Path(one).resolve() == Path(other).resolve()
    )


def refusal(what: str, why: str) -> Refused:
    """The error for a set that the model was trained or chosen on."""
    return Refused(
        f"{what}: {why}, so its scores would say nothing of new texts; give held-out data, or --allow-fitted-test to "
        "have it said in the report"
    )


@dataclass(frozen=True)
class Fitted:
    """A split that a run was trained or chosen on: its source and its texts' fingerprints, None where not known."""

    name: str
    source: str
    texts: Prints | None


def read_fitted(folder: Path) -> list[Fitted]:
    """Train and dev of a run; other tools' runs, and those made before train-texts.json was, don't tell train's."""
    splits, known = read_ledger(folder).splits, {"train": _train_texts(folder), "dev": _dev_texts(folder)}
    return [Fitted(name, str(splits.get(name, {}).get("source", "")), texts) for name, texts in known.items()]


def compare(name: str, split: Loaded, fitted: Iterable[Fitted], *, allow: bool) -> tuple[Loaded, dict[str, int]]:
    """The split with the texts marked that stand in train, and the counts for the ledger's overlap.

    Refused, unless ``allow``, for a split that was read from the source of train or dev, or whose every text stands
    there. Where the texts of one are not known, the note not_compared_with_train (or dev) says so.
    """
    prints = fingerprints(split.examples)
    n, notes, overlap, fitted = len(prints), {}, {}, list(fitted)
    stands = {earlier.name: np.isin(prints, earlier.texts) for earlier in fitted if earlier.texts is not None}
    # Where dev was carved from train, a copy of the source stands in neither of them whole, but in both together.
    in_both = bool(np.logical_or.reduce([np.zeros(n, bool), *stands.values()]).all())
    for earlier in fitted:
        inside = int(stands[earlier.name].sum()) if earlier.name in stands else 0
        whole = inside == n or (in_both and inside > 0)
        if whole or same_place(split.source, earlier.source):
            if not allow:
                place = f"{earlier.name} ({earlier.source})" if inside == n else "train and dev together"
                why = f"all {n} of its texts stand in {place}" if whole else f"{earlier.name} was read from it"
                raise refusal(f"--data {name}={split.source}", why)
            held_back = earlier.texts is not None and not whole
            notes[(FROM_THE_SOURCE_OF if held_back else STANDS_WHOLE_IN) + earlier.name] = n
        if earlier.texts is None:
            notes[f"not_compared_with_{earlier.name}"] = n
            continue
        overlap[f"{earlier.name}/{name} exact"] = inside
        if earlier.name == "train":
            split = _marked(split, stands["train"])
    return split.noting(notes), overlap


def _marked(split: Loaded, stands: NDArray[np.bool_]) -> Loaded:
    if isinstance(split.examples, Rows):
        return replace(split, examples=split.examples.marked(["exact" if there else None for there in stands]))
    examples = tuple(
        replace(example, about={**example.about, "overlap": "exact"}) if there else example
        for example, there in zip(split.examples, stands, strict=True)
    )
    return replace(split, examples=examples)


def _train_texts(folder: Path) -> Prints | None:
    path, numbers = folder / TRAIN_TEXTS, folder / TRAIN_NUMBERS
    if numbers.exists():
        try:
            return np.asarray(np.load(numbers, allow_pickle=False), np.uint64)
        except (ValueError, OSError, EOFError) as error:
            raise Refused(
                f"{numbers}: must be an array of fingerprints, as heldout finetune writes it ({error})"
            ) from None
    if not path.exists():
        return None
    prints = read_json(path)
    if not isinstance(prints, list) or not all(isinstance(one, str) and PRINT.fullmatch(one) for one in prints):
        raise Refused(f"{path}: must be a list of fingerprints, as heldout finetune writes it")
    return _numbers(prints)


def _dev_texts(folder: Path) -> Prints | None:
    path = folder / "gold" / "dev.jsonl"
    if not path.exists():
        return None
    return fingerprints(read_gold(path, read_card(folder / "card.json")))
