"""int8 by onnxruntime: weights of the layers' matrix products and of the largest embedding table in 8 bits.

dynamic  each batch's activations are brought to 8 bits by their own range, found as they come
static   by ranges found beforehand on calibration rows: faster where the hardware likes it, blind to odd inputs

Weights have a scale a column (per channel): one scale a matrix costs more agreement for nothing. On a CPU without VNNI
(avx512_vnni, avx_vnni) two products of 8 bits may overflow the 16 bits they are added in, so weights keep 7 bits there.

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

from heldout.errors import Failed, Refused
from heldout.options import nearest
from heldout.train.windows import Window, padded

#: A layer's matrix product, and the look-up in a table. (A pooler or head is a Gemm, which dynamic int8 leaves alone.)
MATRIX, LOOKUP = "MatMul", "Gather"
#: CPU flags of instructions that multiply 8-bit numbers into 32 bits; ARM's are its dot products.
VNNI = {"avx512_vnni", "avx_vnni", "amx_int8", "asimddp"}
How = Literal["dynamic", "static"]


@dataclass(frozen=True)
class Calibration:
    """Windows whose activations tell the ranges of static quantisation, with the ids that pad them."""

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
    per_channel: bool = True,
    calibration: Calibration | None = None,
) -> None:
    """Write ``source`` with the nodes named ``only`` in int8 to ``target``, static where there is a calibration."""
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_dynamic, quantize_static

    shared: dict[str, Any] = {
        "nodes_to_quantize": list(only),
        "per_channel": per_channel,
        "reduce_range": not has_vnni(),
        "weight_type": QuantType.QInt8,
    }
    try:
        with _quietly():
            if calibration is None:
                quantize_dynamic(source, target, op_types_to_quantize=[MATRIX, LOOKUP], **shared)
            else:
                reader = _Reader(source, calibration)
                # QDQ: onnxruntime fuses it into whole int8 products, and other runtimes read it too.
                form = {"quant_format": QuantFormat.QDQ, "activation_type": QuantType.QUInt8}
                quantize_static(source, target, reader, op_types_to_quantize=[MATRIX, LOOKUP], **form, **shared)
    except Exception as error:  # onnxruntime's errors have no common class
        raise Failed(f"onnxruntime cannot quantise the model: {' '.join(str(error).split())[:200]}") from error


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
