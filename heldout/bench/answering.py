"""A side that answers examples: our System, an exported model, or transformers' pipeline on the same model/."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heldout.bench.child import Channel
from heldout.records import Card, Example, read_card, read_gold
from heldout.runs import read_json
from heldout.tasks import load_task
from heldout.train.task import Encoding, Task

#: Examples → the answer to each.
Answer = Callable[[Sequence[Example]], list[Any]]


def work(spec: Mapping[str, Any], channel: Channel) -> None:
    """Blocks of examples, going round and round: every side is at the same ones."""
    # Tokenising is part of the time, so none of it may be found in the cache.
    os.environ["HELDOUT_CACHE"] = "off"
    run = Path(spec["run"])
    card, options = read_card(run / "card.json"), read_json(run / "options.json")
    task = load_task(options["task"], card)
    examples = read_gold(Path(spec["data"]), card)
    makers = {"bf16": _ours, "fp32": _ours, "onnx": _onnx, "pipeline": _pipeline}
    answer, facts, lengths = makers[spec["form"]](spec, run, task, card, options)
    channel.say(facts)
    place = 0
    while count := channel.asked():
        block = [examples[(place + number) % len(examples)] for number in range(count)]
        place += count
        started = time.perf_counter()
        answers = answer(block)
        seconds = time.perf_counter() - started
        ids = [example.id for example in block]
        channel.say({"seconds": seconds, "ids": ids, "answers": answers, "lengths": lengths(block)})


Made = tuple[Answer, dict[str, Any], Callable[[Sequence[Example]], list[int]]]


def _ours(spec: Mapping[str, Any], run: Path, task: Task, card: Card, options: Mapping[str, Any]) -> Made:
    from heldout.bench.flops import costs, done
    from heldout.train.precision import make_accelerator
    from heldout.train.system import load_system
    from heldout.train.untrusted import Source

    source = Source(str(run / "model"), bool(options.get("trust_remote_code")))
    system = load_system(task, source, task.head(card), options, make_accelerator(spec["form"]))
    model: Any = system.accelerator.unwrap_model(system.model)
    facts = {"precision": spec["form"], "costs": asdict(costs(model)), "done": asdict(done(model)), "arguments": {}}
    return _predicting(system), facts, _lengths(task, system.encoding)


def _onnx(spec: Mapping[str, Any], run: Path, task: Task, card: Card, options: Mapping[str, Any]) -> Made:
    from heldout.compress.files import find_onnx
    from heldout.compress.runtime import load_onnx

    folder = Path(spec["onnx"])
    system = load_onnx(folder, task, card, options)
    precision = "int8" if "int8" in find_onnx(folder).name else "fp32"
    return _predicting(system), {"precision": precision, "arguments": {}}, lambda block: []


def _pipeline(spec: Mapping[str, Any], run: Path, task: Task, card: Card, options: Mapping[str, Any]) -> Made:
    from transformers import pipeline

    reading = {"truncation": True, "max_length": options["max_length"]}
    ask: Any = pipeline("text-classification", model=str(run / "model"), batch_size=spec["batch"])

    def answer(block: Sequence[Example]) -> list[Any]:
        fields = list(block[0].text)
        texts: list[Any] = [example.text[fields[0]] for example in block]
        if len(fields) == 2:
            texts = [{"text": example.text[fields[0]], "text_pair": example.text[fields[1]]} for example in block]
        return [found["label"] for found in ask(texts, **reading)]

    facts = {"precision": "fp32", "arguments": {"task": "text-classification", "batch_size": spec["batch"], **reading}}
    return answer, facts, lambda block: []


def _predicting(system: Any) -> Answer:
    return lambda block: [prediction.answer for prediction in system.predict(block)]


def _lengths(task: Task, encoding: Encoding) -> Callable[[Sequence[Example]], list[int]]:
    """The real tokens of every window of a block."""
    return lambda block: [len(window) for window in task.encode(block, encoding).flat()]
