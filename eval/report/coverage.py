"""What became of the data: splits with what was dropped, texts found on both sides, what each system read."""

from collections.abc import Mapping
from typing import Any

from heldout.eval.report.inputs import Inputs, System
from heldout.eval.report.kinds import words_of
from heldout.eval.report.tables import Cell, HtmlTable, Row
from heldout.eval.report.wording import count, percent
from heldout.eval.run_data import DEV


def splits_table(inputs: Inputs) -> HtmlTable:
    """Train, dev and the test sets of the main run: source, size, labels, what was dropped, noticed and cleaned."""
    rows = []
    for name, split in inputs.main.ledger.splits.items():
        cells = (
            Cell(str(split.get("source", "")), f"hash {str(split.get('hash', ''))[:12]}", long=True),
            Cell(count(split.get("n", 0))),
            Cell(_counts(split.get("labels")), long=True),
            Cell(_counts(split.get("dropped"), "nothing"), long=True),
            Cell(_counts(split.get("notes"), "nothing"), long=True),
            Cell(", ".join(map(str, split.get("cleaning", []))) or "none", long=True),
        )
        rows.append(Row(name, cells, ("used for choices",) if name == DEV else ()))
    heads = ("split", "source", f"{words_of(inputs).many} used", "labels", "dropped", "noticed, kept", "cleaning")
    return HtmlTable(heads, tuple(rows), prose=True)


def _counts(counts: Any, none: str = "") -> str:
    found = counts.items() if isinstance(counts, Mapping) else ()
    return ", ".join(f"{str(name).replace('_', ' ')} {count(n)}" for name, n in found if n) or none


def overlap_table(inputs: Inputs) -> HtmlTable:
    """How many texts of one split also stand in another; pairs of splits that share none are left out."""
    rows = [Row(pair, (Cell(count(n)),)) for pair, n in inputs.main.ledger.overlap.items() if n]
    return HtmlTable(("split / split", f"{words_of(inputs).many} of the second in the first"), tuple(rows))


def overlap_note(inputs: Inputs) -> str:
    """How many pairs of splits were compared, since an empty table could mean that nobody looked."""
    looked = inputs.main.ledger.overlap
    if not looked:
        return "Whether texts of one split stand in another was not recorded."
    shared = sum(n > 0 for n in looked.values())
    return (
        f"Of {count(len(looked))} comparisons of two splits {count(shared) if shared else 'none'} found shared texts."
    )


def coverage_table(inputs: Inputs) -> HtmlTable:
    """What each system read of each set: texts cut, and tokens lost of all tokens."""
    rows, many = [], words_of(inputs).many
    for system in inputs.systems:
        for data in inputs.tests:
            predictions = system.predictions.get(data.name)
            if predictions is None:
                rows.append(Row(f"{system.name} on {data.name}", (Cell("no predictions"), Cell("–"), Cell("–"))))
                continue
            cut, n = cut_texts(system, data.name)
            seen = [p.seen for p in predictions if p.seen is not None]
            tokens = sum(row.get("tokens", 0) + row.get("lost", 0) for row in seen)
            lost = sum(row.get("lost", 0) for row in seen)
            cells = (
                Cell(f"{count(len(predictions))} of {count(len(data.examples))}"),
                Cell(f"{count(cut)} of {count(n)}", percent(cut / n)) if n else Cell("not recorded"),
                Cell(f"{count(lost)} of {count(tokens)}", percent(lost / tokens)) if tokens else Cell("not recorded"),
            )
            rows.append(Row(f"{system.name} on {data.name}", cells))
    return HtmlTable(("system and set", f"{many} answered", f"{many} cut", "tokens lost"), tuple(rows))


def cut_texts(system: System, data: str) -> tuple[int, int]:
    """How many texts of a set the system cut, of how many whose ``seen`` is recorded."""
    seen = [p.seen for p in system.predictions.get(data, ()) if p.seen is not None]
    return sum(row.get("lost", 0) > 0 for row in seen), len(seen)
