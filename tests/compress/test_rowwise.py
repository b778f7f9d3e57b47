"""Activations evened out before they are cut to 8 bits: the same function in fp32, a nearer one in int8."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from heldout.compress.quantise import layers, quantise
from heldout.compress.rowwise import even_out, largest
from heldout.train.windows import Window

TOKENS, WIDTH = 40, 16


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def product(tmp_path, rng):
    """Two products of one input, as a query and a key are, which is looked up: ids (rows, tokens) → logits."""
    table = rng.normal(size=(TOKENS, WIDTH)).astype(np.float32)
    # A channel and a position that are far larger than the rest, and a position of zeros.
    table[:, 3] *= 50
    table[7] *= 200
    table[9] = 0
    weights = {name: rng.normal(size=(WIDTH, 5)).astype(np.float32) for name in ("q", "k")}
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["states"], name="look/Gather"),
        helper.make_node("MatMul", ["states", "q"], ["by_q"], name="query/MatMul"),
        helper.make_node("MatMul", ["states", "k"], ["by_k"], name="key/MatMul"),
        helper.make_node("Concat", ["by_q", "by_k"], ["logits"], name="both", axis=-1),
    ]
    held = [numpy_helper.from_array(values, name) for name, values in {"table": table, **weights}.items()]
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, [None, None])
    out = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [None, None, 10])
    graph = helper.make_graph(nodes, "g", [ids], [out], held)
    path = tmp_path / "whole.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def answers(model, ids):
    session = onnxruntime.InferenceSession(
        model if isinstance(model, bytes) else str(model), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"input_ids": ids})[0]


IDS = np.arange(TOKENS, dtype=np.int64).reshape(4, 10)


def test_the_largest_values_are_those_of_each_channel_over_all_rows(product):
    values = numpy_helper.to_array(onnx.load(str(product)).graph.initializer[0])
    found = largest(product, ["query/MatMul", "key/MatMul"], [{"input_ids": IDS[:2]}, {"input_ids": IDS[2:]}])
    assert list(found) == ["states"]
    np.testing.assert_allclose(found["states"], np.abs(values).max(axis=0))


def test_evened_out_the_graph_computes_what_it_did(product):
    model = onnx.load(str(product))
    names = ["query/MatMul", "key/MatMul"]
    even_out(model, names, largest(product, names, [{"input_ids": IDS}]))
    onnx.checker.check_model(model)
    before, after = answers(product, IDS), answers(model.SerializeToString(), IDS)
    assert np.abs(before).max() > 1000
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-3)
    assert (after[0, 9] == 0).all()
    # What is shared is evened out once.
    assert sum(node.op_type == "ReduceMax" for node in model.graph.node) == 1


def test_int8_by_rows_stays_nearer_than_with_one_scale_a_batch(product, tmp_path):
    from heldout.compress.quantise import Calibration

    only = [node for name, node in layers(product).items() if name != "look"]
    assert len(only) == 2
    calibration = Calibration([Window(0, {"input_ids": row.tolist()}) for row in IDS], 0, 0)
    whole = answers(product, IDS)
    small = np.delete(np.arange(TOKENS), [7, 9])
    apart = {}
    for how in ("rows", "dynamic"):
        quantise(product, tmp_path / f"{how}.onnx", only=only, how=how, calibration=calibration)
        moved = np.abs(answers(tmp_path / f"{how}.onnx", IDS) - whole).reshape(TOKENS, -1)
        apart[how] = np.median(moved[small])
    # One scale for all leaves the small positions some 1/200 of its 8 bits.
    assert apart["rows"] < apart["dynamic"] / 20


def test_a_weight_that_two_products_share_is_not_changed_twice(product, tmp_path):
    """ALBERT's layers are one set of weights; the exporter keeps it once."""
    model = onnx.load(str(product))
    _gather, query, key = model.graph.node[:3]
    model.graph.node.insert(1, helper.make_node("Neg", ["states"], ["turned"], name="turn"))
    key.input[0], key.input[1] = "turned", query.input[1]
    shared = tmp_path / "shared.onnx"
    onnx.save(model, shared)
    before = answers(shared, IDS)
    np.testing.assert_allclose(before[..., :5], -before[..., 5:])
    for names in (["query/MatMul", "key/MatMul"], ["query/MatMul"]):
        model = onnx.load(str(shared))
        even_out(model, names, largest(shared, names, [{"input_ids": IDS}]))
        onnx.checker.check_model(model)
        np.testing.assert_allclose(answers(model.SerializeToString(), IDS), before, rtol=1e-4, atol=1e-3)
