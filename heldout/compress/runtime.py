"""An exported model answers through onnxruntime: no torch and no transformers, the same encoding and decoding.

RUN/onnx/  model.onnx (or model-int8.onnx)  config.json  tokenizer.json  tokenizer_config.json
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from heldout.compress.files import check_onnx, find_onnx
from heldout.compress.tokens import FileTokenizer
from heldout.errors import Failed, Refused
from heldout.records import Card, Example, Prediction
from heldout.runs import read_json, threads
from heldout.train.label_names import matched, mismatch
from heldout.train.progress import progress
from heldout.train.task import Encoded, Encoding, Logits, Task, answers, encoding_of
from heldout.train.windows import Window, by_budget, padded

#: Padded tokens a batch, as torch's prediction has it (heldout/train/predict.py, which imports torch).
TOKEN_BUDGET = 2048


@dataclass(frozen=True)
class OnnxSystem:
    """An onnxruntime session with what it needs to answer; ``labels`` are the card's, ``encoding`` has the model's."""

    task: Task
    session: Any
    encoding: Encoding
    labels: Sequence[str]

    def predict(self, examples: Sequence[Example], what: str = "predicting") -> list[Prediction]:
        """Encode and answer the examples; the predictions stand in their order."""
        return self.answer(examples, self.task.encode(examples, self.encoding), what)

    def answer(self, examples: Sequence[Example], encoded: Encoded, what: str = "predicting") -> list[Prediction]:
        """Answer examples that are encoded already; ``what`` names the progress that is shown, "" for none."""
        windows = encoded.flat()
        with progress(what, len(windows), "windows", shown=bool(what)) as advance:
            logits = self.logits(windows, advance)
        return answers(self.task, self.encoding, self.labels, examples, encoded, logits)

    def agreed(self, number: int) -> int:
        """The same number: an exported model answers in one process."""
        return number

    def logits(self, windows: Sequence[Window], advance: Callable[[int], None] = lambda rows: None) -> Logits:
        """The logits of every window in the order given, float32, padding cut off."""
        found: dict[int, Any] = {}
        for rows in by_budget([len(window) for window in windows], TOKEN_BUDGET):
            batch = [windows[row] for row in rows]
            for row, values in zip(rows, self.asked(batch), strict=True):
                found[row] = values[: len(windows[row])].copy() if values.ndim == 2 else values
            advance(len(rows))
        return [found[row] for row in range(len(windows))]

    def asked(self, windows: Sequence[Window]) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """The logits of one batch: (rows, labels) or (rows, longest, labels)."""
        tokenizer: Any = self.encoding.tokenizer
        inputs = padded(windows, tokenizer.pad_token_id, pad_type=tokenizer.pad_token_type_id)
        names = [output.name for output in self.session.get_outputs()]
        try:
            given = self.session.run(None, {one.name: inputs[one.name] for one in self.session.get_inputs()})
            outputs = self.task.logits(SimpleNamespace(**dict(zip(names, given, strict=True))))
        except Exception as error:  # onnxruntime's errors have no common class of their own
            said = " ".join(str(error).split())[:300]
            raise Failed(f"the exported model does not run: {said}; export again: heldout compress --onnx") from error
        return np.asarray(outputs, np.float32)


def model_labels(folder: Path) -> list[str]:
    """The label names of an exported model in the order of its logits."""
    config = read_json(folder / "config.json")
    # transformers writes no names that are its own default ones: those of a model that gives start and end.
    names = config.get("id2label") or {"0": "LABEL_0", "1": "LABEL_1"} if isinstance(config, dict) else None
    if not isinstance(names, dict) or not all(key.isdecimal() for key in names):
        raise Refused(f"{folder}/config.json: has no id2label, the names of the model's labels; export again")
    return [str(names[row]) for row in sorted(names, key=int)]


def load_onnx(
    folder: Path,
    task: Task,
    card: Card,
    options: Mapping[str, Any],
    renamed: Mapping[str, str] | None = None,
) -> OnnxSystem:
    """The system in an onnx/ folder, its labels matched by name to the card's; ``renamed`` gives some another name.

    Refused where the folder lacks something, the labels are others, or the file reaches out of its folder.
    """
    session = open_session(find_onnx(folder))
    tokenizer: Any = FileTokenizer(folder, [one.name for one in session.get_inputs()])
    theirs, labels = model_labels(folder), task.head(card)
    own = matched(theirs, labels, renamed)
    if sorted(own) != sorted(labels):
        raise mismatch(str(folder), theirs, labels)
    return OnnxSystem(task, session, encoding_of(tokenizer, own, options), labels)


def open_session(path: Path) -> Any:
    """An onnxruntime session on the CPU, after the file was checked; OMP_NUM_THREADS says how many threads."""
    try:
        import onnxruntime
    except ImportError:
        raise Refused("onnxruntime is not installed, which asks exported models: pip install heldout[onnx]") from None
    check_onnx(path)
    settings = onnxruntime.SessionOptions()
    # onnxruntime has threads of its own and does not look at what limits torch's.
    settings.intra_op_num_threads = threads()
    settings.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's errors have no common class of their own
        raise Refused(f"{path}: cannot be loaded ({' '.join(str(error).split())[:200]}); export again") from None
