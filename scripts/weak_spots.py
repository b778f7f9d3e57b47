"""Name the slices where a run is worse than elsewhere: found on one half of a test set, confirmed on the other.

    heldout weak-spots RUN                     every test set of the run
    heldout weak-spots RUN --data yelp --json

A shallow tree over features of text and gold (length, cues, overlap, rare words, capitals, domain, label, every slice
of the card) is grown on one half of the examples. What it names is judged on the other half alone, with an interval and
a p adjusted for how many were named. Of tags the entities of gold are looked at: which ones are not found.
Only gold and predictions are read, so it works for baselines and for anybody's system.
"""

import json as jsons
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.own_slices import scored_card
from heldout.eval.run_data import DEV, names_of, read_data, refuse_no_run
from heldout.eval.score import inputs_hash
from heldout.eval.tabulate import tabulate
from heldout.eval.weak_spots import DEPTH, FOLDER, weak_spots
from heldout.eval.weak_spots.words import render
from heldout.options import option, positional
from heldout.records import goldless
from heldout.runs import holding, write_json


@dataclass(frozen=True)
class Options:
    """What ``heldout weak-spots`` takes."""

    run: str = positional("a run folder, or that of a baseline: RUN/baselines/KIND")
    data: str | None = option(None, "the one data set to look at; every test set unless given")
    depth: int = option(DEPTH, "conditions of a spot at most: 1, 2 or 3")
    json: bool = option(False, "print JSON: one data set's, or those of all by name")


def run(options: Options) -> int:
    """Search, print, keep in RUN/weak_spots/NAME.json, which the report shows."""
    folder = Path(options.run)
    if not 1 <= options.depth <= DEPTH:
        raise Refused(f"--depth {options.depth}: give 1 to {DEPTH}; what takes more conditions nobody remembers")
    refuse_no_run(folder)
    card = scored_card(folder)
    if card.kind == "lm":
        raise Refused(f"{folder}: a language model answers nothing that could be wrong; weak spots are of other tasks")
    names = [options.data] if options.data else _answered(folder)
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        gold, predictions = read_data(folder, name, card)
        if goldless(gold):
            if options.data:
                raise Refused(f"--data {name}: has no gold, so no answer to it is known to be wrong")
            continue
        spots = weak_spots(card, gold, tabulate(card, gold, predictions), depth=options.depth)
        found[name] = {"data": name, "inputs_hash": inputs_hash(card, gold, predictions), **spots}
    with holding(folder):
        for name, spots in found.items():
            write_json(folder / FOLDER / f"{name}.json", spots)
    if options.json:
        print(jsons.dumps(found[options.data] if options.data else found, indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(map(render, found.values())))
    return 0


def _answered(folder: Path) -> list[str]:
    """The test sets that the run has predictions on."""
    found = [name for name in names_of(folder) if name != DEV and (folder / "predictions" / f"{name}.jsonl").exists()]
    if not found:
        raise Refused(f"{folder}: has no predictions on a test set; give finetune a --test, or run heldout predict")
    return found
