"""Several sources as one train, and a part of a source: the articles (documents, films) that a file names.

    --train squad/dev-v1.1.json#squad/halves.json:half_A --train squadshifts/new_wiki_v1.0.json
    --test half_b=squad/dev-v1.1.json#squad/halves.json:half_B

What stands behind # is a file of group names, one a line, or JSON: a list of them, or an object of such lists, of
which KEY (or the beginning of it) picks one. ``about.article``, where there is one, or ``about.group`` is the name.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.data.files import read_text
from heldout.data.names import Reading
from heldout.data.rows import Rows
from heldout.data.sources import SHOWN, Files, Loaded, read
from heldout.data.table import Table
from heldout.errors import Refused
from heldout.records import Example, content_hash

#: Between the sources of a train that was read from several.
PLUS = " + "


def load_part(
    source: str, how: Reading, make: Callable[[Table], Loaded], *, files: Files | None, keep: int | None, seed: int
) -> Loaded:
    """Read SOURCE or SOURCE#FILE[:KEY] and make examples of it; what the named groups leave out is counted."""
    whole, mark, names = source.rpartition("#")
    if not mark or Path(source).exists():
        return make(read(source, how, files=files, keep=keep, seed=seed))
    # A sample of a stream, of which the groups leave a part, would fall short of what was asked for.
    loaded = make(read(whole, how, files=files, seed=seed))
    wanted = _group_names(names)
    kept = [example for example in loaded.examples if _group(example) in wanted]
    if not kept:
        there = sorted({_group(example) for example in loaded.examples})
        shown = ", ".join(there[:SHOWN]) + (", …" if len(there) > SHOWN else "")
        raise Refused(f"{source}: none of the groups of {names} is in {whole}; its groups are {shown}")
    left_out = len(loaded.examples) - len(kept)
    return replace(loaded.keep(kept), source=source).noting({"left_out_by_group": left_out})


def _group(example: Example) -> str:
    return str(example.about.get("article", example.about.get("group", "")))


def _group_names(names: str) -> Collection[str]:
    """The names that FILE[:KEY] holds."""
    path, key = Path(names), ""
    if not path.exists():
        before, _, key = names.rpartition(":")
        path = Path(before) if before and Path(before).exists() else path
    text = read_text(path, "utf-8")
    if not path.name.lower().endswith((".json", ".json.gz")):
        return {line.strip() for line in text.splitlines() if line.strip()}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}: not JSON ({error})") from None
    value = _picked(path, value, key)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Refused(f"{path}: must be a list of group names, or an object of such lists with #{path}:KEY picking one")
    return set(value)


def _picked(path: Path, value: Any, key: str) -> Any:
    if not isinstance(value, dict):
        return value
    found = [name for name in value if name == key] or [name for name in value if key and name.startswith(key)]
    if len(found) != 1:
        raise Refused(f"{path}: {key!r} picks {len(found)} of its lists; write #{path}:KEY, of {', '.join(value)}")
    return value[found[0]]


def joined(sources: Sequence[Loaded]) -> Loaded:
    """Several sources as one split, in their order; ids that stand in two of them get the source's number in front."""
    if len(sources) == 1:
        return sources[0]
    large = [loaded.source for loaded in sources if isinstance(loaded.examples, Rows)]
    if large:
        said = f"{large[0]}: large, but held in memory as one of {len(sources)} --train sources"
        print(f"{said}; joined into one file they are not", file=sys.stderr, flush=True)
    ids = Counter(example.id for loaded in sources for example in loaded.examples)
    doubled = any(n > 1 for n in ids.values())
    examples = tuple(
        replace(example, id=f"{number}:{example.id}") if doubled else example
        for number, loaded in enumerate(sources, 1)
        for example in loaded.examples
    )
    dropped, notes = Counter[str](), Counter[str]()
    for loaded in sources:
        dropped.update(loaded.dropped)
        notes.update(loaded.notes)
    return Loaded(
        PLUS.join(loaded.source for loaded in sources),
        examples,
        content_hash(examples),
        dict(dropped),
        dict(notes),
        tuple(dict.fromkeys(step for loaded in sources for step in loaded.cleaning)),
        frozenset().union(*(loaded.values for loaded in sources)),
    ).noting({"ids_numbered_as_sources_share_some": len(examples) if doubled else 0})
