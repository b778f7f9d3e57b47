"""Make a smaller or faster model of a run: ONNX, int8, pruning; the product is a run folder like any other.

    heldout compress runs/imdb --onnx --out runs/imdb-onnx              fp32, answered through onnxruntime
    heldout compress runs/imdb --int8 --out runs/imdb-int8              8-bit weights; --how, --scan, --keep-fp32
    heldout compress runs/imdb --drop-layers 1,3,5 --retrain 1 --out runs/imdb-3
    heldout compress runs/imdb --structured ffn=0.5 --retrain 1 --out runs/imdb-half
    heldout compress runs/imdb --prune 0.5 --retrain 1 --rounds 3 --out runs/imdb-sparse

ONNX and int8 are held against the model on real rows of dev first: fp32 must give 99.9% of its answers, int8 99%, or
nothing is kept (exit 1; --force keeps it). --drop-layers and --structured shrink file and time; --prune sets the
smallest weights to 0, which by itself does neither. --retrain trains on, on the run's own train and with its options.
What it cost is measured by: heldout cost RUN2 RUN
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from heldout.compress.quantise import How
from heldout.errors import Refused
from heldout.eval.card import write_card
from heldout.eval.run_data import names_of
from heldout.eval.run_scores import score_run
from heldout.eval.summary import summary
from heldout.ledger import read_ledger
from heldout.options import REQUIRED, option, positional, to_json
from heldout.runs import atomic, read_json, refuse_taken, writing
from heldout.tasks import load_task
from heldout.train.progress import say

if TYPE_CHECKING:
    from heldout.compress.product import Origin

#: The products, by their flags: a call makes one of them. The last three may go together.
EXPORTS, SHRINKS = ("onnx", "int8"), ("structured", "drop_layers", "prune")


@dataclass(frozen=True)
class Options:
    """What ``heldout compress`` takes."""

    folder: str = positional("the run folder whose model/ is made smaller", metavar="RUN")
    out: str = option(REQUIRED, "the run folder to write", metavar="RUN2")
    onnx: bool = option(False, "export to onnx/ in fp32")
    int8: bool = option(False, "export to onnx/ with weights in 8 bits")
    how: How = option("rows", "int8: a scale for each position; of 32 numbers; of a batch; or found on dev beforehand")
    calibration: int = option(100, "int8 --how rows or static: windows of dev to find ranges on")
    per_channel: bool = option(True, "int8, all but --how blocks: a scale for each column of a matrix")
    keep_fp32: tuple[str, ...] = option(
        (), "int8: leave a layer in fp32, * for anything; again for more", metavar="LAYER"
    )
    scan: bool = option(False, "int8: quantise layer by layer, then leave the worst in fp32 until the gate holds")
    scan_rows: int = option(100, "int8 --scan: examples of dev to scan on")
    check: int = option(1000, "examples of dev that the product is checked on")
    force: bool = option(False, "keep a product that does not pass its gate")
    structured: str = option("", "keep a share of every layer's FFN, the neurons of largest norm", metavar="ffn=SHARE")
    drop_layers: str = option("", "leave out whole layers, 0 the first", metavar="1,3,5")
    prune: float | None = option(None, "set this share of the layers' weights to 0, the smallest", metavar="SHARE")
    prune_by: Literal["global", "layer"] = option("global", "--prune: the smallest of all, or of each matrix")
    retrain: int = option(0, "train on for N epochs on the run's train", metavar="N")
    rounds: int = option(1, "--prune with --retrain: prune step by step, training after each")
    learning_rate: float | None = option(None, "--retrain: the highest learning rate (default: the run's)")
    train: str | None = option(None, "--retrain: where the run's train is now, if it moved", metavar="SOURCE")
    json: bool = option(False, "print the scores as JSON")

    def __post_init__(self) -> None:
        """Refuse a call that asks for nothing, or for two things at once."""
        exports = [name for name in EXPORTS if getattr(self, name)]
        shrinks = [name for name in SHRINKS if getattr(self, name) not in ("", None)]
        if len(exports) + bool(shrinks) != 1:
            what = "nothing was asked for" if not exports + shrinks else "one product a call"
            raise Refused(f"{what}: give --onnx, --int8, or some of --structured, --drop-layers, --prune")
        for name in ("keep_fp32", "scan"):
            if getattr(self, name) and not self.int8:
                raise Refused(f"--{name.replace('_', '-')}: goes with --int8")
        if self.retrain and not shrinks:
            raise Refused(
                "--retrain: goes with --structured, --drop-layers or --prune; an exported model is not trained"
            )
        if self.rounds > 1 and not (self.retrain and self.prune is not None):
            raise Refused("--rounds: goes with --prune and --retrain")
        for name in ("calibration", "scan_rows", "check", "rounds"):
            if getattr(self, name) < 1:
                raise Refused(f"--{name.replace('_', '-')} {getattr(self, name)}: give 1 or more")


def run(options: Options) -> int:
    """Make the product, answer every gold set with it, score; print what came out."""
    from heldout.compress.product import open_origin
    from heldout.scripts._shrink import shrink

    out = Path(options.out)
    refuse_taken(out)
    origin = open_origin(Path(options.folder), load_task)
    with writing(out):
        shrink(origin, options, out) if not (options.onnx or options.int8) else _export(origin, options, out)
    names = [name for name in names_of(out) if name != "dev"] or ["dev"]
    if options.json:
        print(json.dumps({name: read_json(out / "scores" / f"{name}.json") for name in names}, indent=2))
        return 0
    print(summary([out], names))
    print(f"\nwhat it cost: heldout cost {out} {options.folder}")
    return 0


def _export(origin: Origin, options: Options, out: Path) -> None:
    """Write onnx/, then everything that a run has beside it."""
    from heldout.compress.exported import CALIBRATED, Int8, export, export_int8, rows_of
    from heldout.compress.product import begin, counted, predict_all

    system = origin.system()
    rows = rows_of(origin, system, options.check, say)
    said: dict[str, Any] = {}
    with atomic(out / "onnx") as folder:
        folder.mkdir()
        say("exporting (torch.onnx takes a minute)")
        if options.onnx:
            made, found = export(origin, system, rows, folder, force=options.force)
        else:
            asked = Int8(
                options.how,
                options.calibration,
                options.per_channel,
                options.keep_fp32,
                options.scan,
                options.scan_rows,
            )
            made, found, said = export_int8(origin, system, rows, folder, asked, say, force=options.force)
    say(f"{found.product}: {found.words}")
    ledger = read_ledger(origin.folder)
    for thing, there in (
        ("int8 ranges", options.int8 and options.how in CALIBRATED),
        ("layers kept in fp32", options.scan),
    ):
        if there:
            split = ledger.splits.get(rows.name, {})
            ledger = ledger.with_fitted(thing, rows.name, str(split.get("hash", "")), len(rows.examples))
    notes = {
        "from": str(origin.folder),
        "what": f"onnx {found.product}",
        **counted(system.model),
        "agreement": found.to_json() | {"data": rows.name, "rows": len(rows.examples)},
        **said,
    }
    begin(origin, out, to_json(options), notes, ledger)
    predict_all(out, origin, made)
    score_run(out)
    write_card(out)
