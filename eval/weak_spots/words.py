"""Weak spots in words, for the terminal."""

from collections.abc import Mapping
from typing import Any


def render(found: Mapping[str, Any]) -> str:
    """Weak spots as text for the terminal: confirmed ones first, then those that were not, said to be so."""
    of, halves = found["of"], found["halves"]
    if not found["n"]:
        return f"{found['data']}: no {of}"
    head = f"{found['data']}: {found['wrong']:.1%} of {found['n']} {of} wrong"
    head += f"; searched on {halves[0]}, judged on the other {halves[1]}"
    if not found["spots"]:
        return f"{head}\n  no weak spot: nothing cut the first half into better and worse"
    return "\n".join([head, *(line for spot in found["spots"] for line in _lines(spot))])


def _lines(spot: Mapping[str, Any]) -> list[str]:
    mark = "confirmed    " if spot["confirmed"] else "not confirmed"
    if "note" in spot:
        return [f"  {mark}  {spot['where']}", f"{'':17}only {spot['n']} in the second half"]
    gap = spot["difference"]
    told = f"{spot['wrong']:.1%} of {spot['n']} wrong, {spot['elsewhere']:.1%} elsewhere"
    told += f": {100 * gap['value']:+.1f} points ({100 * gap['low']:+.1f} to {100 * gap['high']:+.1f}), "
    lines = [f"  {mark}  {spot['where']}", f"{'':17}{told}{chance(spot['p_holm'])}"]
    return lines + ([f"{'':17}score it: --slice NAME='{spot['slice']}'"] if spot["slice"] and spot["confirmed"] else [])


def chance(p: float) -> str:
    """An adjusted p in words.

    >>> chance(0.0), chance(0.0123)
    ('p < 0.0001', 'p = 0.012')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
