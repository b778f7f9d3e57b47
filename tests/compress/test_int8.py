"""int8: gates that hold and that refuse, layers left in fp32, the scan, calibration."""

import logging

import numpy as np
import onnx
import pytest

from heldout.cli import main
from heldout.compress import exported as exports
from heldout.compress.gate import Agreement, agreement
from heldout.compress.product import open_origin
from heldout.compress.quantise import layers, matching, quantise
from heldout.compress.runtime import load_onnx
from heldout.compress.scan import Scanned, keep_until
from heldout.errors import Refused
from heldout.ledger import read_ledger
from heldout.records import Prediction
from heldout.runs import read_json
from heldout.tasks import load_task


@pytest.fixture
def written_once(exported, monkeypatch):
    """torch's exporter takes seconds: the fp32 file of the fixture stands in for every further one."""
    import shutil

    def copy(system, folder, name="model.onnx"):
        shutil.copytree(exported / "onnx", folder, dirs_exist_ok=True)
        return folder / name

    monkeypatch.setattr(exports, "write_onnx", copy)


def types(path):
    return {node.op_type for node in onnx.load(str(path)).graph.node}


def test_int8_is_smaller_keeps_what_it_is_told_to_and_says_so(sentiment_run, exported, written_once, tmp_path, capsys):
    out = tmp_path / "int8"
    words = ["compress", str(sentiment_run), "--int8", "--how", "dynamic", "--keep-fp32", "*layer.0*", "--force"]
    assert main([*words, "--out", str(out)]) == 0
    small, large = out / "onnx" / "model-int8.onnx", exported / "onnx" / "model.onnx"
    assert small.stat().st_size < large.stat().st_size
    assert "MatMulInteger" in types(small) or "DynamicQuantizeMatMul" in types(small)
    notes = read_json(out / "compression.json")
    assert notes["what"] == "onnx int8"
    assert notes["kept_fp32"] == [name for name in layers(large) if "layer.0" in name]
    assert len(notes["kept_fp32"]) == 6
    assert notes["agreement"]["gate"] == 0.99
    assert "answers agree (gate 99.0%)" in capsys.readouterr().err
    origin = open_origin(sentiment_run, load_task)
    made = load_onnx(out / "onnx", origin.task, origin.card, origin.options)
    assert len(made.predict(origin.gold("t"))) == 12


def test_static_ranges_come_from_dev_and_the_ledger_says_so(sentiment_run, written_once, tmp_path):
    out = tmp_path / "static"
    words = [
        "compress",
        str(sentiment_run),
        "--int8",
        "--how",
        "static",
        "--calibration",
        "5",
        "--force",
        "--out",
        str(out),
    ]
    assert main(words) == 0
    assert "QuantizeLinear" in types(out / "onnx" / "model-int8.onnx")
    assert "DynamicQuantizeLinear" not in types(out / "onnx" / "model-int8.onnx")
    assert read_json(out / "compression.json")["calibration"] == 5
    fitted = read_ledger(out).fitted["int8 ranges"]
    assert fitted["split"] == "dev"
    assert fitted["hash"] == read_ledger(out).splits["dev"]["hash"]
    assert logging.getLogger().level == logging.WARNING


