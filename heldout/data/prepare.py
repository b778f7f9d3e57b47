"""Every split of a run, read, checked, carved and compared, with the ledger that says all of it.

The order, and why: load, so that drops are counted on what the source holds; take out what --exclude names, before
anything is measured on train; check; carve dev from all of train, so that runs with different --limit share their dev
(with --dev-size, as --dev-share is of what is trained on, and not from the hub, where --limit says what is streamed);
cut train to --limit, so that ``--limit 2000 --dev-size 500`` gives 2,000 and 500; then mark the texts of dev and tests
that also stand in the train that is left.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from heldout.data import carving
from heldout.data.compared import compared
from heldout.data.duplicates import counted, fold
from heldout.data.fitted import refusal, same_place, write_train_texts
from heldout.data.large import is_large, read_large
from heldout.data.many import ManyTexts, orders
from heldout.data.names import Reading
from heldout.data.parts import joined, load_part
from heldout.data.rows import Rows, hash_of, representatives, take
from heldout.data.sources import Loaded, SourceOptions, read, reading, refuse_idle_labels
from heldout.data.splits import carve, limited
from heldout.data.suites.surface import parse_surface, refuse_surface, surfaced
from heldout.data.task import Data, load_task
from heldout.data.texts import Texts
from heldout.errors import Refused
from heldout.ledger import Ledger, write_ledger
from heldout.options import option
from heldout.records import Card, Example
from heldout.runs import write_json, write_lines

#: Names that a test set cannot have: splits of every run, and the scope of --exclude's options.
RESERVED = ("train", "dev", "exclude")


@dataclass(frozen=True)
class PrepareOptions(SourceOptions):
    """The options of commands that train: how the splits come about. ``limit`` is train's."""

    limit: int | None = option(None, "train on N examples: a seeded sample, stratified by label", metavar="N")
    limit_test: int | None = option(None, "score N examples of each test, a sample like train's", metavar="N")
    dev_share: float = option(0.1, "the share of train that becomes dev where no --dev is given", metavar="SHARE")
    dev_size: int | None = option(None, "examples of dev, instead of a share", metavar="N")
    exclude: tuple[str, ...] = option((), "take texts that stand here, or nearly, out of train", metavar="SOURCE")
    allow_fitted_test: bool = option(False, "score a test set that was trained or chosen on; the report says so")


@dataclass(frozen=True)
class Prepared:
    """The card, the splits by name ("train", "dev", then the tests in their order) and the ledger."""

    card: Card
    splits: Mapping[str, Loaded]
    ledger: Ledger

    def write(self, folder: Path) -> None:
        """Write card.json, gold/NAME.jsonl of dev and the tests, train-texts.json (fingerprints) and ledger.json."""
        write_json(folder / "card.json", self.card.to_json())
        write_train_texts(folder, self.splits["train"].examples)
        for name, loaded in self.splits.items():
            if name != "train":
                write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in loaded.examples))
        write_ledger(folder, self.ledger)


def load(
    task: str,
    source: str,
    options: SourceOptions,
    *,
    name: str = "data",
    names: Collection[str] = (),
    labels: Collection[str] = (),
    limit: int | None = None,
    seed: int = 0,
    goldless: bool = False,
) -> Loaded:
    """One source as a task's examples; any label outside ``labels``, where they are given, is Refused with its row.

    ``name`` is the split's, among all ``names`` of the call, by which NAME:VALUE options are meant for it.
    ``goldless``: changes that are judged by their originals alone are kept without a label (suites/goldless.py).
    """
    how, surface = replace(reading(options, name, names or (name,)), goldless=goldless), parse_surface(source)
    loaded = _load(load_task(task), surface.source if surface else source, how, labels, keep=limit, seed=seed)
    kept = loaded if limit is None else _sampled(loaded, _few(loaded.examples, limit, seed))
    return surfaced(kept, surface, source) if surface else kept


def _load(data: Data, source: str, how: Reading, labels: Collection[str], *, keep: int | None, seed: int) -> Loaded:
    refuse_surface(source)
    how = replace(how, task=data.name, known=tuple(labels))
    if data.large is not None and is_large(Path(source), how):
        return read_large(Path(source), data.name, data.large, how, labels)
    return load_part(source, how, lambda table: data.read(table, how, labels), files=data.files, keep=keep, seed=seed)


