"""The seeds' values, what the lessons compute of them, and when a value is near enough."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from heldout.lessons import every, plain

Entries = Mapping[str, Mapping[str, Any]]


@pytest.fixture(scope="session")
def seeds(real_data: Path) -> Entries:
    """The entries of seed_values.json beside the real data, by id."""
    read = json.loads((real_data.parent / "seed_values.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry for entry in read["entries"]}


@pytest.fixture(scope="session")
def computed() -> Entries:
    """Every lesson's values, by id, as JSON has them; no two lessons may compute the same entry."""
    found: dict[str, Mapping[str, Any]] = {}
    for lesson in every():
        values = lesson.values()
        assert not found.keys() & values.keys(), lesson.name
        found |= {id: plain(fields) for id, fields in values.items()}
    return found


@pytest.fixture(scope="session")
def near() -> Callable[[Any, Any, float], bool]:
    """Whether a value is another one within an absolute tolerance, shape, keys and kind included; 0 means equal."""
    return _near


def _near(value: Any, other: Any, tolerance: float) -> bool:
    if isinstance(other, dict):
        return (
            isinstance(value, dict)
            and value.keys() == other.keys()
            and all(_near(value[key], other[key], tolerance) for key in other)
        )
    if isinstance(other, list):
        return (
            isinstance(value, list)
            and len(value) == len(other)
            and all(_near(a, b, tolerance) for a, b in zip(value, other, strict=True))
        )
    if isinstance(other, bool) or not isinstance(other, int | float):
        return type(value) is type(other) and value == other
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value - other) <= tolerance