def test_a_product_that_does_not_pass_its_gate_is_not_kept(sentiment_run, written_once, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("heldout.compress.gate.GATES", {"fp32": 0.999, "int8": 1.01})
    out = tmp_path / "run"
    words = ["compress", str(sentiment_run), "--int8", "--out", str(out)]
    assert main(words) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert "nothing is kept" in said
    assert "--scan" in said
    assert sorted(path.name for path in out.iterdir()) == ["lock", "run.json"]
    assert main([*words, "--force"]) == 0
    assert read_json(out / "compression.json")["agreement"]["gate"] == 1.01
    assert {"MatMulInteger", "ReduceMax"} <= types(out / "onnx" / "model-int8.onnx")


def test_an_export_that_answers_otherwise_is_not_kept(sentiment_run, exported, written_once, tmp_path, monkeypatch):
    from heldout.compress import runtime

    asked = runtime.OnnxSystem.asked
    monkeypatch.setattr(runtime.OnnxSystem, "asked", lambda system, windows: -asked(system, windows))
    out = tmp_path / "run"
    assert main(["compress", str(sentiment_run), "--onnx", "--out", str(out)]) == 1
    assert not (out / "onnx").exists()


def test_the_scan_keeps_the_worst_layers_until_the_gate_holds(sentiment_run, written_once, tmp_path, monkeypatch):
    out = tmp_path / "run"
    assert main(["compress", str(sentiment_run), "--int8", "--scan", "--force", "--out", str(out)]) == 0
    notes = read_json(out / "compression.json")
    moved = [row["moved"] for row in notes["scan"]]
    assert len(moved) == notes["quantised"] + len(notes["kept_fp32"]) == 13
    assert moved == sorted(moved, reverse=True)
    assert moved[-1] > 0
    assert notes["kept_fp32"] == [row["layer"] for row in notes["scan"][: len(notes["kept_fp32"])]]
    assert read_ledger(out).fitted["layers kept in fp32"]["split"] == "dev"


def test_twice_as_many_layers_are_kept_each_time_and_no_more_than_needed():
    scanned, tried = [Scanned(name, 1.0) for name in "abcdefg"], []

    def make(left_out):
        tried.append("".join(left_out))
        return None, Agreement(100 if len(left_out) > 3 else 90, 100, 0.1, "int8")

    _, found, kept = keep_until(make, scanned, ["g"], lambda words: None)
    assert tried == ["g", "ga", "gab", "gabcd"]
    assert (found.holds, kept) == (True, list("gabcd"))
    never = keep_until(lambda left_out: (None, Agreement(1, 2, 0, "int8")), scanned, [], lambda words: None)
    assert never[2] == list("abcdefg")


def test_agreement_counts_answers_or_words():
    one = [Prediction("a", ["O", "B-x"]), Prediction("b", ["O"])]
    other = [Prediction("a", ["O", "O"]), Prediction("b", ["O"])]
    logits = [np.zeros((2, 2), np.float32), np.ones((1, 2), np.float32)]
    found = agreement((one, logits), (other, [logits[0] + 0.5, logits[1]]), "int8")
    assert (found.same, found.n, found.apart, found.holds) == (2, 3, 0.5, False)
    labels = [Prediction("a", "x")] * 999 + [Prediction("a", "y")]
    assert agreement((labels, logits), ([Prediction("a", "x")] * 1000, logits), "fp32").holds


def test_a_layer_that_is_not_there_is_refused():
    with pytest.raises(Refused, match=r"is no layer; did you mean encoder\.query"):
        matching(["encoder.qery"], ["encoder.query", "encoder.key"])
    assert matching(["encoder"], ["encoder.query", "encoder.key"]) == ["encoder.query", "encoder.key"]


def test_a_table_keeps_a_scale_a_row_and_only_what_is_asked_for_is_quantised(tmp_path):
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    table = np.array([[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], [300.0, 1.0, 2.0], [0.01, 0.02, -0.03]], np.float32)
    square = np.eye(3, dtype=np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"], name="embedding/Gather"),
        helper.make_node("MatMul", ["rows", "square"], ["y"], name="dense/MatMul"),
    ]
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, [None])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 3])
    weights = [numpy_helper.from_array(table, "table"), numpy_helper.from_array(square, "square")]
    graph = helper.make_graph(nodes, "g", [ids], [y], weights)
    whole, small = tmp_path / "whole.onnx", tmp_path / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), str(whole))
    assert layers(whole) == {"embedding": "embedding/Gather", "dense": "dense/MatMul"}
    quantise(whole, small, only=["embedding/Gather"], how="blocks")
    assert types(small) == {"Gather", "Cast", "Mul", "MatMul"}
    session = onnxruntime.InferenceSession(str(small), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"ids": np.array([0, 1, 2, 3])})
    # By hand: 127 steps to the largest of a row, whatever the other rows hold.
    steps = [[round(x / (max(map(abs, row)) / 127)) if any(row) else 0 for x in row] for row in table.tolist()]
    wanted = [[n * max(map(abs, row)) / 127 for n in row_steps] for row_steps, row in zip(steps, table, strict=True)]
    assert steps[0] == [64, -127, 32]
    assert found.tolist() == pytest.approx(np.array(wanted), rel=1e-5)
    quantise(whole, small, only=["dense/MatMul"], how="blocks")
    assert types(small) == {"Gather", "MatMulNBits"}
