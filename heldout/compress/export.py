"""A model as an ONNX graph, by torch.onnx: any number of rows of any length, nodes named after the modules they are of.

Inputs and outputs have the names that transformers gives them (input_ids …, logits or start_logits and end_logits), so
any runtime for such files serves them.
"""

import logging
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from heldout.errors import Failed, Refused
from heldout.train.system import System
from heldout.train.untrusted import quiet

#: The version of ONNX's operators: the one that torch's exporter writes without converting.
OPSET = 18
#: A graph of more than this many bytes of weights keeps them in a file beside it: protobuf ends at 2 GiB.
LARGE = 1_800_000_000
SCOPES = "pkg.torch.onnx.name_scopes"


def write_onnx(system: System, folder: Path, name: str = "model.onnx") -> Path:
    """Write the system's model with its config and tokenizer into ``folder``; Failed where torch cannot export it."""
    try:
        import onnx
        import onnxscript  # noqa: F401  (torch.onnx needs it)
    except ImportError:
        raise Refused("onnx and onnxscript are not installed, which export needs: pip install heldout[onnx]") from None
    model: Any = system.accelerator.unwrap_model(system.model).eval()
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer, path = system.encoding.tokenizer, folder / name
    segments = {"token_type_ids"} & set(tokenizer.model_input_names)
    # Ones stand for any token; two rows, since a graph traced with one row may keep that for good.
    inputs = {key: torch.ones(2, 7, dtype=torch.long) for key in ("input_ids", *sorted(segments), "attention_mask")}
    with _quietly(), torch.inference_mode():
        outputs = list(model(**inputs).keys())
        try:
            program = torch.onnx.export(
                model,
                kwargs=inputs,
                input_names=list(inputs),
                output_names=outputs,
                dynamic_shapes={key: {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC} for key in inputs},
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
        except Exception as error:  # the exporter's errors have no common class
            said = " ".join(str(error).split())[:200]
            raise Failed(f"a {model.config.model_type} cannot be exported by torch.onnx: {said}") from error
        assert program is not None
        proto = program.model_proto
    _name_after_modules(proto)
    onnx.save(proto, str(path), save_as_external_data=_size(model) > LARGE, location=f"{name}.data")
    model.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return path


def _size(model: torch.nn.Module) -> int:
    return sum(parameter.numel() * parameter.element_size() for parameter in model.parameters())


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the exporter's notes on its own insides (torchvision is not installed, axes that share their names)."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def _name_after_modules(proto: Any) -> None:
    """Name each node by its module (bert.encoder.layer.0.attention.self.query) and drop what tells of this machine.

    The exporter keeps stack traces with the paths of whoever exported; a layer's name is what --keep-fp32 takes.
    """
    import ast

    counts = Counter[str]()
    for node in proto.graph.node:
        scopes = next((entry.value for entry in node.metadata_props if entry.key == SCOPES), "[]")
        modules = [scope for scope in ast.literal_eval(scopes)[:-1] if scope]
        name = modules[-1] if modules else node.op_type
        counts[name] += 1
        node.name = f"{name}/{node.op_type}" if counts[name] == 1 else f"{name}/{node.op_type}_{counts[name]}"
        del node.metadata_props[:]
        node.doc_string = ""
    for value in (*proto.graph.value_info, *proto.graph.input, *proto.graph.output, *proto.graph.initializer):
        del value.metadata_props[:]
    del proto.metadata_props[:]
    del proto.graph.metadata_props[:]
