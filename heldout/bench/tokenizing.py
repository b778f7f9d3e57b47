"""`heldout bench tokenize`: training and encoding beside the tokenizers library as its own pages use it.

train    ours: heldout tokenizer train; plain: Tokenizer.train_from_iterator with a trainer of the same kind and size
encode   ours: what finetune and predict do; plain: tokenizer(texts) of transformers, over the same tokenizer and texts

A block is a whole training, or a pass over the texts. The ids that both ways give must be the same.
"""

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from heldout.bench.child import Channel
from heldout.bench.figures import ratio, spread
from heldout.bench.result import Result, mega, short
from heldout.bench.turns import opened, rounds
from heldout.data.corpus import CorpusOptions, texts
from heldout.errors import Failed
from heldout.eval.columns import aligned

OURS, PLAIN = "ours", "tokenizers"
#: What is done, with the name of the step in the tables.
STEPS = {"train": "training", "encode": "encoding"}


def bench_tokenize(options: Any, *, say: Callable[[str], None]) -> list[Result]:
    """Both sides' bytes a second, training and encoding the first ``options.megabytes`` of the corpus."""
    with tempfile.TemporaryDirectory(prefix="heldout-bench-") as name:
        work = Path(name)
        size = _write(options, work / "texts.jsonl")
        shared = {"work": "tokenize", "texts": str(work / "texts.jsonl"), "kind": options.kind}
        shared |= {"vocab_size": options.vocab_size, "tokenizer": str(work / "tokenizer")}
        found = {}
        for what in STEPS:
            # Ours leaves its tokenizer behind, which both then encode with.
            specs = {f"{side} {what}": {**shared, "do": what, "side": side} for side in (OURS, PLAIN)}
            with opened(specs, work, say) as sides:
                done = rounds(list(sides.values()), steps=dict.fromkeys(specs, 1), blocks=options.blocks, say=say)
                memory = {name: side.peak_memory() for name, side in sides.items()}
            found[what] = _measured(what, done, size, memory)
    vocabularies = [set(found["train"][side].pop("pieces")) for side in (OURS, PLAIN)]
    shared_pieces = len(vocabularies[0] & vocabularies[1]) / len(vocabularies[0])
    digests = {found["encode"][side]["ids"] for side in (OURS, PLAIN)}
    if len(digests) > 1:
        raise Failed("our encoding gives other ids than tokenizer(texts); that is a fault of ours, report it")
    arguments = {
        "corpus": short(list(options.corpus)),
        "bytes": size,
        "kind": options.kind,
        "vocab_size": options.vocab_size,
        "blocks": options.blocks,
    }
    figures = {
        f"{side} {STEPS[what]} MB/s": row["bytes_a_second"]["median"] / 1e6
        for what, rows in found.items()
        for side, row in rows.items()
    }
    figures |= {f"ours over plain, {STEPS[what]}": rows[OURS]["ours_is"]["median"] for what, rows in found.items()}
    details = {"steps": found, "shared_pieces": shared_pieces}
    return [Result("tokenize", arguments, figures, details, _text(found, shared_pieces, arguments))]


def _write(options: Any, path: Path) -> int:
    """The first texts of the corpus, as JSON strings; returns their bytes."""
    limit, size = options.megabytes * 1e6, 0
    reading = CorpusOptions(**{field.name: getattr(options, field.name) for field in fields(CorpusOptions)})
    with path.open("w", encoding="utf-8") as lines:
        for document in texts(options.corpus, reading):
            if size >= limit:
                break
            lines.write(json.dumps(document.text) + "\n")
            size += len(document.text.encode())
    return size


