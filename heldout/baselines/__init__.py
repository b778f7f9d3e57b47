"""Systems that take seconds to train and that a fine-tuned encoder must beat: one file each.

A new baseline is a file here with a ``BASELINE``; it is found by listing the folder. ``write_baseline_run`` makes a
whole run folder of one, so that its predictions, scores and report are those of any other system. Such a folder has
no model/: the predictions are the product, and fitting again takes seconds and gives the same. What has learnt texts
keeps what it learnt beside them (_kept.py), to answer test cases that come later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._kept import NAME as KEPT
from heldout.baselines._kept import keep
from heldout.baselines._later import answer_later as _answer_later
from heldout.data.prepare import Prepared
from heldout.errors import Refused
from heldout.eval.run_scores import score_run
from heldout.options import nearest
from heldout.records import Example
from heldout.runs import environment, write_json, write_lines, writing

__all__ = ["BASELINES", "Baseline", "BaselineOptions", "Fitted", "answer_later", "find", "write_baseline_run"]

#: Every baseline by its name (that of its file, with hyphens), in the order of the alphabet.
BASELINES: dict[str, Baseline] = {
    path.stem.replace("_", "-"): import_module(f"{__name__}.{path.stem}").BASELINE
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py"))
}
DEFAULT = BaselineOptions()


def find(kind: str) -> Baseline:
    """The baseline of this name; Refused naming the nearest known one."""
    if kind not in BASELINES:
        raise Refused(f"baseline {kind!r} is unknown{nearest(kind, list(BASELINES))}; known are {', '.join(BASELINES)}")
    return BASELINES[kind]


def answer_later(folder: Path, name: str, examples: Sequence[Example]) -> list[str]:
    """The kinds under RUN/baselines that predicted and scored a set that came after training (_later.py)."""
    return list(_answer_later(folder, name, examples, BASELINES))


def write_baseline_run(
    folder: Path,
    kind: str,
    prepared: Prepared,
    *,
    seed: int,
    run_options: Mapping[str, Any],
    options: BaselineOptions = DEFAULT,
) -> dict[str, dict[str, Any]]:
    """Fit a baseline on prepared splits and write its run folder; returns the scores by split, tests first, dev last.

    ``run_options`` is what options.json says of the run (task, train, dev, test …); kind and seed are put beside.
    Refused, with nothing written, for an unknown kind or one that is not applicable to the card (``lexicon`` where
    labels name no poles): a command that runs several skips that one by name. Refused where a run is already.
    """
    splits = prepared.splits
    train, dev = splits["train"].examples, splits["dev"].examples
    fitted = find(kind).fit(train, dev, prepared.card, seed, options)
    ledger = prepared.ledger
    for name, value in fitted.chosen_on_dev.items():
        ledger = ledger.with_fitted(f"{kind}: {name} = {value:g}", "dev", splits["dev"].hash, len(dev))
    with writing(folder):
        write_json(folder / "options.json", {**run_options, "kind": kind, "seed": seed})
        write_json(folder / "environment.json", environment())
        replace(prepared, ledger=ledger).write(folder)
        if fitted.kept is not None:
            keep(folder / KEPT, fitted.kept)
        for name in (name for name in splits if name != "train"):
            rows = (prediction.to_json() for prediction in fitted.predict(splits[name].examples))
            write_lines(folder / "predictions" / f"{name}.jsonl", rows)
        return score_run(folder)
