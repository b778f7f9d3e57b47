import json
import os
import subprocess
import sys

import numpy as np
import pytest
from seqeval.metrics import f1_score as seqeval_f1
from seqeval.scheme import IOB2
from sklearn.metrics import accuracy_score, brier_score_loss, f1_score, log_loss, matthews_corrcoef

from heldout.eval import MODULES

NAMES = ("heldout_calibration", "heldout_entities", "heldout_labels", "heldout_squad")

# evaluate imports torch and writes a copy of the module to a cache: one child process serves all tests here.
CHILD = """
import json, sys, warnings
warnings.simplefilter("ignore")
import evaluate
for line in sys.stdin:
    path, given = json.loads(line)
    # Whatever the environment says of buffers: the parent waits for this line.
    print(json.dumps(evaluate.load(path).compute(**given)), flush=True)
"""


@pytest.fixture(scope="module")
def compute(tmp_path_factory):
    home = tmp_path_factory.mktemp("hf")
    environment = os.environ | {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert child.stdin is not None and child.stdout is not None

    def ask(name, **given):
        child.stdin.write(json.dumps([str(MODULES / name), given | {"replicates": 200}]) + "\n")
        child.stdin.flush()
        return json.loads(child.stdout.readline())

    yield ask
    child.stdin.close()
    assert child.wait(timeout=60) == 0
    child.stdout.close()


def test_these_are_all_the_modules():
    assert tuple(sorted(path.name for path in MODULES.iterdir() if path.name != "__pycache__")) == NAMES
    assert all((MODULES / name / f"{name}.py").is_file() for name in NAMES)


def test_label_figures_are_those_of_scikit_learn_for_numbers_and_for_names(compute):
    rng = np.random.default_rng(0)
    gold, said = rng.integers(0, 3, 200).tolist(), rng.integers(0, 3, 200).tolist()
    found = compute("heldout_labels", predictions=said, references=gold)
    assert found["accuracy"] == pytest.approx(accuracy_score(gold, said))
    assert found["macro_f1"] == pytest.approx(f1_score(gold, said, average="macro"))
    assert found["mcc"] == pytest.approx(matthews_corrcoef(gold, said))
    assert found["accuracy_low"] < found["accuracy"] < found["accuracy_high"]
    names = ["entailment", "neutral", "contradiction"]
    named = compute("heldout_labels", predictions=[names[i] for i in said], references=[names[i] for i in gold])
    assert named["macro_f1"] == pytest.approx(found["macro_f1"])


def test_calibration_figures_are_those_of_scikit_learn(compute):
    rng = np.random.default_rng(1)
    p = rng.uniform(0.02, 0.98, 300)
    gold = (rng.random(300) < p).astype(int)
    scores = np.stack([1 - p, p], axis=1)
    found = compute("heldout_calibration", predictions=scores.tolist(), references=gold.tolist())
    assert found["nll"] == pytest.approx(log_loss(gold, p))
    assert found["brier"] == pytest.approx(brier_score_loss(gold, p))
    assert 0 < found["ece"] < 0.2 and found["n"] == 300


def test_entity_figures_are_those_of_seqeval_strict(compute):
    gold = [["B-PER", "I-PER", "O"], ["O", "B-LOC"], ["O", "O", "B-PER"]]
    said = [["B-PER", "O", "O"], ["O", "B-LOC"], ["B-LOC", "O", "B-PER"]]
    found = compute("heldout_entities", predictions=said, references=gold)
    assert found["entity_f1"] == pytest.approx(seqeval_f1(gold, said, mode="strict", scheme=IOB2))


def test_answers_are_joined_by_id_and_judged_by_the_rules_of_their_version(compute):
    gold = {"q1": ["Ada Lovelace", "Ada"], "q2": ["in 1843"]}
    references = [{"id": i, "answers": {"text": t, "answer_start": [0] * len(t)}} for i, t in gold.items()]
    said = [{"id": "q2", "prediction_text": "1843"}, {"id": "q1", "prediction_text": "the Ada"}]
    found = compute("heldout_squad", predictions=said, references=references)
    assert (found["em"], found["f1"]) == (0.5, pytest.approx((1 + 2 / 3) / 2))
    assert "no_ans_acc" not in found
    references.append({"id": "q3", "answers": {"text": [], "answer_start": []}})
    with_none = compute(
        "heldout_squad", predictions=[*said, {"id": "q3", "prediction_text": ""}], references=references
    )
    assert with_none["no_ans_acc"] == 1.0


@pytest.fixture
def tiny_classifier(tiny_model, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder, names = tmp_path / "classifier", {0: "negative", 1: "positive"}
    AutoModelForSequenceClassification.from_pretrained(tiny_model, id2label=names).save_pretrained(folder)
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(folder)
    return folder


def test_the_evaluator_of_hugging_face_takes_a_module(tmp_path, tiny_classifier):
    code = f"""
import warnings
warnings.simplefilter("ignore")
from datasets import Dataset
from evaluate import evaluator, load
data = Dataset.from_dict({{"text": ["lovely scene", "dull plot", "witty song"], "label": [1, 0, 1]}})
found = evaluator("text-classification").compute(
    {str(tiny_classifier)!r}, data, metric=load({str(MODULES / "heldout_labels")!r}),
    label_mapping={{"negative": 0, "positive": 1}},
)
print(found["accuracy"], found["accuracy_low"])
"""
    environment = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    accuracy, low = map(float, done.stdout.split())
    assert accuracy in (0, pytest.approx(1 / 3), pytest.approx(2 / 3), 1) and low <= accuracy
