"""The exported model in onnx/ answers as model/ does: its logits in fp32, its answers where it was quantised."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heldout.checks.doctor._contract import Check, Finding, Patient, apart, judged, moved, not_applicable, tolerated
from heldout.train.task import Logits
from heldout.train.windows import Window, collate

#: How far apart two engines' logits may lie in fp32, for each unit of the largest: they add in other orders.
ENGINES = 1e-3
#: Of a model in so low a precision only the answers are compared.
QUANTISED = ("int8", "quant", "fp16", "bf16")
#: Asks an ONNX model one window's inputs, (1, length) each; gives its outputs by name.
Ask = Callable[[dict[str, Any]], dict[str, Any]]


def examine(patient: Patient) -> Finding:
    """Ask every onnx/*.onnx of the run about each window alone; compare with model/."""
    paths = sorted((patient.folder / "onnx").glob("*.onnx"))
    if not paths:
        return not_applicable("the run has no onnx/")
    try:
        compared = [_compared(patient, path) for path in paths]
    except ImportError:
        return not_applicable("onnxruntime is not installed: pip install heldout[onnx]")
    except (RuntimeError, ValueError, KeyError) as error:
        said = " ".join(str(error).split())[:200]
        return judged(False, f"an exported model does not run: {said}", advice="export again: heldout compress --onnx")
    n = len(patient.examples)
    holds = all(differ <= allowed and far <= limit for _, differ, allowed, far, limit in compared)
    shown = [f"{name}: {differ} of {n} answers change, logits by {far:.1e}" for name, differ, _, far, _ in compared]
    advice = (
        "export again; inputs of other lengths than the exported one, or a mask that is not an input, go wrong first"
    )
    worst = max(entry[3] for entry in compared)
    return judged(holds, "; ".join(shown), tolerance=f"{ENGINES:.0e} in fp32", advice=advice, value=worst)


def _compared(patient: Patient, path: Path) -> tuple[str, int, int, float, float]:
    """The file's name, how many answers change and how many may, how far the logits move and may."""
    logits = answered(patient.windows, session(path), patient)
    system = patient.system
    own, labels = list(system.encoding.labels), list(system.labels)
    columns = [own.index(label) for label in labels]
    ordered = logits if own == labels else [rows[..., columns] for rows in logits]
    predictions = patient.task.decode(patient.examples, patient.encoded, ordered, labels)
    differ, _ = moved(patient.predictions, predictions)
    low = any(mark in path.name.lower() for mark in QUANTISED)
    allowed, limit = (tolerated(len(predictions)), float("inf")) if low else (0, ENGINES)
    return path.name, differ, allowed, apart(patient.whole, logits), limit


def session(path: Path) -> Ask:
    """An ONNX model as a function; RuntimeError where it cannot be loaded or asked."""
    import onnxruntime

    try:
        loaded = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common class of their own
        raise RuntimeError(f"{path.name}: {error}") from error
    wanted = [one.name for one in loaded.get_inputs()]
    names = [one.name for one in loaded.get_outputs()]

    def ask(inputs: dict[str, Any]) -> dict[str, Any]:
        try:
            found = loaded.run(None, {name: inputs[name] for name in wanted})
        except Exception as error:
            raise RuntimeError(f"{path.name}: {error}") from error
        return dict(zip(names, found, strict=True))

    return ask


def answered(windows: Sequence[Window], ask: Ask, patient: Patient) -> Logits:
    """The logits of every window alone, as the task takes them from outputs of these names."""
    tokenizer, logits = patient.system.encoding.tokenizer, []
    for window in windows:
        batch = collate([window], int(tokenizer.pad_token_id or 0), pad_type=tokenizer.pad_token_type_id)
        given = ask({name: tensor.numpy() for name, tensor in batch.inputs.items()})
        outputs = type("Outputs", (), {name: torch.from_numpy(np.asarray(value)) for name, value in given.items()})
        logits.append(patient.task.logits(outputs)[0].float().numpy())
    return logits


CHECK = Check("onnx", "files", "what is shipped must answer as what was judged", examine)
