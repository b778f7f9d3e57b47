"""An ONNX file from outside, before it is run: whole, and reading nothing beyond its own folder.

The format can keep weights in other files, named by a path inside it. A path that leads out of the folder would let a
model read any file of the machine into its weights, so it is refused. Nothing here or in onnxruntime reads a pickle.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.errors import Refused

#: The operators that are run: ONNX's own, and those that onnxruntime brings (its quantised matrix products).
DOMAINS = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")


def find_onnx(folder: Path) -> Path:
    """The one model of an onnx/ folder; Refused where there is none, or more than one."""
    found = sorted(folder.glob("*.onnx"))
    if len(found) != 1:
        what = "holds no *.onnx" if not found else f"holds {len(found)} models ({', '.join(p.name for p in found)})"
        raise Refused(f"{folder}: {what}; keep the one that is to answer, or export again")
    return found[0]


def check_onnx(path: Path) -> None:
    """Refuse a file that is no ONNX model, has operators of an unknown domain, or data outside of its folder."""
    import onnx

    try:
        model = onnx.load(str(path), load_external_data=False)
    except Exception as error:  # protobuf's errors have no common class
        raise Refused(f"{path}: is no ONNX model ({' '.join(str(error).split())[:200]})") from None
    if not model.graph.node:
        raise Refused(f"{path}: holds no operators; is it an ONNX model?")
    domains = {opset.domain for opset in model.opset_import} | {node.domain for node in model.graph.node}
    local = {function.domain for function in model.functions}
    unknown = sorted(domains - local - set(DOMAINS))
    if unknown:
        raise Refused(f"{path}: uses operators of {unknown[0]!r}, which would be code of its own; only ONNX's are run")
    for tensor in _tensors(model):
        for entry in tensor.external_data:
            if entry.key == "location":
                _check_inside(path, entry.value)


def _check_inside(path: Path, location: str) -> None:
    folder = path.parent.resolve()
    target = (folder / location).resolve()
    if Path(location).is_absolute() or folder not in target.parents:
        raise Refused(f"{path}: keeps weights in {location!r}, outside of its folder; such a file is not read")
    if not target.is_file():
        raise Refused(f"{path}: keeps weights in {location!r}, which is not there; copy it beside the model")


def _tensors(model: Any) -> Iterator[Any]:
    """Every tensor of a model, in whatever graph it stands."""
    yield from _of_graph(model.graph)
    for function in model.functions:
        yield from _of_nodes(function.node)


def _of_graph(graph: Any) -> Iterator[Any]:
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    yield from _of_nodes(graph.node)


def _of_nodes(nodes: Any) -> Iterator[Any]:
    for node in nodes:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for graph in (attribute.g, *attribute.graphs):
                yield from _of_graph(graph)
