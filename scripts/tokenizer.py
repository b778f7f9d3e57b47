"""Train a tokenizer on plain text (train), or see how tokenizers cut it up (inspect).

    heldout tokenizer train wiki.txt reviews.jsonl.gz --kind wordpiece --vocab-size 8000 --out pieces
    heldout tokenizer inspect pieces other-folder --corpus wiki.txt reviews.jsonl.gz

A CORPUS is a text file, a table with a column of texts, a folder or .zip of them, or a hub set, org/name:split; it is
streamed, and each has a name (its file's without suffix) by which an option can be meant for it alone.
"""

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.checks.tokenizers import show, summary
from heldout.data.corpus import CorpusOptions, Document, documents, size, texts
from heldout.data.streams import Seen
from heldout.errors import Refused
from heldout.options import flag, option, positional, to_json
from heldout.tokenizer.train import TrainOptions, train
from heldout.train.progress import progress, say


@dataclass(frozen=True)
class Options(TrainOptions, CorpusOptions):
    """What ``heldout tokenizer`` takes."""

    action: Literal["train", "inspect"] = positional("train one on CORPUS…, or inspect tokenizers' DIR…")
    sources: tuple[str, ...] = positional("train: text to learn from; inspect: tokenizers' folders", metavar="SOURCE")
    corpus: tuple[str, ...] = option((), "inspect: text to cut up; may be given again", metavar="CORPUS")
    out: Path | None = option(None, "train: the folder to write", metavar="DIR")
    json: bool = option(False, "print the figures as JSON")


def run(options: Options) -> int:
    """Train or inspect, and print the figures."""
    return _train(options) if options.action == "train" else _inspect(options)


def _train(options: Options) -> int:
    from heldout.tokenizer.saving import refuse_taken, save

    if options.out is None:
        raise Refused("heldout tokenizer train needs --out DIR: the folder to write")
    if options.corpus:
        raise Refused("--corpus is for inspect; heldout tokenizer train CORPUS… takes its text without a flag")
    refuse_taken(options.out)
    seen = Seen()
    found = (document.text for document in _shown(texts(options.sources, options, seen), options.sources, seen))
    trained = train(found, options, say)
    facts = _facts(trained.facts, options, seen)
    save(trained, options.out, facts)
    print(json.dumps(facts, indent=2, ensure_ascii=False) if options.json else summary(facts, options.out))
    return 0


def _facts(facts: dict[str, Any], options: Options, seen: Seen) -> dict[str, Any]:
    corpus = facts["corpus"] | {"sources": list(options.sources), "dropped": dict(sorted(seen.dropped.items()))}
    given = to_json(options)
    kept = [field.name for cls in (TrainOptions, CorpusOptions) for field in dataclasses.fields(cls)]
    return facts | {"corpus": corpus, "options": {name: given[name] for name in kept}}


def _inspect(options: Options) -> int:
    from heldout.tokenizer.inspection import inspect
    from heldout.tokenizer.saving import load

    # A tokenizer is a folder or a hub id: so "--corpus a.txt b.txt" is two texts, though b.txt stands for itself.
    folders = [source for source in options.sources if not Path(source).is_file()]
    corpus = (*options.corpus, *(source for source in options.sources if source not in folders))
    if not corpus:
        raise Refused("heldout tokenizer inspect needs --corpus CORPUS: text to cut up")
    if not folders:
        raise Refused("heldout tokenizer inspect needs DIR: a tokenizer's folder or hub id, before --corpus")
    for field in dataclasses.fields(TrainOptions):
        if getattr(options, field.name) != field.default:
            raise Refused(f"{flag(field.name)} is for train; a tokenizer that is inspected has its own")
    tokenizers = {name: load(name) for name in folders}
    seen = Seen()
    found = inspect(tokenizers, _shown(documents(corpus, options, seen), corpus, seen))
    print(json.dumps(found.to_json(seen), indent=2, ensure_ascii=False) if options.json else show(found, seen))
    return 0


def _shown(found: Iterator[Document], sources: tuple[str, ...], seen: Seen) -> Iterator[Document]:
    """The documents, with a bar of the bytes read."""
    total = size(sources)
    with progress("reading", total, "bytes", shown=total > 0) as advance:
        before = 0
        for document in found:
            if seen.bytes > before:
                advance(seen.bytes - before)
                before = seen.bytes
            yield document
