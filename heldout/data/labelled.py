"""Rows with one text or several and one label each, as examples: columns found, labels named, texts cleaned, counted.

What a task's rows hold is a ``Form``: its text fields, what lands in ``about``, each with its columns' usual names.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.cases import needs_no_gold
from heldout.data.cleaning import CLEANING, LOOK, clean, has_markup
from heldout.data.defaults import IDENTITY, LABEL, TEXT
from heldout.data.identity import ABOUT, about, about_columns, ids
from heldout.data.labels import NO_LABEL, SENTIMENT, Naming, label_names, raw_label, with_numbers
from heldout.data.names import Reading
from heldout.data.sources import Loaded
from heldout.data.table import Row, Table, column, need_column
from heldout.errors import Refused
from heldout.options import nearest
from heldout.records import Example, content_hash


@dataclass(frozen=True)
class Form:
    """What the rows of a label task hold: ``texts``, ids and ``about``, by the usual names of their columns."""

    texts: Mapping[str, Sequence[str]] = field(default_factory=lambda: {"text": TEXT})
    about: Mapping[str, Sequence[str]] = field(default_factory=lambda: ABOUT)
    identity: Sequence[str] = IDENTITY
    naming: Naming = SENTIMENT


ONE_TEXT = Form()
#: In the place of the label of a row that is dropped.
LEFT_OUT = ""


@dataclass(frozen=True)
class Texts:
    """The texts of one field in row order, cleaned where ``cleaned`` says how many changed (None: not asked to)."""

    texts: Sequence[str]
    cleaned: int | None


def read_texts(table: Table, reading: Reading, form: Form = ONE_TEXT) -> dict[str, Texts]:
    """The fields of every row, stripped, cleaned as ``--clean`` says; Refused for a value that is no string."""
    names = {name: need_column(table, reading.columns.get(name), usual, name) for name, usual in form.texts.items()}
    fields = {name: [_text(table, row, column) for row in table.rows] for name, column in names.items()}
    seen = any(has_markup(texts[:LOOK]) for texts in fields.values())
    wanted = reading.clean == "on" or (reading.clean == "auto" and (table.markup or seen))
    return {name: _cleaned(texts) if wanted else Texts(texts, None) for name, texts in fields.items()}


def _cleaned(texts: Sequence[str]) -> Texts:
    done = [clean(text) for text in texts]
    return Texts([text.strip() for text in done], sum(a != b for a, b in zip(texts, done, strict=True)))


def _text(table: Table, row: Row, name: str) -> str:
    value = row.values.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Refused(f"{table.source}, {row.place}: {name} is {_shown(value)}, not a text")
    return value.strip()


def read_labelled(table: Table, reading: Reading, known: Collection[str] = (), form: Form = ONE_TEXT) -> Loaded:
    """Examples of a label task; Refused naming row and value for a label outside ``known`` where that is given."""
    found = read_some(table, reading, known, form)
    if not found.examples:
        why = ", ".join(f"{n} rows {reason.replace('_', ' ')}" for reason, n in found.dropped.items()) or "no rows"
        raise Refused(f"{table.source}: no example is left ({why})")
    return replace(found, hash=content_hash(found.examples))


def read_some(table: Table, reading: Reading, known: Collection[str], form: Form) -> Loaded:
    """The same of a block of a source's rows, of which none may be an example; without a hash."""
    fields = read_texts(table, reading, form)
    columns = about_columns(table, reading, form.about)
    golds, values = _golds(table, reading, columns, known, form.naming)
    identities, notes = ids(table, reading, form.identity)
    dropped = Counter(table.dropped)
    examples = []
    rows = zip(table.rows, identities, golds, *(found.texts for found in fields.values()), strict=True)
    for row, identity, gold, *texts in rows:
        said = about(row, columns)
        alone = gold is LEFT_OUT and needs_no_gold(said)
        if gold is LEFT_OUT and not (alone and reading.goldless):
            dropped["changes_without_a_label" if alone else "no_label"] += 1
        elif not all(texts):
            dropped["empty_text"] += 1
        else:
            examples.append(Example(identity, dict(zip(fields, texts, strict=True)), None if alone else gold, said))
    if cleaned := sum(found.cleaned or 0 for found in fields.values()):
        notes["texts_cleaned"] = cleaned
    cleaning = CLEANING if any(found.cleaned is not None for found in fields.values()) else ()
    return Loaded(table.source, tuple(examples), "", dict(dropped), {**table.notes, **notes}, cleaning, values)


def _golds(
    table: Table, reading: Reading, columns: Collection[str], known: Collection[str], naming: Naming
) -> tuple[list[str | None], frozenset[str]]:
    """The label of every row, and the values that --label may name: those there are, a ClassLabel's and its numbers.

    LEFT_OUT for a row without a label, or None where such rows are to be kept. ``columns`` are those of ``about``.
    """
    asked = reading.columns.get("label")
    kept = reading.unlabelled or (reading.goldless and "expect" in columns)
    if kept and column(table, asked, LABEL, "label") is None:
        return [None if reading.unlabelled else LEFT_OUT] * len(table.rows), frozenset()
    name = need_column(table, asked, LABEL, "label")
    classes = table.names.get(name, ())
    raw = [raw_label(row.values.get(name), classes) for row in table.rows]
    named = label_names(dict.fromkeys(raw), with_numbers(reading.labels, classes), known, naming)
    if known:
        for row, value in zip(table.rows, raw, strict=True):
            label = named[value]
            if label is not None and label not in known:
                names = ", ".join(dict.fromkeys(known))
                raise Refused(
                    f"{table.source}, {row.place}: label {_shown(value)} is not one of {names}"
                    f"{nearest(label, list(known))}; name it with --label {value}=LABEL (or {value}=- to leave it out)"
                )
    values = table.values | named.keys() | {*classes, *map(str, range(len(classes)))}
    none = {value for value in raw if reading.unlabelled and value in NO_LABEL}
    return [named[value] or (None if value in none else LEFT_OUT) for value in raw], frozenset(values - {""})


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:37] + "…"
