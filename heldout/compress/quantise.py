"""int8 by onnxruntime: weights of the layers' matrix products and of the largest embedding table in 8 bits.

rows     a column of weights shares a scale, and so do the activations of one position (heldout/compress/rowwise.py)
blocks   32 weights share a scale, and so do 32 activations of one position, found as they come
dynamic  a column of weights shares a scale, and so do all activations of a batch, found as they come
static   as dynamic, the ranges of activations found beforehand on calibration rows

A few activations of an encoder are far larger than the rest; a scale for all leaves those few bits (Dettmers et al.
2022, "LLM.int8()"). MiniLM on SNLI: of fp32's answers blocks keeps 99.5% (of 200), dynamic 95 to 98% (of 200 and of
400), with one scale a matrix (no per-channel) 95% (of 400), rows 99.75% (of 400); rows and dynamic are fast. On
a CPU without VNNI (avx512_vnni, avx_vnni) two products of 8 bits may overflow the 16 bits they are added in: weights of
all but blocks then keep 7.

The pooler and the head, which read one position a row, stay in fp32, and so do small tables (positions, segments):
they are hardly any of the time or the bytes.
"""

import fnmatch
import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np

from heldout.compress.rowwise import even_out, largest
from heldout.errors import Failed, Refused
from heldout.options import nearest
from heldout.train.windows import Window, padded

#: A layer's matrix product, and the look-up in a table. (A pooler or head is a Gemm, which dynamic int8 leaves alone.)
MATRIX, LOOKUP = "MatMul", "Gather"
#: CPU flags of instructions that multiply 8-bit numbers into 32 bits; ARM's are its dot products.
VNNI = {"avx512_vnni", "avx_vnni", "amx_int8", "asimddp"}
How = Literal["rows", "blocks", "dynamic", "static"]
#: Weights that share a scale in blocks; 128 move the logits of MiniLM on SNLI twice as far and save 1 MB of 60.
BLOCK = 32


@dataclass(frozen=True)
class Calibration:
    """Windows whose activations tell ranges (rows, static), with the ids that pad them."""

    windows: Sequence[Window]
    pad_id: int
    pad_type: int


def layers(path: Path) -> dict[str, str]:
    """The nodes with weights of their own that int8 can take, in the graph's order: layer's name → node's name."""
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    sizes = {
        tensor.name: prod(tensor.dims) for tensor in graph.initializer if tensor.data_type == onnx.TensorProto.FLOAT
    }
    lookups = [node for node in graph.node if node.op_type == LOOKUP and node.input[0] in sizes]
    table = max(lookups, key=lambda node: sizes[node.input[0]], default=None)
    return {
        node.name.rpartition("/")[0] or node.name: node.name
        for node in graph.node
        if node is table or (node.op_type == MATRIX and node.input[1] in sizes)
    }


def matching(patterns: Sequence[str], known: Collection[str]) -> list[str]:
    """The layers that the patterns of --keep-fp32 name (* for anything); Refused where one names none.

    >>> matching(["*.query"], ["bert.0.query", "bert.0.key"])
    ['bert.0.query']
    """
    kept: dict[str, None] = {}
    for pattern in patterns:
        found = [name for name in known if fnmatch.fnmatchcase(name, pattern) or name.startswith(f"{pattern}.")]
        if not found:
            few = ", ".join(list(known)[:3])
            raise Refused(f"--keep-fp32 {pattern}: is no layer{nearest(pattern, list(known))}; they are {few}, …")
        kept |= dict.fromkeys(found)
    return list(kept)


def quantise(
    source: Path,
    target: Path,
    *,
    only: Collection[str],
    how: How,
    per_channel: bool = True,
    calibration: Calibration | None = None,
) -> None:
    """Write ``source`` with the nodes named ``only`` in int8 to ``target``; rows and static ask for a calibration."""
    import onnx

    try:
        with _quietly():
            model = onnx.load(str(source))
            products = [node.name for node in model.graph.node if node.name in only and node.op_type == MATRIX]
            for node in [node for node in model.graph.node if node.name in only and node.op_type == LOOKUP]:
                _table(model, node)
            if not products:
                # Of an empty list onnxruntime would take all.
                onnx.save(model, str(target))
            elif how == "blocks":
                _blocks(model, target, products)
            else:
                if how == "rows":
                    assert calibration is not None  # without, it would be plain dynamic int8
                    even_out(model, products, largest(source, products, _Reader(source, calibration)))
                _whole(model, source, target, products, per_channel, calibration if how == "static" else None)
    except Exception as error:  # onnxruntime's errors have no common class
        raise Failed(f"onnxruntime cannot quantise the model: {' '.join(str(error).split())[:200]}") from error