def _few(examples: Sequence[Example], size: int, seed: int) -> Sequence[Example]:
    if not isinstance(examples, Rows):
        return limited(examples, size, seed=seed)
    return examples.take(carving.sampled(orders(examples, seed), examples.column("code"), size))


def _sampled(loaded: Loaded, kept: Sequence[Example]) -> Loaded:
    """A sample of a source; what the limit left out is counted, with what a stream's sample left out before."""
    left_out = loaded.notes.get("left_out_by_limit", 0) + len(loaded.examples) - len(kept)
    return loaded.keep(kept).noting({"left_out_by_limit": left_out})


def parse_tests(tests: Sequence[str], flag: str = "--test") -> dict[str, str]:
    """The test sets of NAME=SOURCE values, in order; Refused for a name that is doubled or cannot name a file."""
    found: dict[str, str] = {}
    for value in tests:
        name, equals, source = value.partition("=")
        if not equals or not source:
            raise Refused(f"{flag} {value}: write NAME=SOURCE, such as {flag} yelp={value or 'yelp.csv'}")
        if name in found:
            raise Refused(f"{flag} {value}: {name!r} names {found[name]} already; choose another name")
        if not re.fullmatch(r"[\w-][\w.-]*", name) or name in RESERVED:
            raise Refused(f"{flag} {value}: {name!r} cannot name a test set; use letters and digits, such as yelp")
        found[name] = source
    return found


def prepare(
    task: str,
    *,
    train: str | Sequence[str],
    dev: str | None,
    tests: Mapping[str, str],
    options: PrepareOptions,
    seed: int,
    card: Card | None = None,
    unlabelled: bool = False,
    unread: Collection[str] = (),
) -> Prepared:
    """Read and check all splits of a run; Refused with the source, the row and what to do where they cannot be used.

    Several sources of ``train`` are one train. Without a ``dev`` (None or "") one is carved from it. A ``card`` that is
    given stands instead of the one that train's labels make; with it, ``unlabelled`` rows of train may be kept, whose
    gold is None. ``unread`` names tests of the call that are left alone, so that options meant for them may stand.
    """
    _check(options)
    parse_tests([f"{name}={source}" for name, source in tests.items()])
    data = load_task(task)
    names = [*RESERVED, *tests, *unread]
    keep = None if options.limit is None else options.limit + _dev_size(options, options.limit)
    how = replace(reading(options, "train", names), unlabelled=unlabelled)
    sources = [train] if isinstance(train, str) else train
    given = card.labels if card else ()
    loaded = {"train": joined([_load(data, source, how, given, keep=keep, seed=seed) for source in sources])}
    if not dev and any(example.gold is None for example in representatives(loaded["train"].examples)):
        raise Refused(f"{loaded['train'].source}: has rows without a label, so no dev can be carved; give --dev SOURCE")
    card = card or data.card(representatives(loaded["train"].examples))
    if card.kind != "span" and len(card.labels) < 2:
        every = f"{loaded['train'].source}: every example is {card.labels[0]!r}"
        raise Refused(f"{every}; a classifier needs two labels or more in train")
    known = [*card.labels, *card.collapse.values()]
    for name, source in (({"dev": dev} if dev else {}) | dict(tests)).items():
        limit = options.dev_size if name == "dev" else options.limit_test
        loaded[name] = load(task, source, options, name=name, names=names, labels=known, limit=limit, seed=seed)
    if not unread:
        refuse_idle_labels(options.label, loaded)
    held = not any(isinstance(split.examples, Rows) for split in loaded.values())
    texts = (Texts if held else ManyTexts)(loaded, _excluded(data, options, names), key=data.key)
    loaded["train"] = _without_excluded(loaded["train"], texts, card, unlabelled=unlabelled)
    for name in loaded:
        loaded[name] = loaded[name].noting(_fitted(name, loaded, texts, options))
    train_source = loaded["train"]
    if "dev" not in loaded:
        train_source, carved = _carve(train_source, texts, options, seed)
        loaded = {"train": train_source, "dev": carved} | {name: loaded[name] for name in tests}
    loaded["train"] = _limit(train_source, texts, options, seed)
    for name in loaded.keys() - {"train"}:
        loaded[name] = replace(loaded[name], examples=data.mark(loaded["train"].examples, loaded[name].examples))
    return Prepared(card, *compared(loaded, texts, carved=not dev))


