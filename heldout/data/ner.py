"""Named entities: which words name a person, a place, …? Words and a tag each, in IOB2 whatever the source's scheme.

A sentence of a file in columns (its I- tags are IOB1), and the example that it becomes:

    Greta     I-PER      Example("trip:1", {"words": ["Greta", "saw", "Malmö"]}, ["B-PER", "O", "B-LOC"],
    saw       O                  {"unseen": [2]})
    Malmö     I-LOC

``--label PER=person`` renames a type and ``--label MISC=-`` reads its entities as O; ``--label 3=B-person`` names tags
that are bare numbers. ``about.unseen`` holds the first words of entities whose words, case and white space folded, are
no entity of train, of whatever type: it is the string that a model may have memorised.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from heldout.bio import OUTSIDE, Entity, split, strict, tags_of
from heldout.data.conll import read_conll
from heldout.data.defaults import TAGS, WORDS
from heldout.data.duplicates import fold
from heldout.data.identity import about, about_columns, ids
from heldout.data.labels import NO_LABEL, raw_label, with_numbers
from heldout.data.names import Reading
from heldout.data.sources import SHOWN, Loaded
from heldout.data.table import Row, Table, column, need_column
from heldout.data.tags import PREFIXED, read_tags, types_of
from heldout.data.task import Data
from heldout.errors import Refused
from heldout.options import nearest
from heldout.records import Card, Example, content_hash

METRICS = ("entity_f1", "entity_precision", "entity_recall", "entity_f1_lenient", "nll", "ece", "ece_mass")
SLICES = ("entity_type", "unseen", "entity_length", "sentence_case", "length", "overlap", "domain")
CITATION = (
    "Tjong Kim Sang and De Meulder (2003), Introduction to the CoNLL-2003 shared task: language-independent named "
    "entity recognition"
)

#: Halves of characters, which JSON can hold and neither a tokenizer nor a file in UTF-8 can.
HALVES = re.compile("[\ud800-\udfff]")


def read(table: Table, reading: Reading, known: Collection[str] = ()) -> Loaded:
    """Sentences with words, a tag each, as examples; with ``known`` labels a type that has none there is Refused."""
    words, tags, values = _columns(table, reading)
    rows = [row for row, sentence in zip(table.rows, words, strict=True) if sentence]
    kept = [sentence for sentence in words if sentence]
    found = read_tags([sentence for sentence in tags if sentence], lambda s, w: _place(table, rows[s], w))
    entities, left_out = _renamed(found.entities, reading)
    _refuse_unknown(table, rows, entities, known)
    identities, notes = ids(replace(table, rows=rows), reading)
    columns, tagged = about_columns(table, reading), _tag_column(table, reading) is not None
    examples = tuple(
        Example(
            identity,
            {"words": sentence},
            tags_of(spans, len(sentence)) if tagged else None,
            about(row, columns),
        )
        for identity, sentence, spans, row in zip(identities, kept, entities, rows, strict=True)
    )
    if not examples:
        raise Refused(f"{table.source}: holds no sentence")
    blank = sum(not word.strip() for sentence in kept for word in sentence)
    counted = {**notes, **found.notes, "entities_read_as_O": left_out, "words_of_white_space": blank}
    dropped = {"no_words": len(words) - len(kept)} if len(words) > len(kept) else {}
    loaded = Loaded(table.source, examples, content_hash(examples), {**table.dropped, **dropped}, table.notes)
    return replace(loaded.noting(counted), values=values)


def _columns(table: Table, reading: Reading) -> tuple[list[list[str]], list[list[str]], frozenset[str]]:
    """Words and tags of every row, and what --label may name: tags and types as they stand in the source."""
    word = need_column(table, reading.columns.get("words"), WORDS, "words")
    tag = _tag_column(table, reading)
    if tag is None:
        words = _words(table, word)
        return words, [[OUTSIDE] * len(sentence) for sentence in words], frozenset()
    names = table.names.get(tag, ())
    mapping = with_numbers(reading.labels, names)
    words = _words(table, word)
    tags: list[list[str]] = []
    values = {*names, *map(str, range(len(names)))}
    for row, sentence in zip(table.rows, words, strict=True):
        raw = [raw_label(value, names) for value in _list(table, row, tag)]
        if len(raw) != len(sentence):
            raise Refused(f"{table.source}, {row.place}: {len(sentence)} words but {len(raw)} tags")
        values.update(raw)
        tags.append([_named(value, mapping, table, row, place) for place, value in enumerate(raw)])
    return words, tags, frozenset(table.values | values | types_of(values))


def _tag_column(table: Table, reading: Reading) -> str | None:
    """The column of the tags; None where there is none and sentences without tags are kept."""
    find = column if reading.unlabelled else need_column
    return find(table, reading.columns.get("tags"), TAGS, "tags")


def _words(table: Table, name: str) -> list[list[str]]:
    found = [list(_list(table, row, name)) for row in table.rows]
    for row, words in zip(table.rows, found, strict=True):
        for place, word in enumerate(words):
            if not isinstance(word, str) or HALVES.search(word):
                raise Refused(f"{_place(table, row, place)}: {name} holds {word!r:.40}, which is not a word")
    return found


def _list(table: Table, row: Row, name: str) -> Sequence[Any]:
    value = row.values.get(name)
    if not isinstance(value, list | tuple):
        raise Refused(f"{table.source}, {row.place}: {name} is {value!r:.40}, not a list with an entry for each word")
    return value


def _named(value: str, mapping: dict[str, str], table: Table, row: Row, word: int) -> str:
    """A tag as --label renames it whole: to a tag of a scheme, or with - to O. Types are renamed after reading."""
    new = mapping.get(value, "")
    if new in NO_LABEL[1:]:
        return OUTSIDE
    if new == OUTSIDE or PREFIXED.fullmatch(new):
        return new
    if value.removeprefix("-").isdecimal() and not new:
        raise Refused(f"{_place(table, row, word)}: tag {value} is a number; name it with --label {value}=B-TYPE")
    return value


def _place(table: Table, row: Row, word: int) -> str:
    """Where a word stands: its line in a file of columns, else its row and its number from 1."""
    if "first_line" in row.values:
        return f"{table.source}, line {row.values['first_line'] + word}"
    return f"{table.source}, {row.place}, word {word + 1}"


def _renamed(sentences: Sequence[Sequence[Entity]], reading: Reading) -> tuple[list[list[Entity]], int]:
    """Entities with their types as --label renames them, and how many it leaves out."""
    named = [[(start, end, reading.labels.get(kind, kind)) for start, end, kind in spans] for spans in sentences]
    kept = [[span for span in spans if span[2] not in NO_LABEL] for spans in named]
    return kept, sum(map(len, named)) - sum(map(len, kept))


def _refuse_unknown(
    table: Table, rows: Sequence[Row], sentences: Sequence[Sequence[Entity]], known: Collection[str]
) -> None:
    """Refused, naming all of them, where types have no label among those that are known."""
    types = {split(label)[1] for label in known if label != OUTSIDE}
    firsts: dict[str, str] = {}
    for row, spans in zip(rows, sentences, strict=True):
        for start, _, kind in spans:
            firsts.setdefault(kind, _place(table, row, start))
    unknown = [kind for kind in firsts if kind not in types]
    if known and unknown:
        kind, shown = unknown[0], ", ".join(map(repr, unknown[:SHOWN])) + (", …" if len(unknown) > SHOWN else "")
        raise Refused(
            f"{firsts[kind]}: the entity types {shown} are not among {', '.join(sorted(types))}"
            f"{nearest(kind, sorted(types))}; rename each with --label {kind}=TYPE (or {kind}=- to read it as O)"
        )


def card(train: Sequence[Example]) -> Card:
    """The card: O, then B- and I- of every type of train, the types sorted."""
    types = sorted({kind for example in train for _, _, kind in strict(example.gold)})
    labels = (OUTSIDE, *(f"{prefix}-{kind}" for kind in types for prefix in "BI"))
    return Card("ner", "1", "tags", labels, METRICS, SLICES, citation=CITATION)


def texts(table: Table, reading: Reading) -> Sequence[str]:
    """The sentences alone, their words side by side, of a source that may have no tags."""
    return [
        " ".join(words) for words in _words(table, need_column(table, reading.columns.get("words"), WORDS, "words"))
    ]


def surface(example: Example, entity: Entity) -> str:
    """The words of an entity, case and white space folded."""
    return fold(" ".join(example.text["words"][entity[0] : entity[1]]))


def mark(train: Sequence[Example], examples: Sequence[Example]) -> Sequence[Example]:
    """Examples with ``about.unseen``: the first words of those gold entities whose words are no entity of train."""
    seen = {surface(example, entity) for example in train for entity in strict(example.gold or [])}
    return [
        replace(
            example,
            about={
                **example.about,
                "unseen": [entity[0] for entity in strict(example.gold) if surface(example, entity) not in seen],
            },
        )
        for example in examples
    ]


DATA = Data("ner", read, card, texts, files=read_conll, mark=mark, baselines=("majority", "gazetteer"))
