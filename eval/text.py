"""Scores as text for the terminal: what a stranger can read without knowing scores.json."""

from collections.abc import Mapping
from typing import Any

from heldout.eval.behaviour import behaviour, main_metric
from heldout.eval.columns import aligned
from heldout.fits import KEEPS_ANSWERS, KINDS, spoken

#: The metric that shows a variant's effect slice by slice: the first of these that the card has.
SHOWN_BY_SLICE = ("ece", "ece_mass", "nll", "brier")


def render(scores: Mapping[str, Any]) -> str:
    """One data set: what was scored, every metric with its interval, every slice, and how intervals were made."""
    title = f"{scores['data']}: {scores['n']} examples of {scores['card']}, version {scores['version']}"
    blocks = [[title, *_warnings(scores)], _metrics(scores), behaviour(scores), _slices(scores), _conformal(scores)]
    blocks += [_drop(scores), _methods(scores)]
    return "\n\n".join("\n".join(lines) for lines in blocks if lines)


def _warnings(scores: Mapping[str, Any]) -> list[str]:
    lines = [*scores.get("notes", [])]
    if scores.get("fitted_on_this"):
        lines.append(f"Not held out: {', '.join(map(spoken, scores['fitted_on_this']))} fitted on this data.")
    for name, variant in scores["variants"].items():
        if "parameters" not in variant:
            continue
        found = KINDS[name].told(variant["parameters"])
        fitted_on = f"{variant['fitted_on']['split']} ({variant['fitted_on']['n']} examples)"
        own = ", which is this very data: not held out" if variant["in_sample"] else ""
        lines.append(f'"After {spoken(name)}": {found}, fitted on {fitted_on}{own}.')
        lines += _best_on_this(variant)
    return lines


def _best_on_this(variant: Mapping[str, Any]) -> list[str]:
    """What the best parameters on the scored data itself would give, said so that nobody takes it for a result."""
    if "best_on_this" not in variant:
        return []
    best = variant["best_on_this"]
    found = ", ".join(f"{value:.3f}" for value in best["parameters"].values())
    metrics = ", ".join(f"{name} {value:.3f}" for name, value in best["metrics"].items())
    return [f"The best on this very data, {found}, would give {metrics}: chosen on what it is scored on, never used."]


def _metrics(scores: Mapping[str, Any]) -> list[str]:
    variants = scores["variants"]
    rows = [["", "value", "95% interval", *(heading(name, variant) for name, variant in variants.items())]]
    for name, entry in scores["metrics"].items():
        after = [_value(variants[variant]["metrics"][name]) for variant in variants]
        rows.append([name, _value(entry), _interval(entry), *after])
        if "debiased" in entry:
            rows.append(["  without the bias of noise", f"{entry['debiased']:.3f}"])
        if "expected_if_calibrated" in entry:
            expected = entry["expected_if_calibrated"]
            high = f"up to {expected['high']:.3f}" if "high" in expected else ""
            rows.append(["  if perfectly calibrated", f"{expected['value']:.3f}", high])
        if "decomposition" in entry:
            rows.append([_decomposition(entry["decomposition"])])
        if "matches" in entry:
            rows.append([_matches(entry["matches"])])
        if entry.get("floored"):
            rows.append([f"  {entry['floored']} examples got no probability for gold (counted as 1e-12)"])
    return aligned(rows)


def heading(name: str, variant: Mapping[str, Any]) -> str:
    """A variant's column: after what was fitted, or by another way to read the answers off their scores."""
    return f"after {spoken(name)}" if "parameters" in variant else f"by {name}"


def _decomposition(parts: Mapping[str, float]) -> str:
    """The Brier score as its sum (Murphy 1973)."""
    return (
        "  = reliability {reliability:.3f} - resolution {resolution:.3f} + uncertainty {uncertainty:.3f}"
        " + within bins {within_bins:.3f}"
    ).format(**parts)


