"""What compress does that changes the model itself: narrower, fewer layers, sparser; trained on where that is asked."""

import dataclasses
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

from heldout.compress.magnitude import kept_at_zero, prune, share_of_round
from heldout.compress.product import NOTES, Origin, begin, counted, predict_all
from heldout.compress.structured import drop_layers, narrow_ffn, parse_structured
from heldout.data.prepare import Prepared, PrepareOptions, prepare
from heldout.data.sources import Loaded
from heldout.errors import Refused
from heldout.eval.card import write_card
from heldout.eval.run_scores import score_run
from heldout.ledger import read_ledger
from heldout.options import to_json
from heldout.records import content_hash
from heldout.runs import atomic, read_json, write_json
from heldout.scripts._fit import fit, without_tests
from heldout.train.finetune import Job, untaught
from heldout.train.models import load_model, load_tokenizer
from heldout.train.options import FitOptions
from heldout.train.progress import say
from heldout.train.untrusted import Source


def shrink(origin: Origin, options: Any, out: Path) -> None:
    """Write the smaller model as a run, trained on where that is asked for."""
    # Before the model is touched: a source that has moved is told of at once.
    prepared = splits_again(origin, options.train) if options.retrain else None
    model, notes = _changed(origin, options)
    say(f"{notes['parameters']:,} parameters, of which {notes['nonzero']:,} are not 0 ({notes['before']:,} before)")
    if prepared is None:
        _save(model, origin, out / "model")
        begin(origin, out, to_json(options), notes, read_ledger(origin.folder))
        made = replace(origin, folder=out)
        predict_all(out, origin, made.system())
        score_run(out)
    else:
        _retrain(origin, options, out, prepared, model)
        trained = load_model(origin.task.model, replace(origin, folder=out).source)
        write_json(out / NOTES, notes | counted(trained))
    write_card(out)


def _changed(origin: Origin, options: Any) -> tuple[PreTrainedModel, dict[str, Any]]:
    """The run's model after everything that was asked for (of several rounds the first), and what was done."""
    model = load_model(origin.task.model, origin.source)
    before, done, notes = counted(model)["parameters"], [], dict[str, Any]()
    if options.drop_layers:
        model, stay = drop_layers(model, options.drop_layers)
        notes["layers"] = stay
        done.append(f"layers {', '.join(map(str, stay))}")
    if options.structured:
        notes["ffn"] = narrow_ffn(model, parse_structured(options.structured))
        done.append(f"FFN of {notes['ffn']}")
    if options.prune is not None:
        notes |= prune(model, share_of_round(options.prune, 1, options.rounds), options.prune_by)
        done.append(f"{options.prune:.0%} pruned ({options.prune_by})")
    said = {"from": str(origin.folder), "what": ", ".join(done), "before": before, "retrained": options.retrain}
    return model, said | counted(model) | notes


def _save(model: PreTrainedModel, origin: Origin, folder: Path) -> None:
    with atomic(folder) as temporary:
        model.save_pretrained(temporary)
        load_tokenizer(origin.source, origin.options["max_length"]).save_pretrained(temporary)


def _retrain(origin: Origin, options: Any, out: Path, prepared: Prepared, model: PreTrainedModel) -> None:
    """Train on; of several rounds each begins with what the one before left, pruned further."""
    for place in range(1, options.rounds + 1):
        last = place == options.rounds
        folder = out if last else out / "rounds" / str(place)
        if place > 1:
            model = load_model(origin.task.model, Source(str(out / "rounds" / str(place - 1) / "model")))
            prune(model, share_of_round(options.prune, place, options.rounds), options.prune_by)
        start = out / "start" if last else folder / "start"
        _save(model, origin, start)
        _trained(origin, options, folder, prepared if last else without_tests(prepared), start)


def _trained(origin: Origin, options: Any, folder: Path, prepared: Prepared, start: Path) -> None:
    made = {**origin.options, "epochs": options.retrain, "max_steps": 0, "model": str(start), "out": str(folder)}
    if options.learning_rate is not None:
        made["learning_rate"] = options.learning_rate
    splits = prepared.splits
    job = Job(
        folder=folder,
        task=origin.task,
        card=prepared.card,
        train=splits["train"].examples,
        train_hash=splits["train"].hash,
        dev=splits["dev"].examples,
        dev_hash=splits["dev"].hash,
        options=FitOptions(**_fields(FitOptions, made)),
        seed=int(made["seed"]),
        resume_hint="the same command with another --out",
        teach=untaught if options.prune is None else kept_at_zero,
    )
    # What the run is called: by its folder, as every product is.
    said = made | {"model": str(folder / "model"), "compress": to_json(options)}
    fit(job, said, prepared)


def splits_again(origin: Origin, train: str | None) -> Prepared:
    """Train and dev read from their sources again, the tests from the run's gold.

    Refused where train or dev are not what the run was trained on: another dev would be one that was learned from.
    """
    made, ledger = origin.options, read_ledger(origin.folder)
    lacking = [key for key in ("train", "seed") if key not in made]
    if lacking:
        raise Refused(f"{origin.folder}/options.json: has no {lacking[0]}, so it cannot be trained on; leave --retrain")
    again = prepare(
        made["task"],
        train=train or _tupled(made["train"]),
        dev=made.get("dev"),
        tests={},
        options=PrepareOptions(**_fields(PrepareOptions, made)),
        seed=_split_seed(origin),
    )
    for name in ("train", "dev"):
        if name in ledger.splits and again.splits[name].hash != ledger.splits[name]["hash"]:
            raise Refused(
                f"{again.splits[name].source}: its {name} is not the one that {origin.folder} was made with; give the "
                "same data with --train"
            )
    tests = {path.stem: origin.gold(path.stem) for path in sorted((origin.folder / "gold").glob("*.jsonl"))}
    splits = dict(again.splits)
    for name, examples in tests.items():
        if name != "dev":
            source = str(ledger.splits.get(name, {}).get("source", name))
            splits[name] = Loaded(source, tuple(examples), content_hash(examples))
    return Prepared(origin.card, splits, ledger)


def _split_seed(origin: Origin) -> int:
    """The seed that carved dev: of one run among several seeds it is their folder's."""
    above = origin.folder.resolve().parent / "options.json"
    shared = origin.folder.resolve().name.startswith("seed-") and above.exists()
    return int((read_json(above) if shared else origin.options)["seed"])


def _fields(of: Any, values: Any) -> dict[str, Any]:
    """The values that an options class has fields for; JSON's lists are the tuples that they were."""
    return {f.name: _tupled(values[f.name]) for f in dataclasses.fields(of) if f.name in values}


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
