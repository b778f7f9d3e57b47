"""Score predictions: a run folder's, or any system's from its files, with intervals and slices.

heldout score RUN                                                   every data set of a run; writes RUN/scores/; of a
                                                                    folder of seeds every run, then means and sds
heldout score RUN --replay                                          again, as stored: the same to the last bit? Writes
                                                                    nothing
heldout score --card F --gold F --predictions F                     any system's answers; docs/predictions.md
heldout score --task ner --gold SOURCE --predictions F              gold and answers as a task has them: CoNLL columns
heldout score … --dev-gold F --dev-predictions F                    also after what is fitted on dev: a temperature,
                                                                    isotonic calibration, conformal sets, or the null
                                                                    threshold of SQuAD 2.0; a run fits on its own dev
heldout score … --cost 'positive>negative=5'                        what calling a positive one negative costs (others
                                                                    cost 1): also with the answers that cost least
heldout score … --slice long='tokens>200' --slice sarcasm='text~/yeah right/i'
                                                                    also on slices of your own, which RUN keeps for
                                                                    its report; --slice long= takes one away

A slice of your own is an expression, or a function of yours:
  tokens>200   premise.words>=10   question.characters<40           counts of all text or of a field; a token is what
                                                                    stands between white space, seen.tokens the model's
  text~/not (bad|half)/i   context!~'plain text'                    patterns, and text as it stands
  gold=negative   about.domain=books   domain!='home video'         gold, and what is known about an example
  (domain=books or domain=dvd) and not gold=positive                and, or, not
  domain                                                            a field alone: a part for each of its values
  my.module:function                                                called with each example, gives True, False or a
                                                                    name; code of your own, run only when given here
"""

import json as jsons
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.data.submissions import read_submission
from heldout.data.task import load_task
from heldout.errors import Failed, Refused
from heldout.eval import own_slices
from heldout.eval.card import write_card
from heldout.eval.comparison.seeds import members_of
from heldout.eval.fits import Asked, fitters
from heldout.eval.fits.conformal import ALPHA, check_alpha
from heldout.eval.fits.costs import parse_costs
from heldout.eval.replay import reasons, replay
from heldout.eval.run_data import read_pair
from heldout.eval.run_scores import score_run
from heldout.eval.score import score
from heldout.eval.seed_scores import render as render_seeds
from heldout.eval.seed_scores import score_seeds
from heldout.eval.slices import known
from heldout.eval.statistics import REPLICATES
from heldout.eval.table import BINS
from heldout.eval.text import render
from heldout.options import option, positional
from heldout.records import Card, Example, Prediction, goldless, read_card
from heldout.runs import holding, write_json

#: Changed numbers that a replay lists.
SHOWN = 20


@dataclass(frozen=True)
class Options:
    """What ``heldout score`` takes."""

    run: str = positional("a run folder; leave it out where files are given", default="")
    data: str | None = option(None, "the one data set of the run to score, or the name to give the gold file")
    card: str | None = option(None, "the card: labels in order and metrics", metavar="FILE")
    task: str | None = option(None, "read gold as this task's SOURCE; its card where none is given", metavar="TASK")
    gold: str | None = option(None, "gold, a JSON line an example", metavar="FILE")
    predictions: str | None = option(None, "predictions, a JSON line an example", metavar="FILE")
    dev_gold: str | None = option(None, "gold of a dev split, to fit on", metavar="FILE")
    dev_predictions: str | None = option(None, "predictions on that dev split, with scores", metavar="FILE")
    cost: tuple[str, ...] = option(
        (), "what an error costs, in quotes; again for more; a run keeps its costs", metavar="'GOLD>ANSWER=COST'"
    )
    alpha: float | None = option(None, "share of conformal sets that may miss gold, by default 0.1")
    replay: bool = option(False, "score again what is stored: every number must come out the same to the last bit")
    slice: tuple[str, ...] = option((), "a slice of your own; may be given again", metavar="NAME=EXPRESSION")
    out: str | None = option(None, "where to write the scores of files as JSON", metavar="FILE")
    json: bool = option(False, "print JSON: one data set's scores, or those of a whole run by name")
    replicates: int = option(REPLICATES, "bootstrap replicates")
    seed: int = option(0, "seed of the bootstrap")
    bins: int = option(BINS, "bins of the calibration errors")


