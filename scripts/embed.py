"""Words as vectors: train word2vec, fastText or GloVe (train), and find out what their geometry is worth (judge).

    heldout embed train reviews.jsonl.gz --kind skipgram --size 100 --again seed=2 --again window=10 --out vectors
    heldout embed train wiki.txt --kind glove --window 10 --epochs 25 --out glove --resume
    heldout embed judge vectors --word soldier --passages soldier --analogies questions.txt --similarity pairs.tsv
    heldout embed judge GoogleNews.bin --pair king,queen
    heldout embed compare MODEL --word bank --sentences sentences.txt
    heldout embed probe MODEL --task ner --data wnut17/emerging.test.annotated
    heldout embed probe MODEL --task pos

A high cosine means little where all vectors crowd together, so judge begins with random pairs of frequent words, and
every neighbour is held against the runs that --again trains under other seeds and windows. compare shows that a word
has one static row and as many contextual states as sentences; probe asks each layer of an encoder what it knows.
"""

import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from heldout.data.streams import Seen
from heldout.embeddings.files import NAME, read_vectors, write_vectors
from heldout.embeddings.glove import train_glove
from heldout.embeddings.judge import JudgeOptions, judge, show
from heldout.embeddings.options import VectorOptions, varied
from heldout.embeddings.text import Sentences, TextOptions, write_sentences
from heldout.embeddings.vectors import Vectors
from heldout.embeddings.word2vec import load_gensim, train_gensim
from heldout.errors import Refused
from heldout.options import flag, option, positional, to_json
from heldout.runs import environment, read_json, refuse_taken, write_json, writing

SENTENCES, AGAIN = "sentences.txt", "again"
#: Changing these does not change the vectors that a run was begun for.
FREE = {"action", "resume", "json", *(field.name for field in fields(JudgeOptions))}


@dataclass(frozen=True)
class Options(JudgeOptions, VectorOptions, TextOptions):
    """What ``heldout embed`` takes."""

    action: Literal["train", "judge", "compare", "probe"] = positional("train on text; judge, compare or probe")
    sources: tuple[str, ...] = positional("train: text to learn from; judge: vectors; else: a model", metavar="SOURCE")
    out: Path | None = option(None, "train: the folder to write", metavar="DIR")
    again: tuple[str, ...] = option((), "train: once more with this changed, to judge neighbours by", metavar="seed=7")
    save_as: tuple[Path, ...] = option((), "train: write word2vec's own formats too: .txt or .bin", metavar="FILE")
    resume: bool = option(False, "train: continue a run that was stopped")
    sentences: Path | None = option(None, "compare: a text a line, each with the word", metavar="FILE")
    task: Literal["ner", "pos", "sentiment"] = option("ner", "probe: what the layers are asked")
    data: str = option("", "probe: examples, of which a quarter is scored (pos: our own by default)", metavar="SOURCE")
    limit: int = option(1000, "probe: examples used at most")
    json: bool = option(False, "print the account as JSON")


def run(options: Options) -> int:
    """Do one of the four, and print its account."""
    account, text = {"train": _train, "judge": _judge, "compare": _compare, "probe": _probe}[options.action](options)
    print(json.dumps(account, indent=2, ensure_ascii=False) if options.json else text)
    return 0


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def _train(options: Options) -> tuple[dict[str, Any], str]:
    if options.out is None:
        raise Refused("heldout embed train needs --out DIR: the folder to write")
    out, others = options.out, varied(options, options.again)
    if options.kind != "glove":
        load_gensim()
    _check_resume(out, options)
    with writing(out, resume=options.resume):
        write_json(out / "options.json", to_json(options))
        write_json(out / "environment.json", environment())
        sentences, dropped = _sentences(out, options)
        facts = {"kind": options.kind, "dropped": dropped}
        facts |= _one(sentences, options, out / NAME, out / "glove", options)
        for name, changed in others.items():
            _say(f"once more with {name}")
            _one(sentences, changed, out / AGAIN / f"{name}.safetensors", out / AGAIN / name, options)
        write_json(out / "training.json", facts)
        vectors = read_vectors(out)
        for path in options.save_as:
            write_vectors(vectors, path)
    account, text = _judged(out, options)
    return {"training": facts, **account}, f"{_summary(facts, out)}\n{text}"