def _measured(what: str, done: Any, size: int, memory: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for side in (OURS, PLAIN):
        name = f"{side} {what}"
        rates = [size / one[name]["seconds"] for one in done]
        rows[side] = {"bytes_a_second": spread(rates), "peak_memory": memory[name]}
        rows[side] |= {key: value for key, value in done[-1][name].items() if key != "seconds"}
    beside = ratio(*(rows[side]["bytes_a_second"]["values"] for side in (OURS, PLAIN)))
    return {OURS: rows[OURS] | {"ours_is": beside}, PLAIN: rows[PLAIN]}


def _text(found: Mapping[str, Any], shared_pieces: float, arguments: Mapping[str, Any]) -> str:
    table = [["", "", "MB/s", "quartiles", "ours is", "", "peak MB"]]
    for what, rows in found.items():
        beside = rows[OURS]["ours_is"]
        for side, row in rows.items():
            low, high = (value / 1e6 for value in row["bytes_a_second"]["quartiles"])
            cells = [STEPS[what], side, f"{row['bytes_a_second']['median'] / 1e6:.2f}", f"{low:.2f} to {high:.2f}"]
            times = [f"{beside['median']:.2f} times", f"{beside['low']:.2f} to {beside['high']:.2f}"]
            table.append([*cells, *(times if side == PLAIN else ["", ""]), mega(row["peak_memory"])])
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    same = f"Both encode to the same ids. The two trainings share {100 * shared_pieces:.1f}% of their pieces."
    return "\n".join([*aligned(table, right={2, 6}), "", same, said])


def work(spec: Mapping[str, Any], channel: Channel) -> None:
    """The child: a block is one training, or one pass of encoding."""
    with Path(spec["texts"]).open(encoding="utf-8") as lines:
        corpus: list[str] = [json.loads(line) for line in lines]
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    does = {
        (OURS, "train"): _train_ours,
        (PLAIN, "train"): _train_plain,
        (OURS, "encode"): _encode_ours,
        (PLAIN, "encode"): _encode_plain,
    }[spec["side"], spec["do"]]
    do = does(spec, corpus)
    channel.say({})
    while channel.asked():
        started = time.perf_counter()
        answer = do()
        seconds = time.perf_counter() - started
        channel.say({"seconds": seconds, **answer()})


#: Does a block, and returns what tells of it afterwards, when no clock runs.
Doing = Callable[[], Callable[[], dict[str, Any]]]


def _train_ours(spec: Mapping[str, Any], corpus: list[str]) -> Doing:
    from heldout.tokenizer.saving import save
    from heldout.tokenizer.train import TrainOptions, train

    def do() -> Callable[[], dict[str, Any]]:
        trained = train(iter(corpus), TrainOptions(kind=spec["kind"], vocab_size=spec["vocab_size"]))

        def told() -> dict[str, Any]:
            if not Path(spec["tokenizer"]).exists():
                save(trained, Path(spec["tokenizer"]), trained.facts)
            return {"pieces": sorted(trained.tokenizer.get_vocab())}

        return told

    return do


def _train_plain(spec: Mapping[str, Any], corpus: list[str]) -> Doing:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

    def made() -> tuple[Any, Any]:
        if spec["kind"] == "wordpiece":
            tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
            tokenizer.normalizer = normalizers.NFC()
            tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
            return tokenizer, trainers.WordPieceTrainer(
                vocab_size=spec["vocab_size"], min_frequency=2, special_tokens=special, show_progress=False
            )
        tokenizer = Tokenizer(models.BPE())
        whole = spec["kind"] == "byte-bpe"
        splitter = pre_tokenizers.ByteLevel(add_prefix_space=False) if whole else pre_tokenizers.BertPreTokenizer()
        tokenizer.pre_tokenizer = splitter
        tokenizer.decoder = decoders.ByteLevel() if whole else decoders.BPEDecoder()
        return tokenizer, trainers.BpeTrainer(
            vocab_size=spec["vocab_size"],
            min_frequency=2,
            special_tokens=special,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if whole else [],
            end_of_word_suffix=None if whole else "</w>",
        )

    def do() -> Callable[[], dict[str, Any]]:
        tokenizer, trainer = made()
        tokenizer.train_from_iterator(iter(corpus), trainer)
        return lambda: {"pieces": sorted(tokenizer.get_vocab())}

    return do


def _encode_ours(spec: Mapping[str, Any], corpus: list[str]) -> Doing:
    from heldout.train.framing import bodies
    from heldout.train.models import load_tokenizer
    from heldout.train.task import Encoding
    from heldout.train.untrusted import Source

    encoding = Encoding(load_tokenizer(Source(spec["tokenizer"]), 512), [], 512)

    def do() -> Callable[[], dict[str, Any]]:
        found = list(bodies(encoding, corpus))
        return lambda: _told(found)

    return do


def _encode_plain(spec: Mapping[str, Any], corpus: list[str]) -> Doing:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(spec["tokenizer"])

    def do() -> Callable[[], dict[str, Any]]:
        found = tokenizer(corpus, add_special_tokens=False, verbose=False)["input_ids"]
        return lambda: _told(found)

    return do


def _told(found: list[list[int]]) -> dict[str, Any]:
    digest = hashlib.sha256()
    for ids in found:
        digest.update(json.dumps(list(ids)).encode())
    return {"ids": digest.hexdigest(), "tokens": sum(map(len, found))}
