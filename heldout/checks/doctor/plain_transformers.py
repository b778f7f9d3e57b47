"""Plain transformers loads the model and answers as heldout does: AutoTokenizer, AutoModelFor…, and a pipeline."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from heldout.checks.doctor._contract import TOLERANCE, Check, Finding, Patient, judged, not_applicable, small
from heldout.records import Example, Prediction
from heldout.train.untrusted import quiet

#: How many examples are asked: a pipeline answers them one by one.
ROWS = 16
#: transformers' pipeline for a kind of card; there is none for spans since version 5.
PIPELINES = {"label": "text-classification", "tags": "token-classification"}


def examine(patient: Patient) -> Finding:
    """Ask plain transformers about texts read whole in one window; compare logits and a pipeline's answers."""
    rows = [
        row
        for row, (windows, seen) in enumerate(zip(patient.encoded.windows, patient.encoded.seen, strict=True))
        if len(windows) == 1 and not seen["lost"]
    ][:ROWS]
    if not rows:
        return not_applicable("no text is read whole in one window: transformers would cut them in its own way")
    try:
        with quiet():
            found = _logits_apart(patient, rows)
            asked, differ = _pipeline(patient, rows)
    except (OSError, ValueError, KeyError, RuntimeError, TypeError) as error:
        said = " ".join(str(error).split())[:200]
        return judged(False, f"it does not load or run: {said}", advice="save model/ again with save_pretrained")
    figure = f"logits of {len(rows)} texts differ by {small(found)} at most"
    figure += f"; {differ} of {asked} answers of a pipeline differ" if asked else ""
    advice = "model/ holds other settings than heldout uses: the tokenizer's, problem_type or id2label in config.json"
    return judged(
        found <= TOLERANCE and not differ, figure, tolerance=f"{TOLERANCE:.0e}, 0", advice=advice, value=found
    )


def _logits_apart(patient: Patient, rows: Sequence[int]) -> float:
    """The largest difference between the logits of transformers' own tokenizer and model and ours."""
    from transformers import AutoTokenizer

    folder, trust = str(patient.folder / "model"), bool(patient.options.get("trust_remote_code"))
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=trust)
    model = patient.task.model.from_pretrained(folder, trust_remote_code=trust, dtype=torch.float32).eval()
    windows = [patient.encoded.windows[row][0] for row in rows]
    ours = patient.logits(windows, token_budget=1)
    worst = 0.0
    for row, window, wanted in zip(rows, windows, ours, strict=True):
        inputs = tokenizer(*_texts(patient, patient.examples[row]), return_tensors="pt", **_how(patient))
        if inputs["input_ids"][0].tolist() != list(window.inputs["input_ids"]):
            return float("inf")
        with torch.inference_mode():
            given = patient.task.logits(model(**inputs))[0].float().numpy()
        scale = max(1.0, float(np.abs(wanted).max()))
        worst = max(worst, float(np.abs(given[: len(wanted)] - wanted).max()) / scale)
    return worst


def _texts(patient: Patient, example: Example) -> list[Any]:
    """The text fields in the order the task reads them; of a pair of which one is read, that one."""
    only = patient.system.encoding.only
    return [example.text[only]] if only else list(example.text.values())


def _how(patient: Patient) -> dict[str, Any]:
    return {"is_split_into_words": True} if patient.card.kind == "tags" else {}


def _pipeline(patient: Patient, rows: Sequence[int]) -> tuple[int, int]:
    """How many examples a pipeline was asked, and how many of its answers are not ours; (0, 0) where there is none."""
    from transformers import pipeline

    if patient.card.kind not in PIPELINES:
        return 0, 0
    folder = str(patient.folder / "model")
    ask: Any = pipeline(PIPELINES[patient.card.kind], folder, device="cpu", dtype=torch.float32)  # type: ignore[call-overload]
    examples = [patient.examples[row] for row in rows]
    wanted = [patient.predictions[row] for row in rows]
    agree = _tags_agree if patient.card.kind == "tags" else _label_agrees
    return len(rows), sum(not agree(patient, ask, e, p) for e, p in zip(examples, wanted, strict=True))


def _label_agrees(patient: Patient, ask: Any, example: Example, prediction: Prediction) -> bool:
    """Whether a pipeline gives our answer with our probabilities."""
    texts = _texts(patient, example)
    given = ask({"text": texts[0], "text_pair": texts[1]} if len(texts) > 1 else texts[0], top_k=None, truncation=True)
    by_name = {row["label"].casefold(): row["score"] for row in given}
    theirs = [by_name.get(label.casefold(), -1.0) for label in patient.card.labels]
    return bool(np.abs(np.array(theirs) - np.array(prediction.scores)).max() <= TOLERANCE)


def _tags_agree(patient: Patient, ask: Any, example: Example, prediction: Prediction) -> bool:
    """Whether a pipeline runs on the sentence and names only the card's tags; it cuts words in its own way."""
    given = ask(" ".join(example.text["words"]))
    return all(row["entity"] in patient.card.labels for row in given)


CHECK = Check("plain transformers", "files", "others will load the model without heldout", examine)
