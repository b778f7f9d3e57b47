"""Numbers as people read them: shares in per cent, differences in points, intervals, counts with thousands commas."""

import math
import unicodedata
from collections.abc import Sequence
from typing import Any

#: A number between its bounds, as scores.json holds one: value, low, high; None where there is none.
Bounded = tuple[float | None, float | None, float | None]
#: Metrics on a scale from 0 to 1 that people read in per cent; all others are read as they are.
PER_CENT = frozenset(
    [
        *("accuracy", "macro_f1", "pair_consistency"),
        *("both_right", "twin_gap", "flip_rate", "moved", "expectation_met"),
        *("entity_precision", "entity_recall", "entity_f1", "entity_f1_lenient", "entity_macro_f1", "word_accuracy"),
        *("em", "f1", "has_ans_em", "has_ans_f1", "no_ans_acc"),
        *("lm_accuracy", "nsp_accuracy", "conformal_coverage"),
        *(f"{what}_at_{share}" for what in ("accuracy", "em", "precision") for share in (80, 90, 95)),
    ]
)
#: What is said of a difference whose interval cannot be had from so few texts, or from texts all answered alike.
TOO_FEW = "too few texts for an interval of the difference"
#: Characters that change the direction of the text after them (Unicode's bidirectional controls).
TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
TITLES = {
    "macro_f1": "macro F1",
    "mcc": "MCC",
    "nll": "NLL",
    "brier": "Brier score",
    "ece": "ECE",
    "ece_mass": "ECE (equal mass)",
    "ece_positive": "ECE (positive class)",
    "aurc": "AURC",
    "mce": "MCE",
    "ece_classwise": "ECE (classwise)",
    **{f"accuracy_at_{share}": f"accuracy of the surest {share}%" for share in (80, 90, 95)},
    **{f"em_at_{share}": f"exact match of the surest {share}%" for share in (80, 90, 95)},
    **{f"precision_at_{share}": f"precision of the surest {share}%" for share in (80, 90, 95)},
    "em": "exact match",
    "f1": "F1",
    "has_ans_em": "exact match (answerable)",
    "has_ans_f1": "F1 (answerable)",
    "no_ans_acc": "left unanswered (impossible)",
    "both_right": "both of a pair right",
    "twin_gap": "gap to the unchanged twin",
    "flip_rate": "answers flipped",
    "moved": "scores moved as stated",
    "expectation_met": "as expected",
    "entity_f1": "entity F1",
    "entity_f1_lenient": "entity F1 (lenient)",
    "entity_macro_f1": "entity macro F1",
    "lm_nll": "loss (nats a token)",
    "lm_accuracy": "token accuracy",
    "nsp_accuracy": "next-sentence accuracy",
}


def known(value: Any) -> bool:
    """Whether a value is a number that can be shown (scores.json holds null where a metric could not be had)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def title(metric: str) -> str:
    """A metric's name as people write it."""
    return TITLES.get(metric, metric.replace("_", " "))


def signed(text: str) -> str:
    """The text of a number with a real minus sign, which is as wide as a digit."""
    return text.replace("-", "−")


def count(n: float) -> str:
    """A count with thousands commas: 25,000."""
    return f"{n:,.0f}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share in per cent: 0.868 → 86.8%; a dash where there is none."""
    return f"{100 * share:.{digits}f}%" if share is not None and known(share) else "–"


def points(difference: float) -> str:
    """The size of a difference of shares in percentage points, without its sign: −0.016 → 1.6 points."""
    shown = f"{abs(100 * difference):.1f}"
    return f"{shown} point" if shown == "1.0" else f"{shown} points"


def measure(metric: str, value: float | None) -> str:
    """A metric's value as people read it: in per cent, or to three decimals."""
    if value is None or not known(value):
        return "–"
    return percent(value) if metric in PER_CENT else signed(f"{value:.3f}")


def number(value: float) -> str:
    """A plain number, such as a threshold, to two decimals.

    >>> number(-1.6396)
    '−1.64'
    """
    return signed(f"{value:.2f}")


def signed_amount(metric: str, difference: float) -> str:
    """A difference with its sign and without its unit: +1.6 for 0.016 of a share, else to three decimals."""
    sign = "+" if difference > 0 else "−" if difference < 0 else "±"
    return f"{sign}{abs(100 * difference):.1f}" if metric in PER_CENT else f"{sign}{abs(difference):.3f}"


def sure(confidence: float) -> str:
    """A confidence in per cent, 100.0% only where it is exactly that."""
    return "over 99.9%" if 0.9995 <= confidence < 1 else percent(confidence)


def opening(words: str) -> str:
    """The words with a capital first letter, the others as they are (F1, MCC)."""
    return words[:1].upper() + words[1:]


def visible(text: str) -> str:
    """The text with control and direction-changing characters spelt out; they would hide or turn round its words.

    >>> visible("a\\x00b")
    'a[U+0000]b'
    """
    return text if text.isprintable() else "".join(map(_spelt, text))


def _spelt(character: str) -> str:
    hidden = unicodedata.category(character) in ("Cc", "Cs") or character in TURNING
    return f"[U+{ord(character):04X}]" if hidden and character not in "\n\t" else character


def amount(metric: str, difference: float) -> str:
    """The size of a difference in a metric: in points for a share, else to three decimals."""
    return points(difference) if metric in PER_CENT else f"{abs(difference):.3f}"


def bounds(low: float | None, high: float | None, *, scale: float = 100, digits: int = 1) -> str:
    """An interval without its unit: 84.6–88.8, or −0.9 to 4.1 where a sign would meet the dash."""
    if low is None or high is None or not known(low) or not known(high):
        return ""
    words = [signed(f"{scale * bound:.{digits}f}") for bound in (low, high)]
    return (" to " if min(low, high) < 0 else "–").join(words)


def interval(metric: str, low: float | None, high: float | None) -> str:
    """A metric's interval in the unit of ``measure``."""
    return bounds(low, high) if metric in PER_CENT else bounds(low, high, scale=1, digits=3)


def difference_interval(metric: str, low: float | None, high: float | None) -> str:
    """The interval of a difference, always with 'to': it may lie on either side of zero."""
    return interval(metric, low, high).replace("–", " to ")


def listed(words: Sequence[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else list(words))


def advantage(difference: Bounded, higher_is_better: bool) -> Bounded:
    """A difference as an advantage, positive where the first is better: of an error it changes its sign."""
    value, low, high = difference
    if higher_is_better:
        return difference
    return tuple(None if bound is None else -bound for bound in (value, high, low))  # type: ignore[return-value]


def bounded(entry: Any) -> Bounded:
    """The value and bounds of a metric's entry in scores.json."""
    row = entry if isinstance(entry, dict) else {}
    value, low, high = (row[key] if known(row.get(key)) else None for key in ("value", "low", "high"))
    return value, low, high
