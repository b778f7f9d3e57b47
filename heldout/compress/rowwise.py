"""Activations made fit for one 8-bit scale a batch, in the graph itself, without changing what it computes.

    x · W  =  max|x'| · ((x' / max|x'|) · W'),   x' = x / s,  W' = s · W,   max over the channels of each position

Each position is divided by its own largest value, so a few large positions leave the others their bits; a channel that
is large at all positions hands its size to the weights: s = max|x|^½ / max|W|^½ (SmoothQuant, Xiao et al. 2023, eq. 4
with α = 0.5), max|x| from calibration rows. MiniLM on 400 SNLI pairs, dynamic int8 as it comes: 97 to 98% of fp32's
answers at 2.3 times its speed; with the channels evened out alone 96.5%, with the positions alone 99.0% at 2.1 times,
with both 99.75% at 1.9 times (one thread).
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

#: The least that is divided by: a channel or position of zeros stays zeros.
LEAST = 1e-5


def largest(source: Path, products: Collection[str], feeds: Iterable[Mapping[str, Any]]) -> dict[str, Floats]:
    """The largest absolute value of every channel that enters these products, (channels,) by the input's name."""
    import onnx
    from onnxruntime import InferenceSession

    model = onnx.load(str(source))
    names = sorted({node.input[0] for node in model.graph.node if node.name in products})
    there = {value.name for value in model.graph.output}
    for name in names:
        if name not in there:
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    session = InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found: dict[str, Floats] = {}
    for feed in feeds:
        for name, values in zip(names, session.run(names, feed), strict=True):
            seen = np.abs(values.reshape(-1, values.shape[-1])).max(axis=0)
            found[name] = np.maximum(found.get(name, 0), seen)
    return found


def even_out(model: Any, products: Collection[str], values: Mapping[str, Floats]) -> None:
    """Change ``model`` in place so that these products take evened inputs; ``values`` as ``largest`` gives them."""
    from onnx import numpy_helper

    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    graph.initializer.append(numpy_helper.from_array(np.array([-1], np.int64), "rowwise_last"))
    graph.initializer.append(numpy_helper.from_array(np.array(LEAST, np.float32), "rowwise_least"))
    by_input: dict[str, list[Any]] = {}
    for node in graph.node:
        if node.name in products:
            by_input.setdefault(node.input[0], []).append(node)
    before: dict[str, list[Any]] = {}
    after: dict[str, Any] = {}
    for name, nodes in by_input.items():
        tensors = [weights[node.input[1]] for node in nodes]
        scale = _scale(values[name], [numpy_helper.to_array(tensor) for tensor in tensors])
        graph.initializer.append(numpy_helper.from_array(1 / scale, f"{name}_shrink"))
        before[nodes[0].name] = _evened(name)
        for node, tensor in zip(nodes, tensors, strict=True):
            # A weight of its own: ALBERT's layers share theirs, and their inputs are not alike.
            grown = numpy_helper.from_array(numpy_helper.to_array(tensor) * scale[:, None], f"{node.name}_weight")
            graph.initializer.append(grown)
            node.input[0], node.input[1], after[node.name] = f"{name}_even", grown.name, _grown(node, name)
    ordered = [each for node in graph.node for each in (*before.get(node.name, ()), node, *after.get(node.name, ()))]
    del graph.node[:]
    graph.node.extend(ordered)
    _drop_idle(graph, {node.input[1] for nodes in by_input.values() for node in nodes} | set(weights))


def _drop_idle(graph: Any, names: Collection[str]) -> None:
    """Remove the weights of these names that nothing takes any more."""
    used = {name for node in graph.node for name in node.input}
    for tensor in [tensor for tensor in graph.initializer if tensor.name in names and tensor.name not in used]:
        graph.initializer.remove(tensor)


def _scale(seen: Floats, weights: Iterable[Floats]) -> Floats:
    """s of every channel, (channels,)."""
    rows = np.maximum.reduce([np.abs(weight).max(axis=1) for weight in weights])
    scale: Floats = np.sqrt(np.maximum(seen, LEAST) / np.maximum(rows, LEAST)).astype(np.float32)
    return scale


def _evened(name: str) -> list[Any]:
    """The nodes that make NAME_even of the input NAME, and NAME_size, each position's largest value."""
    from onnx import helper

    return [
        helper.make_node("Mul", [name, f"{name}_shrink"], [f"{name}_level"], name=f"{name}_level"),
        helper.make_node("Abs", [f"{name}_level"], [f"{name}_abs"], name=f"{name}_abs"),
        helper.make_node("ReduceMax", [f"{name}_abs", "rowwise_last"], [f"{name}_most"], name=f"{name}_most"),
        helper.make_node("Max", [f"{name}_most", "rowwise_least"], [f"{name}_size"], name=f"{name}_size"),
        helper.make_node("Div", [f"{name}_level", f"{name}_size"], [f"{name}_even"], name=f"{name}_even"),
    ]


def _grown(node: Any, name: str) -> list[Any]:
    """The node that gives a product its positions' sizes back; the product's own output gets another name."""
    from onnx import helper

    out = node.output[0]
    node.output[0] = f"{out}_even"
    return [helper.make_node("Mul", [f"{out}_even", f"{name}_size"], [out], name=f"{node.name}_size")]
