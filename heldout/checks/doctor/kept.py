"""The predictions on file are this model's: asked again, it gives the same answers."""

from heldout.checks.doctor._contract import (
    Check,
    Finding,
    Patient,
    judged,
    moved,
    not_applicable,
    small,
    tolerated,
)
from heldout.eval.run_data import read_data
from heldout.runs import read_json

#: Other versions and machines move a probability by 1e-5; a wrong checkpoint moves it by far more.
NEAR = 1e-3


def examine(patient: Patient) -> Finding:
    """Compare the answers to the examples with those on file; where those are not of fp32 a few may differ."""
    if not patient.kept:
        return not_applicable(f"{patient.data} is no set of this run")
    _, predictions = read_data(patient.folder, patient.data, patient.card)
    by_id = {prediction.id: prediction for prediction in predictions}
    kept = [by_id[example.id] for example in patient.examples]
    if any(prediction.scores is None for prediction in kept):
        return not_applicable("the predictions on file have no scores")
    path = patient.folder / "environment.json"
    precision = read_json(path).get("precision", "unknown precision") if path.exists() else "unknown precision"
    allowed = 0 if precision == "fp32" else tolerated(len(kept))
    differ, most = moved(kept, patient.predictions)
    figure = f"{differ} of {len(kept)} answers differ from predictions/{patient.data}.jsonl"
    figure += f", probabilities by {small(most)} at most"
    close = most <= NEAR or precision != "fp32"
    advice = "the file is of another model or other options; predict again: heldout predict RUN --data again=SOURCE"
    return judged(
        differ <= allowed and close, figure, tolerance=f"{allowed} ({precision})", advice=advice, value=float(differ)
    )


CHECK = Check("kept predictions", "answers", "scores are worth what the predictions on file are worth", examine)
