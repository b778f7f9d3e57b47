"""Sets of the hub (or of a mirror that HF_ENDPOINT names) through ``datasets.load_dataset``; no code of theirs is run.

With a limit the split is streamed: every row is looked at once, and a sample stratified by its raw labels is kept,
the same rows for the same seed: a set sorted by label (IMDb) is not cut to one label, a large one fits in memory.
"""

import heapq
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from heldout.data.defaults import LABEL, TEXT
from heldout.data.duplicates import fold
from heldout.data.names import Reading
from heldout.data.sampling import order, quotas
from heldout.data.table import Row, Table, column
from heldout.errors import Failed, Refused

#: How many rows of a stream are looked at before the sample is taken; the note ``rows_streamed`` shows when it was hit.
LOOK = 1_000_000


def read_hub(
    source: str, name: str, config: str | None, split: str, reading: Reading, *, keep: int | None, seed: int
) -> Table:
    """Load one split of a hub set; Refused where name, config or split is not there, Failed where no hub answers."""
    data = _load(source, name, config, split, streaming=keep is not None)
    features = data.features or {}
    names = {key: list(value.names) for key, value in features.items() if hasattr(value, "names")}
    rows = (Row(f"row {number}", number, values) for number, values in enumerate(_rows(source, data), 1))
    stem = split if split.isalnum() else "hub"
    if keep is None:
        return Table(source, stem, tuple(features), list(rows), names=names, markup=_is_imdb(name))
    kept, seen = _sample(Table(source, stem, tuple(features), ()), rows, reading, keep, seed)
    columns = tuple(features) or tuple(dict.fromkeys(key for row in kept for key in row.values))
    return Table(source, stem, columns, kept, names=names, notes={"rows_streamed": seen}, markup=_is_imdb(name))


def _is_imdb(name: str) -> bool:
    return name.split("/")[-1].lower() in ("imdb", "aclimdb")


def _load(source: str, name: str, config: str | None, split: str, *, streaming: bool) -> Any:
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


def _rows(source: str, data: Any) -> Iterator[Mapping[str, Any]]:
    try:
        yield from data
    except OSError as error:
        raise Failed(f"{source}: the hub stopped answering ({_line(error)}); run again") from None
    except ValueError as error:
        raise Refused(f"{source}: its files cannot be read ({_line(error)})") from None


def _line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__


def _sample(table: Table, rows: Iterable[Row], reading: Reading, keep: int, seed: int) -> tuple[list[Row], int]:
    """Of each raw label the rows first in the seed's order; twice ``keep`` in all, as some will be dropped."""
    heaps: dict[str, list[tuple[int, int, Row]]] = {}
    counts: Counter[str] = Counter()
    room = 2 * keep
    for row in rows:
        if not counts:
            table = Table(table.source, table.stem, table.columns or tuple(row.values), ())
            label = column(table, reading.columns.get("label"), LABEL, "label")
            text = column(table, reading.columns.get("text"), TEXT, "text")
        value = str(row.values.get(label or ""))
        counts[value] += 1
        entry = (-order(seed, fold(str(row.values.get(text or "")))), -row.number, row)
        heap = heaps.setdefault(value, [])
        if len(heap) < room:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
        if counts.total() == LOOK:
            break
    share = quotas(counts, min(room, counts.total()))
    kept = [entry[2] for value, heap in heaps.items() for entry in sorted(heap, reverse=True)[: share[value]]]
    return sorted(kept, key=lambda row: row.number), counts.total()
