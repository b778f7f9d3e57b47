"""What a pretraining works on: tokenizer, corpus, its rows for training, its fixed windows for dev and test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from accelerate import Accelerator
from accelerate.utils import broadcast_object_list
from transformers import PreTrainedTokenizerFast

from heldout.data.corpus import documents, size
from heldout.data.streams import Seen
from heldout.errors import Refused
from heldout.pretrain import frames
from heldout.pretrain.frames import Frame
from heldout.pretrain.masking import IntArray, Masking
from heldout.pretrain.objectives import collate_rows, generator_of, make_windows
from heldout.pretrain.options import Objective, PretrainOptions
from heldout.pretrain.pairs import pair_rows
from heldout.pretrain.rows import Rows, plain_rows
from heldout.pretrain.sentences import Splitter, resolve
from heldout.pretrain.split import split
from heldout.pretrain.store import Corpus, load, opened
from heldout.records import Example
from heldout.train.models import load_tokenizer
from heldout.train.plan import Step
from heldout.train.progress import progress
from heldout.train.untrusted import Source
from heldout.train.windows import Batch, Window

#: What is drawn once: (FIXED, number of the split); what is drawn for a step: (STEP, its number).
FIXED, STEP = 0, 1


@dataclass(frozen=True)
class Held:
    """A held-out split: its windows, masked once and for all, and their gold records in the same order."""

    windows: Sequence[Window]
    examples: Sequence[Example]


@dataclass(frozen=True)
class Material:
    """Everything but the model. ``phases`` are train's rows for each length of the schedule; ``dropped`` and ``notes``
    count what was left out of the corpus and of train."""

    objective: Objective
    seed: int
    tokenizer: PreTrainedTokenizerFast
    frame: Frame
    masking: Masking | None
    corpus: Corpus
    parts: Mapping[str, IntArray]
    phases: Sequence[Rows]
    held: Mapping[str, Held]
    dropped: Mapping[str, int]

    def windows(self, step: Step) -> list[Window]:
        """The windows of a step, masked afresh: a function of the seed and the step's number."""
        first, phase = 0, self.phases[0]
        for phase in self.phases:
            if step.rows[0] < first + len(phase):
                break
            first += len(phase)
        generator = generator_of(self.seed, STEP, step.number)
        return make_windows(phase.make, [row - first for row in step.rows], self.masking, generator)

    def collate(self, windows: Sequence[Window]) -> Batch:
        """Windows as tensors."""
        pad = self.tokenizer.pad_token_id
        assert isinstance(pad, int)
        return collate_rows(windows, pad, causal=self.objective == "clm")


def prepare(options: PretrainOptions, seed: int, folder: Path, accelerator: Accelerator) -> Material:
    """Read, tokenise (or find in the cache), split and cut the corpus."""
    longest = max(length for length, _ in options.schedule)
    tokenizer = load_tokenizer(_tokenizer_source(options), longest)
    frame = _frame(options.objective, tokenizer)
    masking = None if options.objective == "clm" else _masking(tokenizer, whole_words=options.whole_words)
    splitter = resolve(options.sentences) if options.objective == "mlm-nsp" else None
    corpus, dropped = _corpus(options, folder, tokenizer, splitter, accelerator)
    parts = split(corpus, options.held_out, seed)
    rows = partial(_rows, options, corpus, frame)
    phases = [rows(parts["train"], length, pack=options.pack) for length, _ in options.schedule]
    last = options.schedule[-1][0]
    held = {}
    for number, name in enumerate(("dev", "test")):
        generator = generator_of(seed, FIXED, number)
        some = rows(parts[name], last, pack=False)
        chosen = np.sort(generator.permutation(len(some))[: options.held_out_rows])
        windows = make_windows(some.make, chosen.tolist(), masking, generator)
        held[name] = Held(windows, _gold(corpus, some.document[chosen], windows, tokenizer))
    return Material(
        options.objective,
        seed,
        tokenizer,
        frame,
        masking,
        corpus,
        parts,
        phases,
        held,
        {**dropped, **corpus.dropped, **phases[-1].notes},
    )


def _tokenizer_source(options: PretrainOptions) -> Source:
    name = options.tokenizer or options.model or options.teacher
    assert name is not None
    return Source(name, options.trust_remote_code)


def _frame(objective: Objective, tokenizer: PreTrainedTokenizerFast) -> Frame:
    makers = {"mlm": frames.single, "mlm-nsp": frames.pair, "clm": frames.causal}
    return makers[objective](tokenizer)


def _masking(tokenizer: PreTrainedTokenizerFast, *, whole_words: bool) -> Masking:
    mask = tokenizer.mask_token_id
    if not isinstance(mask, int):
        raise Refused(f"{tokenizer.name_or_path}: its tokenizer has no mask token; use another or --objective clm")
    return Masking(mask, frames.special_ids(tokenizer, len(tokenizer)), whole_words)


def _corpus(
    options: PretrainOptions,
    folder: Path,
    tokenizer: PreTrainedTokenizerFast,
    splitter: Splitter | None,
    accelerator: Accelerator,
) -> tuple[Corpus, Mapping[str, int]]:
    """The corpus and what its reader left out; one process reads and tokenises, the others wait and map its files."""
    cache = Path(options.cache) if options.cache else folder / "cache"
    main = accelerator.is_main_process
    seen: list[Seen] = []

    def read() -> Any:
        seen.append(Seen())
        return _watched(options, seen[-1], "reading" if len(seen) == 1 else "tokenising", shown=main)

    told: list[Any] = [None]
    if main:
        corpus = load(cache, read, tokenizer, splitter)
        told = [(corpus.key, seen[0].dropped)]
    key, dropped = broadcast_object_list(told)[0]
    return corpus if main else opened(cache / key), dropped


def _watched(options: PretrainOptions, seen: Seen, what: str, *, shown: bool) -> Any:
    """The documents with a progress bar over the bytes of their files."""
    told = 0
    with progress(what, size(options.corpus), "bytes", shown=shown) as advance:
        for document in documents(options.corpus, options, seen):
            if seen.bytes > told:
                advance(seen.bytes - told)
                told = seen.bytes
            yield document


def _rows(options: PretrainOptions, corpus: Corpus, frame: Frame, chosen: IntArray, length: int, *, pack: bool) -> Rows:
    if options.objective == "mlm-nsp":
        return pair_rows(corpus, chosen, frame, length)
    return plain_rows(corpus, chosen, frame, length, pack=pack, whole_end=options.objective == "clm")


def _gold(
    corpus: Corpus, document: IntArray, windows: Sequence[Window], tokenizer: PreTrainedTokenizerFast
) -> list[Example]:
    """Gold records: the text as the model sees it, the tokens it must predict in order, whether B is the true next."""
    examples = []
    for number, (owner, window) in enumerate(zip(document, windows, strict=True)):
        gold: dict[str, Any] = {"n": len(window.target.at)}
        gold["tokens"] = tokenizer.convert_ids_to_tokens(list(window.target.tokens))
        if window.target.next is not None:
            gold["next"] = window.target.next == 0
        name = corpus.name(int(owner))
        text = tokenizer.decode(list(window.inputs["input_ids"]))
        about = {"domain": corpus.domains[corpus.domain[owner]], "group": name}
        examples.append(Example(f"{name}/{number}", {"text": text}, gold, about))
    return examples