def _conformal(scores: Mapping[str, Any]) -> list[str]:
    """What the conformal sets reach, of all and of each slice."""
    if "conformal" not in scores:
        return []
    sets = scores["conformal"]
    asked, on = 1 - sets["parameters"]["alpha"], sets["fitted_on"]
    own = ", which is this very data: not held out" if sets["in_sample"] else ""
    head = f"Conformal sets ({asked:.0%} to hold gold), fitted on {on['split']} ({on['n']} examples){own}:"
    rows = [["", "hold gold", "95% interval", "labels a set"]]
    for name, part in {"all": sets, **sets["slices"]}.items():
        coverage, size = (part["metrics"][f"conformal_{of}"] for of in ("coverage", "size"))
        rows.append([name, _value(coverage), _interval(coverage), _value(size)])
    return [head, *aligned(rows)]


def _matches(matches: Mapping[str, int]) -> str:
    """What became of gold's entities, and what else was found."""
    return (
        "  of gold {exact} exact, {wrong_type} of the wrong type, {overlapping_in_gold} overlapping, {missed} missed; "
        "found besides {overlapping_found} overlapping, {spurious} spurious"
    ).format(**matches)


def _slices(scores: Mapping[str, Any]) -> list[str]:
    main, variants = main_metric(scores), scores["variants"]
    # A threshold and another decoding move the main metric itself, a temperature only what confidence is judged by.
    moving = {name: variant for name, variant in variants.items() if name not in KEEPS_ANSWERS}
    still = {name: variant for name, variant in variants.items() if name in KEEPS_ANSWERS}
    second = next((name for name in SHOWN_BY_SLICE if name in scores["metrics"] and name != main), None)
    if moving and not still:
        second = None
    heads = [[heading(name, variant) for name, variant in side.items()] for side in (moving, still)]
    rows = [["slice", "n", main, "95% interval", *heads[0], *([second, *heads[1]] if second else [])]]
    for key, part in scores["slices"].items():
        read = part["read"] if part.get("read") in part["metrics"] else main
        entry = part["metrics"][read]
        cells = [_value(variant["slices"][key]["metrics"][read]) for variant in moving.values()]
        if second:
            cells += [_value(one["slices"][key]["metrics"][second]) for one in (scores, *still.values())]
        name = key if read == main else f"{key} ({read})"
        rows.append([name, _size(part), _value(entry), _interval(entry), *cells])
    meanings = [f"{name} is {text}" for name, text in scores.get("own_slices", {}).items()]
    return [*aligned(rows), *meanings] if len(rows) > 1 else []


def _size(part: Mapping[str, Any]) -> str:
    return f"{part['n']} entities" if "about" in part else str(part["n"])


def _drop(scores: Mapping[str, Any]) -> list[str]:
    if "drop" not in scores:
        return []
    if not scores["drop"]["metrics"]:
        return [f"No drop from {scores['drop']['from']}: it has no predictions or no gold."]
    main, entry = next(iter(scores["drop"]["metrics"].items()))
    return [f"Drop in {main} from {scores['drop']['from']}: {_value(entry)} ({_interval(entry) or entry['method']})."]


def _methods(scores: Mapping[str, Any]) -> list[str]:
    by_method: dict[str, list[str]] = {}
    for name, entry in scores["metrics"].items():
        if "method" in entry:
            by_method.setdefault(entry["method"], []).append(name)
    none = "no interval: "
    return [
        f"No interval of {', '.join(names)}: {method.removeprefix(none)}."
        if method.startswith(none)
        else f"Intervals of {', '.join(names)}: {method}."
        for method, names in by_method.items()
    ]


def _value(entry: Mapping[str, Any]) -> str:
    return str(entry["note"]) if entry["value"] is None else f"{entry['value']:.3f}"


def _interval(entry: Mapping[str, Any]) -> str:
    return "" if entry.get("low") is None else f"{entry['low']:.3f} to {entry['high']:.3f}"
