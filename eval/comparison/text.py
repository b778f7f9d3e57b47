"""A comparison as text for the terminal: the verdict in sentences, the slices, the other metrics, the churn."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from heldout.eval.columns import aligned
from heldout.eval.comparison.words import answer_of, methods, shown, verdict
from heldout.eval.report.wording import count, visible
from heldout.eval.slices import words_of
from heldout.eval.statistics import FEW

#: Characters of a line, of a text of churn, and how many examples of each way are shown.
WIDTH, TEXT, SHOWN = 110, 96, 3


def render(found: Mapping[str, Any], *, text: bool = True) -> str:
    """Every data set and every system set against the reference; ``text=False`` shows ids alone."""
    head = f"{found['card']}, version {found['version']}: against {found['reference']}, the reference"
    blocks = [[head, *(f"Note: {note}" for note in found["notes"])]]
    for data, test in found["tests"].items():
        blocks += [[f"Note: {note}" for note in test["notes"]]]
        for other, pair in test["pairs"].items():
            blocks += [_title(f"{other} against {found['reference']} on {data}"), _verdict(found, data, other)]
            blocks += [_slices(found, pair, other), _metrics(found, pair, other)]
            blocks += [_churn(pair, found["kind"], way, text=text) for way in ("right_to_wrong", "wrong_to_right")]
    blocks.append([line for sentence in methods(found) for line in wrap(sentence, WIDTH)])
    return visible("\n\n".join("\n".join(lines) for lines in blocks if lines))


def _title(words: str) -> list[str]:
    return [words, "=" * len(words)]


def _verdict(found: Mapping[str, Any], data: str, other: str) -> list[str]:
    return [line for sentence in verdict(found, data, other) for line in wrap(sentence, WIDTH)]


def _slices(found: Mapping[str, Any], pair: Mapping[str, Any], other: str) -> list[str]:
    """The main metric on the whole set and by slice, with what each slice could have shown."""
    main = found["metric"] if found["metric"] in pair["metrics"] else next(iter(pair["metrics"]))
    rows = [[main, "n", found["reference"], other, "difference", "95% interval", "p", "Holm", "could show", ""]]
    for key, block in {"all": pair, **pair["slices"]}.items():
        read = block.get("read") if block.get("read") in block["metrics"] else main
        entry = block["metrics"][read]
        name = key if read == main else f"{key} ({read})"
        holm = _p(entry.get("p_holm")) if key != "all" else ""
        mark = "few" if entry["n"] < FEW else "*" if shown(entry, adjusted=key != "all") else ""
        rows.append([name, str(block.get("n", entry["n"])), *_numbers(entry), holm, _could(entry), mark])
    return aligned(rows, right={1})


def _metrics(found: Mapping[str, Any], pair: Mapping[str, Any], other: str) -> list[str]:
    """Every other metric on the whole set."""
    rest = {name: entry for name, entry in pair["metrics"].items() if name != found["metric"]}
    if not rest:
        return []
    rows = [["other metrics", found["reference"], other, "difference", "95% interval", "p", "could show", ""]]
    for name, entry in rest.items():
        rows.append([name, *_numbers(entry), _could(entry), "*" if shown(entry) else ""])
    return aligned(rows)


def _numbers(entry: Mapping[str, Any]) -> list[str]:
    if entry["value"] is None:
        return ["–", "–", entry["method"], "", ""]
    interval = "" if entry["low"] is None else f"{entry['low']:+.3f} to {entry['high']:+.3f}"
    return [
        f"{entry['reference']:.3f}",
        f"{entry['other']:.3f}",
        f"{entry['value']:+.3f}",
        interval,
        _p(entry.get("p")),
    ]


def _p(p: float | None) -> str:
    return "" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _could(entry: Mapping[str, Any]) -> str:
    if "could_show" not in entry:
        return ""
    value = entry["could_show"]["value"]
    return "nothing" if value is None else f"{value:.3f}"


def _churn(pair: Mapping[str, Any], kind: str, way: str, *, text: bool) -> list[str]:
    """A few of the examples whose answer turned, each on a line or two."""
    if "churn" not in pair or not pair["churn"][way]["n"]:
        return []
    found = pair["churn"][way]
    some: Sequence[Mapping[str, Any]] = found["examples"][:SHOWN]
    lines = [f"{way.replace('_', ' ').capitalize()}: {count(found['n'])}, for example" if some else ""]
    for example in some:
        said = [answer_of(kind, example[side], example["text"]) for side in ("reference", "other", "gold")]
        answers = "{} → {} (gold {})".format(*(_cut(words, 40) for words in said))
        lines.append(f"  {example['id']}: {answers}")
        if text:
            lines += [f"    {_cut(words_of(value), TEXT)}" for value in example["text"].values()]
    return [line for line in lines if line]


def _cut(words: str, most: int) -> str:
    words = " ".join(words.split()) or "(none)"
    return words if len(words) <= most else words[: most - 1] + "…"