def _table(model: Any, node: Any) -> None:
    """Keep the table of a look-up in int8 with a scale a row: what is looked up is turned back, row · scale.

    onnxruntime's own way has one scale for the table, which cost MiniLM on SNLI 1% of its answers (2 of 200).
    """
    from onnx import TensorProto, helper, numpy_helper

    graph, (name, rows), out = model.graph, node.input[:2], node.output[0]
    weight = next(tensor for tensor in graph.initializer if tensor.name == name)
    values = numpy_helper.to_array(weight)
    scale = np.abs(values).max(axis=1, keepdims=True) / 127
    scale[scale == 0] = 1.0
    small = np.round(values / scale).astype(np.int8)
    graph.initializer.append(numpy_helper.from_array(small, f"{name}_int8"))
    graph.initializer.append(numpy_helper.from_array(scale.astype(np.float32), f"{name}_scale"))
    made = [
        helper.make_node("Gather", [f"{name}_int8", rows], [f"{out}_int8"], name=f"{node.name}_int8", axis=0),
        helper.make_node("Gather", [f"{name}_scale", rows], [f"{out}_scale"], name=f"{node.name}_scale", axis=0),
        helper.make_node("Cast", [f"{out}_int8"], [f"{out}_float"], name=f"{node.name}_cast", to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{out}_float", f"{out}_scale"], [out], name=f"{node.name}_mul"),
    ]
    nodes = [new for old in graph.node for new in (made if old.name == node.name else [old])]
    del graph.node[:]
    graph.node.extend(nodes)
    if not any(name in old.input for old in graph.node):
        graph.initializer.remove(weight)


def _blocks(model: Any, target: Path, products: Collection[str]) -> None:
    """These matrix products in blocks; level 4 multiplies in 8 bits, level 0 would only store so."""
    import onnx
    from onnxruntime.quantization import matmul_nbits_quantizer as nbits

    logging.getLogger(nbits.__name__).setLevel(logging.ERROR)
    # What it is told to include comes on top of everything: only leaving out is a choice.
    others = [node.name for node in model.graph.node if node.op_type == MATRIX and node.name not in products]
    form = {"bits": 8, "block_size": BLOCK, "is_symmetric": True, "accuracy_level": 4}
    made = nbits.MatMulNBitsQuantizer(model, nodes_to_exclude=others, **form)
    made.process()
    onnx.save(made.model.model, str(target))


def _whole(
    model: Any,
    source: Path,
    target: Path,
    products: Sequence[str],
    per_channel: bool,
    calibration: Calibration | None,
) -> None:
    """These matrix products by a scale a column or matrix; static where there is a calibration, else as they come."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_dynamic, quantize_static

    shared: dict[str, Any] = {
        "nodes_to_quantize": list(products),
        "op_types_to_quantize": [MATRIX],
        "per_channel": per_channel,
        "reduce_range": not has_vnni(),
        "weight_type": QuantType.QInt8,
    }
    if calibration is None:
        quantize_dynamic(model, target, **shared)
    else:
        # QDQ: onnxruntime fuses it into whole int8 products, and other runtimes read it too.
        form = {"quant_format": QuantFormat.QDQ, "activation_type": QuantType.QUInt8}
        quantize_static(model, target, _Reader(source, calibration), **form, **shared)


class _Reader:
    """Calibration rows as onnxruntime asks for them, one batch of one at a time: padding has no range to tell."""

    def __init__(self, source: Path, calibration: Calibration) -> None:
        import onnx

        graph = onnx.load(str(source), load_external_data=False).graph
        self._names = [value.name for value in graph.input]
        self._rows = iter(calibration.windows)
        self._calibration = calibration

    def get_next(self) -> dict[str, Any] | None:
        """The next row's inputs by name, None where there are no more."""
        window = next(self._rows, None)
        if window is None:
            return None
        inputs = padded([window], self._calibration.pad_id, pad_type=self._calibration.pad_type)
        return {name: inputs[name] for name in self._names}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.get_next, None)

    def __len__(self) -> int:
        return len(self._calibration.windows)


def has_vnni() -> bool:
    """Whether this CPU adds products of 8-bit numbers in 32 bits."""
    try:
        words = Path("/proc/cpuinfo").read_text().lower().split()
    except OSError:
        return False
    return bool(VNNI & set(words))


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the advice that onnxruntime's quantiser gives to every model (it logs at the root)."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(before)
