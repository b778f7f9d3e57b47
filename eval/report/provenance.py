"""Where the numbers come from: fits, hashes, options, versions, and how intervals were made."""

from collections.abc import Mapping
from typing import Any

from heldout.eval.report.calibration import is_grouped
from heldout.eval.report.comparisons import Comparisons
from heldout.eval.report.inputs import Inputs, System
from heldout.eval.report.kinds import view_of, words_of
from heldout.eval.report.wording import listed, title
from heldout.fits import spoken


def provenance(inputs: Inputs) -> list[tuple[str, str]]:
    """What was fitted on what, and the hashes by which the data can be told again."""
    main, entries = inputs.main, [("card", f"{inputs.card.name} {inputs.card.version}")]
    entries += [("citation", inputs.card.citation)] if inputs.card.citation else []
    for name, fit in main.fits.items():
        values = ", ".join(f"{key} {_value(value)}" for key, value in fit.parameters.items())
        entries.append((f"fit: {spoken(name)}", f"{values}; {_fitted(fit.fitted_on)}"))
    for name, entry in main.ledger.fitted.items():
        if name not in main.fits:
            entries.append((name.replace("_", " "), _fitted(entry)))
    entries += [("plan of steps", _short(main.ledger.plan))] if main.ledger.plan else []
    entries += [(f"gold of {data.name}", f"n = {len(data.examples)}, {_short(data.hash)}") for data in inputs.tests]
    return entries


def _value(value: Any) -> str:
    """A parameter of a fit: a number as it is, of a list (the steps of an isotonic fit) only how long it is."""
    return f"{value:g}" if isinstance(value, int | float) else f"of {len(value)} values"


def _fitted(on: Mapping[str, Any]) -> str:
    return f"fitted on {on.get('split')}, n = {on.get('n')}, {_short(on.get('hash'))}"


def _short(digest: Any) -> str:
    return f"hash {str(digest)[:16]}"


def records(system: System) -> list[tuple[str, str]]:
    """A system's options and environment, flat, those without a value left out."""
    entries = [(str(key).replace("_", "-"), _said(value)) for key, value in system.options.items()]
    for key, value in system.environment.items():
        parts = value.items() if isinstance(value, Mapping) else [(key, value)]
        entries += [(str(name), _said(found)) for name, found in parts]
    return [(name, value) for name, value in entries if value]


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None or value is False else "yes" if value is True else str(value)


def methods(inputs: Inputs, found: Comparisons) -> list[str]:
    """How each interval was made, as the scores say, and what the other words of the page mean."""
    made: dict[str, list[str]] = {}
    for data in inputs.tests:
        for name, entry in inputs.main.scores.get(data.name, {}).get("metrics", {}).items():
            if entry.get("method"):
                made.setdefault(str(entry["method"]), []).append(f"{title(name)} on {data.name}")
    pairs: dict[str, list[str]] = {}
    for name, method in found.methods.items():
        pairs.setdefault(method, []).append(name)
    return [
        *(f"Intervals of {listed(names)}: {method}." for method, names in made.items()),
        *(
            f"Lift, and a slice against its rest, on {listed(names)}: {method}, both sides on the same draws."
            for method, names in pairs.items()
        ),
        *(f"Drops to {listed(names)}: {method}." for method, names in _drop_methods(inputs).items()),
        *_ece_method(inputs),
        "McNemar's test is the exact two-sided binomial.",
        "No interval is corrected for how many of them stand on this page: of twenty, one misses by chance.",
    ]


def _ece_method(inputs: Inputs) -> list[str]:
    """What the numbers beside an ECE are, where there is one."""
    if not any("ece" in scores.get("metrics", {}) for scores in inputs.main.scores.values()):
        return []
    words, grouped = words_of(inputs), [data.name for data in inputs.tests if is_grouped(data)]
    alone = f" Both count {words.many} one by one, though those of {listed(grouped)} come in groups." if grouped else ""
    if view_of(inputs).clustered:
        alone = f" Both count {words.events} one by one, though several may stand in one {words.one}."
    return [
        "An ECE is raised by noise alone: its debiased value has the noise of each bin taken off (Kumar, Liang and Ma "
        f"2019), and chance alone is what a perfectly calibrated system would show.{alone}"
    ]


def _drop_methods(inputs: Inputs) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for data in inputs.tests[1:]:
        drop = inputs.main.scores.get(data.name, {}).get("drop", {}).get("metrics", {}).get(inputs.metric, {})
        if drop.get("method"):
            made.setdefault(str(drop["method"]), []).append(data.name)
    return made
