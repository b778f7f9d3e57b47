"""Text fields of an example as strings: a string stays, a list of words is joined by spaces."""

from collections.abc import Mapping


def text_of(text: Mapping[str, object]) -> str:
    """The text fields of an example as one string, a line a field."""
    return "\n".join(map(words_of, text.values()))


def words_of(field: object) -> str:
    """One text field as a string; a list of words is joined by spaces."""
    return " ".join(map(str, field)) if isinstance(field, list | tuple) else str(field)
