"""Schemes of tags: IOB1, IOB2, IO, BIOES, BILOU and bare types, recognised over a whole source and read as entities.

IOB2     B- begins an entity, I- continues it           B-PER I-PER B-PER
IOB1     I- does both, B- only where two touch          I-PER I-PER B-PER
IO       I- only, so entities of a type never touch     I-PER I-PER I-PER
BIOES    E- ends, S- is a single word (BILOU: L-, U-)   B-PER E-PER S-PER
bare     the type alone (FAULTS N6), read as IO         PER   PER   PER
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from heldout.bio import OUTSIDE, Entity, tags_of
from heldout.errors import Refused

PREFIXED = re.compile(r"([BIOESLU])-(.+)")
#: Prefixes that continue an entity (E- and L- end it too; a bare type is read as I-), and those that end one.
INSIDE = ("I", "E", "L", "")
LAST = ("E", "L", "S", "U")
#: Where a word of a sentence (both from 0) stands, for error messages.
Where = Callable[[int, int], str]
#: A tag's prefix ("" of a bare type) and its type ("" where the tag is O).
Parsed = tuple[str, str]


@dataclass(frozen=True)
class Read:
    """The entities of every sentence, the scheme that spelt them, and what was counted on the way."""

    entities: list[list[Entity]]
    scheme: str
    notes: Mapping[str, int]


def read_tags(sentences: Sequence[Sequence[str]], where: Where) -> Read:
    """Recognise the scheme and read the entities.

    I-O and its kind are read as O. An I- (or E-) that cannot continue anything begins an entity. Both are counted, as
    are the tags that change on the way to IOB2. Refused with its place for a word without a tag or with several
    (joined by commas), and for bare types among prefixed ones.
    """
    parsed = [[_parse(tag, where, s, w) for w, tag in enumerate(tags)] for s, tags in enumerate(sentences)]
    _refuse_mixed(sentences, parsed, where)
    prefixes = {prefix for tags in parsed for prefix, kind in tags if kind}
    found = [_entities(tags, closed=bool(prefixes & {"E", "S", "L", "U"})) for tags in parsed]
    entities = [spans.entities for spans in found]
    odd, unclosed = sum(spans.odd for spans in found), sum(spans.unclosed for spans in found)
    scheme = _scheme(prefixes, odd, sum(spans.free for spans in found))
    stray = sum(tag != OUTSIDE and not types_of([tag]) for tags in sentences for tag in tags)
    notes = {
        "stray_tags_read_as_O": stray,
        f"tags_converted_from_{scheme}_to_IOB2": _changed(sentences, entities) - stray if scheme != "IOB2" else 0,
        "invalid_tags_read_as_entities": odd + unclosed if scheme in ("IOB2", "BIOES", "BILOU") else 0,
    }
    return Read(entities, scheme, {key: n for key, n in notes.items() if n})


def _changed(sentences: Sequence[Sequence[str]], entities: Sequence[Sequence[Entity]]) -> int:
    """How many tags are others once the entities are spelt in IOB2."""
    spelt = (tags_of(spans, len(tags)) for tags, spans in zip(sentences, entities, strict=True))
    return sum(a != b for tags, new in zip(sentences, spelt, strict=True) for a, b in zip(tags, new, strict=True))


def types_of(tags: Iterable[str]) -> set[str]:
    """The entity types that stand in tags of any scheme; O and I-O have none.

    >>> sorted(types_of({"O", "I-O", "B-creative-work", "LOC"}))
    ['LOC', 'creative-work']
    """
    return {kind for kind in (_split(tag)[1] for tag in tags) if kind}


def _split(tag: str) -> Parsed:
    found = PREFIXED.fullmatch(tag)
    prefix, kind = (found[1], found[2]) if found else ("", tag)
    return (OUTSIDE, "") if OUTSIDE in (prefix, kind) else (prefix, kind)


def _parse(tag: str, where: Where, sentence: int, word: int) -> Parsed:
    if not tag:
        raise Refused(f"{where(sentence, word)}: the word has no tag; give every word one, O where it is no entity")
    if "," in tag and all(part == OUTSIDE or PREFIXED.fullmatch(part.strip()) for part in tag.split(",")):
        raise Refused(f"{where(sentence, word)}: {tag!r} is several tags of one word; give one tag a word")
    return _split(tag)


def _refuse_mixed(sentences: Sequence[Sequence[str]], parsed: Sequence[Sequence[Parsed]], where: Where) -> None:
    places = [(s, w, prefix) for s, tags in enumerate(parsed) for w, (prefix, kind) in enumerate(tags) if kind]
    bare = next(((s, w) for s, w, prefix in places if not prefix), None)
    if bare and any(prefix for *_, prefix in places):
        tag = sentences[bare[0]][bare[1]]
        raise Refused(
            f"{where(*bare)}: tag {tag!r} has no B- or I- though others have; name the tag that it is with "
            f"--label {tag}=B-TYPE (or {tag}=- to read it as O)"
        )


def _scheme(prefixes: Collection[str], odd: int, free: int) -> str:
    """IOB1 has odd beginnings only and IOB2 free ones; where a source has both, it is what it has more of."""
    if not prefixes or "" in prefixes:
        return "bare_types" if prefixes else "IOB2"
    if {"E", "S", "L", "U"} & set(prefixes):
        return "BILOU" if {"L", "U"} & set(prefixes) else "BIOES"
    if "B" not in prefixes:
        return "IO"
    return "IOB1" if odd > free else "IOB2"


@dataclass
class _Spans:
    """A sentence's entities, and how many begin oddly (with I- or E-), begin freely (with B- though nothing of their
    type stands before), or lack their E-."""

    entities: list[Entity] = field(default_factory=list)
    odd: int = 0
    free: int = 0
    unclosed: int = 0


def _entities(tags: Sequence[Parsed], *, closed: bool) -> _Spans:
    """One reading serves all schemes: they differ only in which of the things counted are mistakes.

    ``closed``: an entity ends with E- or S-, and one that does not is counted.
    """
    spans, begun, kind, before = _Spans(), -1, "", ""
    for place, (prefix, now) in enumerate([*tags, (OUTSIDE, "")]):
        continues = begun >= 0 and now == kind and prefix in INSIDE
        if begun >= 0 and not continues:
            spans.entities.append((begun, place, kind))
            spans.unclosed += closed
            begun = -1
        if now and not continues:
            begun, kind = place, now
            spans.odd += prefix in INSIDE
            spans.free += prefix == "B" and before != now
        if now and prefix in LAST:
            spans.entities.append((begun, place + 1, kind))
            begun = -1
        before = now
    return spans
