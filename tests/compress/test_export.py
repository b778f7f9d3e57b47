"""An exported run answers as its model does, for every task, and is a run like any other."""

import json
import subprocess
import sys

import numpy as np
import pytest

from heldout.cli import main
from heldout.compress.product import answered, open_origin
from heldout.compress.runtime import load_onnx
from heldout.ledger import read_ledger
from heldout.records import read_card, read_predictions
from heldout.runs import read_json
from heldout.tasks import load_task, names


@pytest.fixture(scope="module", params=[name for name in names() if name != "sentiment"])
def other_task(request, make_run, tmp_path_factory):
    run = make_run(request.param)
    out = tmp_path_factory.mktemp("out") / "run"
    assert main(["compress", str(run), "--onnx", "--out", str(out)]) == 0
    return run, out


def apart(run, out):
    """The largest difference of a logit between torch and onnxruntime, and how many windows were looked at."""
    origin = open_origin(run, load_task)
    examples = origin.gold("t")
    system = origin.system()
    encoded = system.task.encode(examples, system.encoding)
    theirs = answered(system, examples, encoded)[1]
    made = load_onnx(out / "onnx", origin.task, origin.card, origin.options)
    ours = made.logits(made.task.encode(examples, made.encoding).flat())
    assert [one.shape for one in ours] == [one.shape for one in theirs]
    return max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True)), len(ours)


def test_export_equals_torch_on_every_task(other_task):
    far, looked_at = apart(*other_task)
    assert far < 1e-4
    assert looked_at >= 12


def test_export_of_labels_equals_torch(sentiment_run, exported):
    far, looked_at = apart(sentiment_run, exported)
    assert far < 1e-4
    assert looked_at == 12


def test_the_product_is_a_run_folder_with_predictions_and_scores(sentiment_run, exported):
    assert read_json(exported / "run.json")["state"] == "done"
    assert {path.name for path in (exported / "onnx").iterdir()} == {
        *("model.onnx", "config.json", "tokenizer.json", "tokenizer_config.json")
    }
    assert not (exported / "model").exists()
    card = read_card(exported / "card.json")
    assert len(read_predictions(exported / "predictions" / "t.jsonl", card)) == 12
    assert {path.stem for path in (exported / "scores").iterdir()} == {"dev", "t"}
    assert read_ledger(exported).splits == read_ledger(sentiment_run).splits
    notes = read_json(exported / "compression.json")
    assert notes["agreement"]["share"] == 1.0
    assert notes["parameters"] > 0
    assert str(exported.parent) not in (exported / "onnx" / "model.onnx").read_bytes().decode("latin-1")


def test_an_exported_run_predicts_without_torch_or_transformers(exported, copy_of, tmp_path):
    folder, rows = copy_of(exported), tmp_path / "more.csv"
    rows.write_text("id,text,label\na,the film is dull,negative\nb,a lovely song,positive\n")
    code = (
        "import sys; from heldout.cli import main; "
        f"status = main(['predict', {str(folder)!r}, '--data', {f'more={rows}'!r}]); "
        "print(status, sorted({'torch', 'transformers', 'accelerate'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip().splitlines()[-1] == "0 []", done.stdout + done.stderr
    lines = [json.loads(line) for line in (folder / "predictions" / "more.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["a", "b"]


def test_labels_are_matched_by_name_where_the_config_has_them_in_another_order(exported, copy_of):
    folder = copy_of(exported)
    config = read_json(folder / "onnx" / "config.json")
    names_before = [config["id2label"][key] for key in sorted(config["id2label"])]
    config["id2label"] = {str(row): name for row, name in enumerate(reversed(names_before))}
    (folder / "onnx" / "config.json").write_text(json.dumps(config))
    origin_options, card = read_json(folder / "options.json"), read_card(folder / "card.json")
    task = load_task("sentiment", card)
    whole = load_onnx(exported / "onnx", task, card, origin_options)
    turned = load_onnx(folder / "onnx", task, card, origin_options)
    from heldout.records import read_gold

    examples = read_gold(folder / "gold" / "t.jsonl", card)
    pairs = list(zip(whole.predict(examples), turned.predict(examples), strict=True))
    assert len(pairs) == 12
    assert all(one.scores == other.scores[::-1] for one, other in pairs)
