"""From a run to its ONNX form, fp32 or int8, held against the model itself on real rows before anything is kept."""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.compress.export import write_onnx
from heldout.compress.gate import FEWEST, Agreement, agreement
from heldout.compress.product import Origin, answered
from heldout.compress.quantise import Calibration, How, layers, matching, quantise
from heldout.compress.runtime import OnnxSystem, load_onnx
from heldout.compress.scan import Scanned, keep_until, scan
from heldout.errors import Failed
from heldout.records import Example, Prediction
from heldout.train.system import System, pad_id
from heldout.train.task import Encoded, Logits, answers

#: The ways of int8 that look at rows of dev first.
CALIBRATED = ("rows", "static")
INT8 = "model-int8.onnx"
FP32 = "model.onnx"


@dataclass(frozen=True)
class Int8:
    """How int8 is made: which way, on how many calibration rows, which layers are left in fp32.

    ``scan``: whether layers are quantised one at a time first, on ``scan_rows`` rows, and the worst left out until the
    gate holds.
    """

    how: How = "rows"
    calibration: int = 100
    per_channel: bool = True
    keep_fp32: Sequence[str] = ()
    scan: bool = False
    scan_rows: int = 100


@dataclass(frozen=True)
class Rows:
    """The real rows that a product is checked on: their set's name, examples, windows, and the model's own answers."""

    name: str
    examples: Sequence[Example]
    encoded: Encoded
    answers: tuple[list[Prediction], Logits]


def rows_of(origin: Origin, system: System, number: int, say: Callable[[str], None]) -> Rows:
    """So many rows of dev with the torch model's answers; it is said where there are too few."""
    name, examples = origin.checked(number)
    if len(examples) < FEWEST:
        say(f"only {len(examples)} rows of {name} to check on; a share of 99% asks for {FEWEST} or more")
    encoded = system.task.encode(examples, system.encoding)
    return Rows(name, examples, encoded, answered(system, examples, encoded))


def export(origin: Origin, system: System, rows: Rows, folder: Path, *, force: bool) -> tuple[OnnxSystem, Agreement]:
    """Write the model as ONNX in fp32 into ``folder``; Failed where it does not answer as the model (unless forced)."""
    write_onnx(system, folder, FP32)
    made = load_onnx(folder, origin.task, origin.card, origin.options)
    found = agreement(rows.answers, _asked(made, rows), "fp32")
    _gate(found, force)
    return made, found


def export_int8(
    origin: Origin, system: System, rows: Rows, folder: Path, asked: Int8, say: Callable[[str], None], *, force: bool
) -> tuple[OnnxSystem, Agreement, dict[str, Any]]:
    """As ``export``, in int8, held against fp32 in ONNX; also what was kept in fp32 and what the scan found."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".fp32.tmp-") as kept:
        whole = Path(kept)
        fp32, first = export(origin, system, rows, whole, force=force)
        reference = _asked(fp32, rows)
        for path in whole.iterdir():
            if not path.name.startswith(FP32):
                shutil.copyfile(path, folder / path.name)
        names = layers(whole / FP32)
        kept_fp32 = matching(asked.keep_fp32, names)
        calibration = calibration_of(system, rows, asked.calibration) if asked.how in CALIBRATED else None

        def make(left_out: Sequence[str]) -> tuple[OnnxSystem, Agreement]:
            only = [node for name, node in names.items() if name not in left_out]
            quantise(
                whole / FP32,
                folder / INT8,
                only=only,
                how=asked.how,
                per_channel=asked.per_channel,
                calibration=calibration,
            )
            made = load_onnx(folder, origin.task, origin.card, origin.options)
            return made, agreement(reference, _asked(made, rows), "int8")

        def alone(node: str, target: Path) -> None:
            form: dict[str, Any] = {"how": asked.how, "per_channel": asked.per_channel, "calibration": calibration}
            quantise(whole / FP32, target, only=[node], **form)

        scanned: list[Scanned] = []
        if asked.scan:
            few = rows.encoded.windows[: asked.scan_rows]
            windows = [window for of_one in few for window in of_one]
            scanned = scan(fp32, names, windows, reference[1], alone, say)
            made, found, kept_fp32 = keep_until(make, scanned, kept_fp32, say)
        else:
            made, found = make(kept_fp32)
    _gate(found, force)
    notes = {
        "how": asked.how,
        "per_channel": asked.per_channel,
        "kept_fp32": kept_fp32,
        "quantised": len(names) - len(kept_fp32),
        "export": first.to_json(),
        **({"calibration": len(calibration.windows)} if calibration else {}),
        **({"scan": [one.to_json() for one in scanned]} if scanned else {}),
    }
    return made, found, notes


def _asked(made: OnnxSystem, rows: Rows) -> tuple[list[Prediction], Logits]:
    """The product's answers; Failed where its tokenizer, read without transformers, does not give the same windows."""
    encoded = made.task.encode(rows.examples, made.encoding)
    ours, theirs = encoded.flat(), rows.encoded.flat()
    if [window.inputs for window in ours] != [window.inputs for window in theirs]:
        raise Failed("the tokenizer's file does not split texts as transformers does; such a model cannot be exported")
    logits = made.logits(ours)
    return answers(made.task, made.encoding, made.labels, rows.examples, encoded, logits), logits


def _gate(found: Agreement, force: bool) -> None:
    if not found.holds and not force:
        more = "" if found.product == "fp32" else "; try --scan, or --keep-fp32 'LAYER*'"
        raise Failed(f"{found.product}: {found.words}; nothing is kept{more}; --force keeps it")


def calibration_of(system: System, rows: Rows, number: int) -> Calibration:
    """The first windows of these rows, to find ranges on."""
    tokenizer = system.encoding.tokenizer
    return Calibration(rows.encoded.flat()[:number], pad_id(system.encoding), tokenizer.pad_token_type_id)
