"""A tiny model fine-tuned on made-up reviews until it is good, as a run folder, and the patient it makes."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from heldout.checks.doctor import Patient
from heldout.cli import main
from heldout.runs import read_json


@pytest.fixture(scope="session")
def made(tiny_model, reviews_csv, tmp_path_factory) -> Path:
    """A run that is right on most of its test: 60 reviews of which 20 are dev, tested on other 36."""
    folder = tmp_path_factory.mktemp("doctor")
    lines = reviews_csv.read_text().splitlines()
    (folder / "train.csv").write_text("\n".join(lines[:61]) + "\n")
    (folder / "test.csv").write_text("\n".join([lines[0], *lines[61:]]) + "\n")
    words = [
        *("finetune", "sentiment", "--model", str(tiny_model), "--train", str(folder / "train.csv")),
        *("--test", f"fresh={folder / 'test.csv'}", "--dev-size", "16", "--max-length", "40", "--epochs", "12"),
        *("--learning-rate", "1e-2", "--precision", "fp32", "--baseline", "none", "--out", str(folder / "run")),
    ]
    assert main(words) == 0
    return folder / "run"


@pytest.fixture
def run(made, tmp_path) -> Path:
    """A copy of the run, to spoil."""
    return Path(shutil.copytree(made, tmp_path / "run"))


@pytest.fixture
def admitted():
    """A function from a run folder to its patient."""
    from heldout.scripts.doctor import Options, admit

    def admit_run(folder: Path, data: str = "", limit: int | None = 24) -> Patient:
        return admit(folder, Options(folder=str(folder), data=data, limit=limit))

    return admit_run


@pytest.fixture
def patient(made, admitted) -> Patient:
    """The patient of the untouched run."""
    return admitted(made)


@pytest.fixture
def with_model():
    """A function that gives a patient another model in the place of its own."""

    def replaced(patient: Patient, wrap) -> Patient:
        system = dataclasses.replace(patient.system, model=wrap(patient.system.model))
        return dataclasses.replace(patient, system=system)

    return replaced


@pytest.fixture
def rewritten():
    """A function that changes a JSON file of a run."""

    def change(path: Path, **values) -> None:
        path.write_text(json.dumps(read_json(path) | values))

    return change
