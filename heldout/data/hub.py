"""Sets of the hub (or of a mirror that HF_ENDPOINT names) through ``datasets.load_dataset``; no code of theirs is run.

With a limit the split is streamed: every row (of the first million) is looked at once, those without label or text are
counted, and of the others a sample stratified by raw label is kept, the same rows for the same seed: a set sorted by
label (IMDb) is not cut to one label, a large one fits in memory.
"""

import heapq
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from heldout.data.defaults import LABEL, TEXT
from heldout.data.duplicates import fold
from heldout.data.labels import label_names, raw_label, with_numbers
from heldout.data.names import Reading
from heldout.data.sampling import order, quotas
from heldout.data.table import Row, Table, column
from heldout.errors import Failed, Refused

#: How many rows of a stream are looked at before the sample is taken; ``stopped_looking_after_rows`` says it was hit.
LOOK = 1_000_000


def read_hub(
    source: str, name: str, config: str | None, split: str, reading: Reading, *, keep: int | None, seed: int
) -> Table:
    """Load one split of a hub set; Refused where name, config or split is not there, Failed where no hub answers."""
    data = load_split(source, name, config, split, streaming=keep is not None)
    features = data.features or {}
    # A list of ClassLabels (tags of words) names them inside.
    inside = {key: getattr(value, "feature", value) for key, value in features.items()}
    names = {key: list(value.names) for key, value in inside.items() if hasattr(value, "names")}
    rows = (Row(f"row {number}", number, values) for number, values in enumerate(rows_of(source, data), 1))
    stem = split if split.isalnum() else "hub"
    if keep is None:
        return Table(source, stem, tuple(features), list(rows), names=names, markup=_is_imdb(name))
    table = Table(source, stem, tuple(features), (), names=names, markup=_is_imdb(name))
    return _sample(table, rows, reading, keep, seed)


def _is_imdb(name: str) -> bool:
    return name.split("/")[-1].lower() in ("imdb", "aclimdb")


def load_split(source: str, name: str, config: str | None, split: str, *, streaming: bool) -> Any:
    """A split of a hub set as ``datasets`` has it; Refused or Failed as ``read_hub`` says."""
    import datasets

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    try:
        return datasets.load_dataset(name, config, split=split, streaming=streaming)
    except datasets.exceptions.DatasetNotFoundError as error:
        raise Refused(
            f"{source}: no such path, and the hub has no such set that is open to you ({_line(error)})"
        ) from None
    except (ValueError, FileNotFoundError, RuntimeError, datasets.exceptions.DatasetsError) as error:
        raise Refused(f"{source}: {_line(error)}") from None
    except OSError as error:
        raise Failed(f"{source}: no such path, and the hub could not be read ({_line(error)})") from None


def rows_of(source: str, data: Any) -> Iterator[Mapping[str, Any]]:
    """The rows of a split; Failed where the hub stops answering, Refused where its files cannot be read."""
    try:
        yield from data
    except OSError as error:
        raise Failed(f"{source}: the hub stopped answering ({_line(error)}); run again") from None
    except ValueError as error:
        raise Refused(f"{source}: its files cannot be read ({_line(error)})") from None


def _line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _sample(table: Table, rows: Iterator[Row], reading: Reading, keep: int, seed: int) -> Table:
    """Of each raw label the rows first in the seed's order; twice ``keep`` in all, as --exclude may take some out."""
    first = next(rows, None)
    if first is None:
        return table
    table = replace(table, columns=table.columns or tuple(first.values))
    label = column(table, reading.columns.get("label"), LABEL, "label")
    text = column(table, reading.columns.get("text"), TEXT, "text")
    classes, room = table.names.get(label or "", ()), 2 * keep
    heaps: dict[str, list[tuple[int, int, Row]]] = {}
    counts, dropped, values, seen, stopped = Counter[str](), Counter[str](), set[str](), 0, 0
    for row in chain([first], rows):
        if seen == LOOK:
            stopped = LOOK
            break
        seen += 1
        value = raw_label(row.values.get(label or ""), classes)
        # A row without one text (a question and its passage) takes its place in the seed's order by all its values.
        words = str(row.values.get(text) or "").strip() if text else str(row.values)
        values.add(value)
        if label and label_names([value], with_numbers(reading.labels, classes))[value] is None:
            dropped["no_label"] += 1
        elif text and not words:
            dropped["empty_text"] += 1
        else:
            counts[value] += 1
            _push(heaps.setdefault(value, []), room, (-order(seed, fold(words)), -row.number, row))
    share = quotas(counts, min(room, counts.total()))
    kept = [entry[2] for value, heap in heaps.items() for entry in sorted(heap, reverse=True)[: share[value]]]
    left_out = counts.total() - len(kept)
    found = {"rows_streamed": seen, "stopped_looking_after_rows": stopped, "left_out_by_limit": left_out}
    notes = {key: n for key, n in found.items() if n}
    kept.sort(key=lambda row: row.number)
    return replace(table, rows=kept, notes=notes, dropped=dict(dropped), values=frozenset(values))


def _push(heap: list[tuple[int, int, Row]], room: int, entry: tuple[int, int, Row]) -> None:
    """Keep the ``room`` largest entries."""
    if len(heap) < room:
        heapq.heappush(heap, entry)
    elif entry > heap[0]:
        heapq.heapreplace(heap, entry)