def run(options: Options) -> int:
    """Score and print; 0 when done."""
    if options.bins < 1 or options.seed < 0:
        raise Refused("--bins must be at least 1 and --seed at least 0")
    settings: dict[str, Any] = {"replicates": options.replicates, "seed": options.seed, "bins": options.bins}
    card = {"--card": options.card} if options.task is None else {}
    files = card | {"--gold": options.gold, "--predictions": options.predictions}
    if options.replay:
        return _replay(options)
    if options.run:
        _refuse_both(options, files)
        members = members_of(Path(options.run))
        if options.slice:
            own = own_slices.from_options(options.slice, list(known()))
            own_slices.keep(own_slices.family([Path(options.run)]), own)
        settings |= {"costs": options.cost, "alpha": options.alpha}
        if members != [Path(options.run)]:
            return _print_seeds(options, score_seeds(Path(options.run), options.data, **settings))
        with holding(Path(options.run)) as folder:
            scored: Mapping[str, Any] = score_run(folder, options.data, **settings)
            write_card(folder)
    else:
        missing = [name for name, file in files.items() if file is None]
        if missing:
            raise Refused(f"score needs a run folder, or files: {missing[0]} is missing; docs/predictions.md shows one")
        row = _score_files(options, settings)
        scored = {row["data"]: row}
    one = len(scored) == 1 and (options.data or not options.run)
    if options.json:
        print(jsons.dumps(next(iter(scored.values())) if one else scored, indent=2, ensure_ascii=False))
    else:
        print("\n\n\n".join(render(row) for row in scored.values()))
    return 0


def _print_seeds(options: Options, rows: Mapping[str, Any]) -> int:
    """Means and sds over a folder of seeds."""
    if options.json:
        print(jsons.dumps(rows, indent=2, ensure_ascii=False))
    else:
        print("\n\n\n".join(map(render_seeds, rows.values())))
    return 0


def _replay(options: Options) -> int:
    """Score again what is stored and hold it against the stored scores; Failed where a number changed."""
    if not options.run:
        raise Refused("--replay scores a run folder again: heldout score RUN --replay")
    if (options.replicates, options.seed, options.bins) != (REPLICATES, 0, BINS):
        raise Refused("--replay takes the stored replicates, seed and bins; leave --replicates, --seed and --bins out")
    own_slices.from_options(options.slice, list(known()))
    changed = []
    for folder in members_of(Path(options.run)):
        found = replay(folder, options.data)
        print(f"{folder}: {found.numbers:,} stored numbers, {len(found.changes):,} changed, {len(found.new):,} new")
        for change in found.changes[:SHOWN]:
            print(f"  {change}")
        if found.changes:
            said = [f"{folder}: {len(found.changes)} of {found.numbers} numbers changed, first {found.changes[0]}"]
            changed.append("; ".join([*said, *reasons(folder, found.changes)]))
    if changed:
        raise Failed(changed[0])
    return 0


def _refuse_both(options: Options, files: Mapping[str, str | None]) -> None:
    more = {"--card": options.card, "--task": options.task, **files, "--dev-gold": options.dev_gold}
    more |= {"--dev-predictions": options.dev_predictions, "--out": options.out}
    given = [name for name, file in more.items() if file is not None]
    if given:
        raise Refused(f"{given[0]} goes with files and {options.run} is a run folder; give one or the other")


def _score_files(options: Options, settings: Mapping[str, int]) -> dict[str, Any]:
    assert options.gold and options.predictions
    card = read_card(Path(options.card)) if options.card else None
    card, gold, predictions, notes = _read(options.task, options.gold, options.predictions, card)
    own = own_slices.from_options(options.slice, list(known()))
    own_slices.refuse_idle({name: text for name, text in own.items() if text}, gold)
    card = own_slices.with_slices(card, own)
    fits = []
    if (options.dev_gold is None) != (options.dev_predictions is None):
        raise Refused("--dev-gold and --dev-predictions go together: what is fitted is fitted on both")
    if options.dev_gold and options.dev_predictions:
        _, dev, said, _ = _read(options.task, options.dev_gold, options.dev_predictions, card)
        if goldless(dev):
            raise Refused(f"--dev-gold {options.dev_gold}: has no gold to fit anything on; leave it out")
        asked = Asked(
            costs=parse_costs(options.cost, card) if options.cost else None,
            alpha=ALPHA if options.alpha is None else check_alpha(options.alpha),
        )
        found = [fit(card, dev, said, options.dev_gold) for fit in fitters(card, asked).values()]
        fits = [fit for fit in found if fit is not None]
    elif options.cost or options.alpha is not None:
        given = "--cost" if options.cost else "--alpha"
        raise Refused(f"{given} is fitted on a dev split: give --dev-gold and --dev-predictions as well")
    row = score(card, gold, predictions, data=options.data or Path(options.gold).stem, fits=fits, **settings)
    row["notes"] += notes
    if options.out:
        write_json(Path(options.out), row)
    return row


def _read(
    task: str | None, gold: str, predictions: str, card: Card | None
) -> tuple[Card, Sequence[Example], Sequence[Prediction], list[str]]:
    """The card, gold and predictions of files, or of a task's source; with notes on how the source was read."""
    if task is None:
        assert card is not None  # run asks for one
        return card, *read_pair(Path(gold), Path(predictions), card), []
    loaded = load(task, gold, SourceOptions(), labels=[] if card is None else [*card.labels, *card.collapse.values()])
    card = card or load_task(task).card(loaded.examples)
    answers, notes = read_submission(Path(predictions), card, loaded.examples)
    counts = {**loaded.dropped, **loaded.notes}
    return (
        card,
        loaded.examples,
        answers,
        [f"{gold}: {n} {what.replace('_', ' ')}." for what, n in counts.items()] + notes,
    )
