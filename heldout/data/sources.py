"""SOURCE: a path that exists (a file or a folder of reviews, ``aclImdb:test``), ``suite:NAME`` (made-up cases of the
task; ``heldout suite list``) or a hub id, org/name@config:split.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heldout.data import names as names_
from heldout.data.files import KNOWN, missing, suffix
from heldout.data.folders import read_folder, read_reviews
from heldout.data.golds import counted
from heldout.data.hub import read_hub
from heldout.data.names import Reading
from heldout.data.rows import Rows, hash_of
from heldout.data.suites import PREFIX, read_suite
from heldout.data.suites.shapes import unfolded
from heldout.data.table import Table
from heldout.data.tables import read_table
from heldout.errors import Refused
from heldout.ledger import Split
from heldout.options import nearest, option
from heldout.records import Example

#: How many labels an error names.
SHOWN = 20
HUB_ID = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(@(?P<config>[\w.-]+))?(:(?P<split>[\w.\[\]%:+-]+))?")


@dataclass(frozen=True)
class SourceOptions:
    """The options of every command that reads a SOURCE; each value may be meant for one split: NAME:VALUE."""

    column: tuple[str, ...] = option(
        (), "a column by its use: text, label, id, group, domain, pair", metavar="text=review"
    )
    label: tuple[str, ...] = option((), "a label by another name; FROM=- drops its rows", metavar="0=negative")
    header: tuple[str, ...] = option((), "the columns of a file that has no header line", metavar="text,label")
    delimiter: tuple[str, ...] = option((), "between columns: tab, space, comma, semicolon, pipe", metavar="DELIMITER")
    encoding: tuple[str, ...] = option((), "the encoding of files (utf-8 unless given)", metavar="ENCODING")
    clean: tuple[str, ...] = option((), "<br /> and entities: on, off or auto (on where seen)", metavar="auto|on|off")
    limit: int | None = option(None, "use N examples: a seeded sample, stratified by label", metavar="N")


@dataclass(frozen=True)
class Loaded:
    """One source as examples: its hash, what was dropped and why, what was noticed and kept, how it was cleaned.

    ``values`` are the label values as they stand in the source, which --label renames. ``examples`` are a tuple, or
    Rows on disk (large.py).
    """

    source: str
    examples: Sequence[Example]
    hash: str
    dropped: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    cleaning: tuple[str, ...] = ()
    values: frozenset[str] = frozenset()

    def keep(self, examples: Sequence[Example], *, dropped: Mapping[str, int] | None = None) -> "Loaded":
        """The same source with these of its examples; ``dropped`` is added to what was dropped."""
        more = {reason: n for reason, n in (dropped or {}).items() if n}
        kept = examples if isinstance(examples, Rows) else tuple(examples)
        # A pass over a million rows on disk takes seconds.
        same = isinstance(kept, Rows) and isinstance(self.examples, Rows) and len(kept) == len(self.examples)
        found = self.hash if same else hash_of(kept)
        return replace(self, examples=kept, hash=found, dropped={**self.dropped, **more})

    def noting(self, notes: Mapping[str, int]) -> "Loaded":
        """The same with more notes; those that count nothing are left out."""
        return replace(self, notes={**self.notes, **{key: n for key, n in notes.items() if n}})

    def split(self) -> Split:
        """The ledger's entry."""
        golds = self.examples.counted() if isinstance(self.examples, Rows) else counted(self.examples)
        return Split(self.source, self.hash, len(self.examples), golds, self.dropped, self.notes, self.cleaning)


def reading(options: SourceOptions, name: str, names: Collection[str]) -> Reading:
    """How to read split ``name``, one of all the call's ``names``; Refused for a value that means nothing."""

    def last(values: Sequence[str], default: str) -> str:
        return (names_.scoped(values, name, names) or [default])[-1]

    header = last(options.header, "")
    delimiter = last(options.delimiter, "")
    return Reading(
        columns=names_.columns(options.column, name, names),
        labels=names_.pairs("--label", options.label, name, names),
        header=tuple(column.strip() for column in header.split(",")) if header else (),
        delimiter=names_.delimiter(delimiter) if delimiter else "",
        encoding=names_.encoding(last(options.encoding, "utf-8")),
        clean=names_.choice("--clean", last(options.clean, "auto"), names_.CLEAN),
    )


def refuse_idle_labels(values: Sequence[str], loaded: Mapping[str, Loaded]) -> None:
    """Refused for a --label value that renames nothing in any of the splits: a typing error, or meant for another."""
    for value in values:
        renamed = {name: names_.pairs("--label", [value], name, loaded) for name in loaded}
        meant = [name for name in loaded if renamed[name]]
        there = sorted({known for name in meant for known in loaded[name].values})
        asked = next(left for name in meant for left in renamed[name])
        if asked not in there:
            shown = ", ".join(there[:SHOWN]) + (", …" if len(there) > SHOWN else "")
            raise Refused(
                f"--label {value}: no row of {', '.join(meant)} has the label {asked!r}{nearest(asked, there)}; "
                f"the labels there are {shown} (splits of this call: {', '.join(loaded)})"
            )


#: A file in the format of one task's data sets (CoNLL columns, SQuAD's nesting) as a table, None where it is not one.
Files = Callable[[Path, Reading], Table | None]


def read(source: str, reading: Reading, *, files: Files | None = None, keep: int | None = None, seed: int = 0) -> Table:
    """Read a source; with ``keep`` a hub set is streamed and only about that many rows of it are held in memory.

    ``files`` is asked first for a path.
    """
    path, split = _path(source)
    own = files(path, reading) if files is not None and path is not None and path.is_file() else None
    if own is not None:
        return own
    if path is not None and path.is_dir():
        return read_folder(path, split, reading)
    if path is not None:
        return (
            read_reviews(path, reading) if suffix(path) == ".review" else unfolded(read_table(path, reading), reading)
        )
    if source.startswith(PREFIX):
        return read_suite(source, reading.task, reading.known)
    hub = HUB_ID.fullmatch(source)
    if hub is None or suffix(Path(source)) in KNOWN:
        raise missing(Path(source))
    if hub["split"] is None:
        raise Refused(f"{source}: no such path; if it is a hub id, name its split: {source}:train")
    return read_hub(source, hub["name"], hub["config"], hub["split"], reading, keep=keep, seed=seed)


def _path(source: str) -> tuple[Path | None, str]:
    """The path that a source names, and the split after a folder's last colon; (None, "") where nothing is there."""
    if Path(source).exists():
        return Path(source), ""
    before, colon, split = source.rpartition(":")
    if colon and before and Path(before).is_dir():
        return Path(before), split
    if colon and before and Path(before).is_file():
        raise Refused(f"{source}: {before} is one file without splits; leave out :{split}")
    return None, ""
