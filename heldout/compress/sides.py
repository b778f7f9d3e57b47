"""Systems whose costs are measured: a run in torch (fp32, bf16) or its onnx/, with what it holds on disk."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.compress.files import find_onnx
from heldout.compress.measure import Ask, Side
from heldout.compress.product import NOTES, counted, open_origin
from heldout.compress.runtime import load_onnx
from heldout.errors import Failed, Refused
from heldout.records import Example, read_card
from heldout.runs import read_json, task_options
from heldout.train.windows import Window, collate


@dataclass(frozen=True)
class Asked:
    """A run in one form: ``form`` is "onnx", or torch's "fp32" or "bf16"."""

    name: str
    folder: Path
    form: str


def forms(folder: Path, *, bf16: bool) -> list[str]:
    """The forms a run can answer in."""
    if (folder / "onnx").is_dir():
        return ["onnx"]
    if (folder / "model").is_dir():
        return ["fp32", "bf16"] if bf16 else ["fp32"]
    raise Refused(f"{folder}: holds no model/ or onnx/; give a run of heldout finetune, distill or compress")


def opened(asked: Asked, examples: Sequence[Example], load_task: Any) -> tuple[Side, dict[str, Any]]:
    """The side to measure, and its parameters and bytes."""
    options = task_options(asked.folder)
    card = read_card(asked.folder / "card.json")
    notes = read_json(asked.folder / NOTES) if (asked.folder / NOTES).exists() else {}
    if asked.form == "onnx":
        task, folder = load_task(options["task"], card), asked.folder / "onnx"
        made = load_onnx(folder, task, card, options)
        encoded = task.encode(examples, made.encoding)
        held = {key: notes.get(key) for key in ("parameters", "nonzero")} | {"bytes": bytes_of(folder)}
        runtime = f"onnxruntime {'int8' if 'int8' in find_onnx(folder).name else 'fp32'}"
        return Side(asked.name, made.asked, encoded.windows), {"runtime": runtime, **held}
    origin = open_origin(asked.folder, load_task)
    system = origin.system()
    encoded = system.task.encode(examples, system.encoding)
    sizes = counted(system.accelerator.unwrap_model(system.model)) | {"bytes": bytes_of(asked.folder / "model")}
    return Side(asked.name, _torch_ask(system, asked.form), encoded.windows), {
        "runtime": f"torch {asked.form}",
        **sizes,
    }


def _torch_ask(system: Any, form: str) -> Ask:
    import torch

    model, tokenizer = system.accelerator.unwrap_model(system.model).eval(), system.encoding.tokenizer
    device = system.accelerator.device

    def ask(windows: Sequence[Window]) -> Any:
        batch = collate(windows, tokenizer.pad_token_id, pad_type=tokenizer.pad_token_type_id).to(device)
        # What accelerate does in bf16, whose precision cannot change within one process.
        low = torch.autocast(device.type, dtype=torch.bfloat16, enabled=form == "bf16")
        with torch.inference_mode(), low:
            return system.task.logits(model(**batch.inputs)).float().cpu().numpy()

    return ask


def bytes_of(folder: Path) -> int:
    """The bytes of all files in a folder: weights, tokenizer, config."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def peak_memory(asked: Asked, data: Path) -> int:
    """The peak memory in bytes of a process of its own that loads this system and answers the examples of a file."""
    # The command's own module: it knows the tasks, which this package may not import.
    words = [sys.executable, "-m", "heldout.scripts._peak", str(asked.folder), asked.form, str(data)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=dict(os.environ))
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise Failed(f"{asked.folder}: its peak memory could not be measured ({said[:200]})")
    return int(json.loads(done.stdout.strip().splitlines()[-1])["peak"])