def _check_resume(out: Path, options: Options) -> None:
    if not options.resume:
        refuse_taken(out)
    elif options.kind != "glove":
        raise Refused(f"--resume: gensim keeps the state of {options.kind} as a pickle only; train into another --out")
    elif (out / "options.json").exists():
        before, now = read_json(out / "options.json"), to_json(options)
        changed = [name for name in now if name not in FREE and now[name] != before.get(name)]
        if changed:
            raise Refused(f"{out}: was begun with {flag(changed[0])} {before.get(changed[0])}; continue it as it was")


def _sentences(out: Path, options: Options) -> tuple[Sentences, dict[str, int]]:
    """The corpus as sentences, kept in the folder: for --passages, and so that a run can be continued."""
    path, counted = out / SENTENCES, out / "dropped.json"
    if not (options.resume and path.exists() and counted.exists()):
        seen = Seen()
        write_sentences(options.sources, options, path, seen)
        write_json(counted, dict(sorted(seen.dropped.items())))
    return Sentences(path), read_json(counted)


def _one(sentences: Sentences, options: VectorOptions, path: Path, work: Path, all_: Options) -> dict[str, Any]:
    """Train one table and write it; what was measured."""
    begun = time.perf_counter()
    if options.kind == "glove":
        vectors, facts = train_glove(sentences, options, work, _say, resume=all_.resume)
    else:
        vectors, facts = train_gensim(sentences, options, _say), {}
    seconds = time.perf_counter() - begun
    write_vectors(vectors, path)
    words = sum(map(len, sentences))
    found = {"corpus_words": words, "vocabulary": len(vectors.words), "seconds": round(seconds, 2)}
    epochs = facts.pop("epochs_now", options.passes)
    return {**found, "words_a_second": round(words * epochs / seconds), **facts}


def _summary(facts: Mapping[str, Any], out: Path) -> str:
    left_out = "".join(f", {n:,} {name.replace('_', ' ')}" for name, n in facts["dropped"].items())
    return (
        f"{out}: {facts['vocabulary']:,} words from {facts['corpus_words']:,}{left_out}; {facts['kind']} took "
        f"{facts['seconds']:.1f} s, {facts['words_a_second']:,} words a second over all epochs\n"
    )


def _judge(options: Options) -> tuple[dict[str, Any], str]:
    if len(options.sources) != 1:
        raise Refused(f"heldout embed judge takes one table of vectors, not {len(options.sources)}")
    for field in (*fields(VectorOptions), *fields(TextOptions)):
        if field.name != "seed" and getattr(options, field.name) != field.default:
            raise Refused(f"{flag(field.name)} is for train; vectors that are judged were trained before")
    return _judged(Path(options.sources[0]), options)


def _judged(path: Path, options: Options) -> tuple[dict[str, Any], str]:
    vectors = read_vectors(path)
    sentences = Sentences(path / SENTENCES) if (path / SENTENCES).is_file() else None
    account = judge(vectors, options, _others(path), sentences, options.seed)
    return account, show(account, vectors)


def _others(path: Path) -> dict[str, Vectors]:
    return {file.stem: read_vectors(file) for file in sorted((path / AGAIN).glob("*.safetensors"))}


def _compare(options: Options) -> tuple[dict[str, Any], str]:
    if options.sentences is None or len(options.word) != 1 or len(options.sources) != 1:
        raise Refused("heldout embed compare needs one MODEL, one --word and --sentences FILE, a text a line")
    # With torch, so only here.
    from heldout.checks.contextual import compare, show

    account = compare(options.sources[0], options.word[0], options.sentences)
    return account, show(account)


def _probe(options: Options) -> tuple[dict[str, Any], str]:
    if not (options.data or options.task == "pos") or len(options.sources) != 1:
        raise Refused(
            "heldout embed probe needs one MODEL and --data SOURCE: labelled examples (--task pos has its own)"
        )
    from heldout.checks.layers import probe, show

    account = probe(options.sources[0], options.task, options.data, limit=options.limit, seed=options.seed)
    return account, show(account)