def _check(options: PrepareOptions) -> None:
    if not 0 < options.dev_share < 1:
        raise Refused(f"--dev-share {options.dev_share}: give a share between 0 and 1, such as 0.1")
    for flag, value in (("limit", options.limit), ("limit-test", options.limit_test), ("dev-size", options.dev_size)):
        if value is not None and value < 1:
            raise Refused(f"--{flag} {value}: give 1 or more")


def _dev_size(options: PrepareOptions, n: int) -> int:
    """How many examples the carved dev holds where train (after --limit) has ``n``."""
    return options.dev_size if options.dev_size is not None else max(1, round(options.dev_share * n))


def _excluded(data: Data, options: PrepareOptions, names: Collection[str]) -> list[str]:
    how = reading(options, "exclude", names)
    return [fold(text) for source in options.exclude for text in data.texts(read(source, how, files=data.files), how)]


def _without_excluded(train: Loaded, texts: Texts, card: Card, *, unlabelled: bool) -> Loaded:
    """Train without the examples whose text stands, or nearly stands, in an --exclude source."""
    found = texts.matches(texts.positions("train", train.examples), texts.excluded)
    kept = take(train.examples, [place for place, match in enumerate(found) if match is None])
    # Gold of words and of spans is a list, and no label can be lost.
    left = {example.gold for example in representatives(kept)} if kept and card.kind == "label" else set()
    lost = [label for label in card.labels if label not in left] if card.kind == "label" else []
    if lost and not unlabelled:
        raise Refused(f"{train.source}: --exclude takes out every example of {lost[0]!r}; nothing is left to learn")
    return train.keep(kept, dropped={f"excluded_{match}": n for match, n in counted(found).items()})


def _fitted(name: str, loaded: Mapping[str, Loaded], texts: Texts, options: PrepareOptions) -> dict[str, int]:
    """Notes on a split that is, whole, one that the model is trained or chosen on; Refused unless that is allowed."""
    notes = {}
    for earlier in {"train": (), "dev": ("train",)}.get(name, ("train", "dev")):
        if earlier not in loaded:
            continue
        mine, theirs = loaded[name], loaded[earlier]
        found = texts.matches(texts.positions(name, mine.examples), texts.positions(earlier, theirs.examples))
        if same_place(mine.source, theirs.source) or set(found) == {"exact"}:
            if not options.allow_fitted_test:
                what = f"--test {name}={mine.source}" if name != "dev" else f"--dev {mine.source}"
                raise refusal(what, f"all {len(found)} of its texts stand in {earlier} ({theirs.source})")
            notes[f"stands_whole_in_{earlier}"] = len(found)
    return notes


def _carve(train: Loaded, texts: Texts, options: PrepareOptions, seed: int) -> tuple[Loaded, Loaded]:
    n = len(train.examples)
    size = _dev_size(options, n if options.limit is None else min(options.limit, n))
    rest, dev = _parted(train.examples, texts, size, seed)
    carved = Loaded(f"{train.source} (carved from train)", dev, hash_of(dev), cleaning=train.cleaning)
    return train.keep(rest).noting({"carved_as_dev": len(dev)}), carved


def _parted(
    examples: Sequence[Example], texts: Texts, size: int, seed: int
) -> tuple[Sequence[Example], Sequence[Example]]:
    """Train and dev."""
    if isinstance(examples, Rows):
        marks = [carving.numbered(column) for column in (examples.groups, examples.column("pair"))]
        clusters = np.array(texts.clusters_of("train", examples))
        units = carving.components(len(examples), [clusters, *marks])
        taken = carving.carved(orders(examples, seed), units, examples.column("code"), size)
        return examples.take(~taken), examples.take(taken)
    folds, clusters_ = texts.folds_of("train", examples), texts.clusters_of("train", examples)
    rest, dev = carve(examples, size, seed=seed, folds=folds, clusters=clusters_)
    return tuple(rest), tuple(dev)


def _limit(train: Loaded, texts: Texts, options: PrepareOptions, seed: int) -> Loaded:
    if options.limit is None:
        return train
    if isinstance(train.examples, Rows):
        return _sampled(train, _few(train.examples, options.limit, seed))
    kept = limited(train.examples, options.limit, seed=seed, folds=texts.folds_of("train", train.examples))
    return _sampled(train, kept)
