"""SOURCE ``surface:KINDS:SOURCE``: any data, each text beside copies of it whose surface is changed and nothing else.

    heldout predict RUN --data typos=surface:typos:imdb/aclImdb:test --limit 500
    heldout predict RUN --data surface=surface:all:squad/dev.json          every kind that suits the task
    … surface:lower+upper:SOURCE     surface:typos@7:SOURCE                several kinds; another seed (0 unless given)

The kinds are those of changes.py. A text and its copies are a pair (``about.pair``), the text its original; a copy has
the kind as its ``phenomenon``, the original's gold, and expects the original's answer (``inv``): the flip rate is the
share that got another. A change is a function of kind, seed and text alone. Gold goes along: answers of a passage are
kept as they are and found again where they stand, tags stay with their words.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from random import Random
from typing import Any

from heldout.bio import strict
from heldout.cases import CHANGED, ORIGINAL
from heldout.data.sources import Loaded
from heldout.data.suites.changes import CHANGES, EVERYWHERE, FOR_WORDS, Text
from heldout.data.suites.edits import Edit, edited, moved
from heldout.errors import Refused
from heldout.options import nearest
from heldout.records import Example

PREFIX, ALL = "surface:", "all"
FORM = re.compile(r"surface:(?P<kinds>[^:@]*)(?:@(?P<seed>\d+))?:(?P<source>.+)", re.DOTALL)
#: What an original does not keep: it would be read as the expectation of another pair.
OTHERS = ("expect", "direction", "phenomenon")


@dataclass(frozen=True)
class Surface:
    """What a SOURCE asks for: the kinds in order, the seed, and the data behind."""

    kinds: tuple[str, ...]
    seed: int
    source: str


def parse_surface(source: str) -> Surface | None:
    """The surface changes that a SOURCE asks for, None where it is another; Refused for a kind that is none."""
    if not source.startswith(PREFIX):
        return None
    found = FORM.fullmatch(source)
    if found is None:
        raise Refused(f"{source}: write surface:KINDS:SOURCE, KINDS being all or some of {'+'.join(CHANGES)}")
    kinds = tuple(CHANGES) if found["kinds"] == ALL else tuple(dict.fromkeys(found["kinds"].split("+")))
    for kind in kinds:
        if kind not in CHANGES:
            known = nearest(kind, [*CHANGES, ALL])
            raise Refused(f"{source}: no surface change {kind!r}{known}; there are {', '.join(CHANGES)}, or all")
    return Surface(kinds, int(found["seed"] or 0), found["source"])


def refuse_surface(source: str) -> None:
    """Refused for a SOURCE of surface changes where data to learn from are read, or that changes another one's."""
    if source.startswith(PREFIX):
        raise Refused(f"{source}: surface changes are for sets to score, of data that are not changed already")


def behind(source: str) -> str:
    """The data behind a SOURCE of surface changes, which are the source's own texts; any other source as it is.

    >>> behind("surface:typos@3:films.csv"), behind("films.csv")
    ('films.csv', 'films.csv')
    """
    found = FORM.fullmatch(source)
    return behind(found["source"]) if found else source


def surfaced(loaded: Loaded, surface: Surface, source: str) -> Loaded:
    """The examples with their changed copies; those that no kind changes are left out and counted.

    Counted by kind: copies made, and examples that it found nothing to change in. Refused where none is changed.
    """
    examples: list[Example] = []
    counts: Counter[str] = Counter()
    unchanged = 0
    for example in loaded.examples:
        copies = {kind: changed(example, kind, surface.seed) for kind in surface.kinds}
        made = [copy for copy in copies.values() if copy is not None]
        counts.update(f"{kind}_{'changed' if copy else 'nothing_to_change'}" for kind, copy in copies.items())
        unchanged += not made
        if made:
            kept = {key: value for key, value in example.about.items() if key not in OTHERS}
            pair = {"pair": example.id, "role": ORIGINAL}
            examples += [replace(example, about={**kept, **pair}), *made]
    if not examples:
        n, kinds = len(loaded.examples), ", ".join(surface.kinds)
        raise Refused(f"{source}: {kinds} found nothing to change in any of its {n} examples")
    return replace(loaded.keep(examples, dropped={"nothing_to_change": unchanged}), source=source).noting(counts)


def changed(example: Example, kind: str, seed: int = 0) -> Example | None:
    """A changed copy of an example; None where there is nothing to change, or not without touching what gold keeps."""
    tagged = isinstance(example.text.get("words"), list | tuple)
    if tagged and (kind not in FOR_WORDS or any("\n" in word for word in example.text["words"])):
        return None
    fields = _words(example, kind) if tagged else _fields(example, kind)
    edits = CHANGES[kind](fields, _random(kind, seed, fields))
    texts = {name: edited(field.text, edits.get(name, ())) for name, field in fields.items()}
    if all(texts[name] == field.text for name, field in fields.items()):
        return None
    gold, text = example.gold, dict(example.text)
    if tagged:
        text["words"] = texts["words"].split("\n")
    else:
        text |= texts
        gold = [_found(answer, text["context"], edits.get("context", ())) for answer in gold] if _spans(gold) else gold
    about = {key: value for key, value in example.about.items() if key not in OTHERS}
    about |= {"pair": example.id, "role": CHANGED, "expect": "inv", "phenomenon": kind}
    return Example(f"{example.id}~{kind}", text, gold, about)


def _spans(gold: Any) -> bool:
    return isinstance(gold, list) and bool(gold) and all(isinstance(answer, Mapping) for answer in gold)


def _fields(example: Example, kind: str) -> dict[str, Text]:
    """The text fields; of a passage the answers are kept."""
    kept: Sequence[tuple[int, int]] = ()
    if _spans(example.gold) and kind not in EVERYWHERE:
        kept = [(answer["start"], answer["start"] + len(answer["text"])) for answer in example.gold]
    return {
        name: Text(text, kept if name == "context" else ())
        for name, text in example.text.items()
        if isinstance(text, str)
    }


def _words(example: Example, kind: str) -> dict[str, Text]:
    """A sentence of words as one text, a line a word; entities are kept, but for names, which stay names."""
    words, starts, at = list(map(str, example.text["words"])), [], 0
    for word in words:
        starts.append(at)
        at += len(word) + 1
    entities = strict(example.gold) if kind not in (*EVERYWHERE, "names") else []
    kept = [(starts[first], starts[last - 1] + len(words[last - 1])) for first, last, _ in entities]
    return {"words": Text("\n".join(words), kept)}


def _found(answer: Mapping[str, Any], context: str, edits: Sequence[Edit]) -> dict[str, Any]:
    """An answer where it stands in the changed passage; cased letters stay in their place."""
    start = moved(answer["start"], [edit for edit in edits if edit.end <= answer["start"]])
    return {**answer, "text": context[start : start + len(answer["text"])], "start": start}


def _random(kind: str, seed: int, fields: Mapping[str, Text]) -> Random:
    """Draws that depend on kind, seed and text alone, on every machine."""
    key = "\0".join([kind, str(seed), *(field.text for field in fields.values())])
    return Random(int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()))
