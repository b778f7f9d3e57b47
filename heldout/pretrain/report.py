"""What a pretraining came to, from its run folder: a summary for the terminal and one self-contained HTML page."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from heldout import __version__
from heldout.eval.columns import aligned
from heldout.eval.report import HERE, policy
from heldout.eval.report.wording import visible
from heldout.pretrain.curve import curve
from heldout.runs import atomic, read_json
from heldout.train import checkpoint

SYSTEMS = ("model", "bigram", "unigram")
HEADS = ("text", "rows", "system", "loss a token", "perplexity", "accuracy", "next sentence")
EXTRA = """
svg { max-width: 100%; height: auto; } .curve { fill: none; stroke: var(--model); stroke-width: 2; }
line.grid { stroke: var(--line); } line.baseline { stroke: var(--baseline); stroke-dasharray: 5 4; }
text.tick { fill: var(--soft); font-size: 12px; } circle.mark { fill: var(--model); }
table { border-collapse: collapse; } th, td { padding: .25rem .8rem .25rem 0; text-align: left; }
"""


def summary(folder: Path) -> str:
    """The numbers on test, model beside n-grams, domain by domain, as aligned columns."""
    return "\n".join([*_sentences(folder), "", *aligned([HEADS, *_rows(folder)])])


def write_report(folder: Path) -> None:
    """Write RUN/report.html; it loads nothing from anywhere."""
    style = (HERE / "style.css").read_text(encoding="utf-8") + EXTRA
    page = _PAGE.format(
        policy=policy(style, ""),
        style=Markup(style),
        title=visible(folder.resolve().name),
        sentences=_joined("<p>{}</p>", _sentences(folder)),
        curve=_curve(folder),
        heads=_joined('<th scope="col">{}</th>', HEADS),
        rows=Markup("").join(_row(row) for row in _rows(folder)),
        methods=_joined('<p class="note">{}</p>', _methods(folder)),
        continuations=_continuations(folder),
        data=_joined("<li>{}</li>", _data(folder)),
        version=__version__,
    )
    with atomic(folder / "report.html") as temporary:
        temporary.write_text(page, encoding="utf-8")


_PAGE = Markup("""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}"><link rel="icon" href="data:,">
<title>Pretraining {title}</title><style>{style}</style></head><body>
<header><p class="kicker">heldout pretrain</p><h1>{title}</h1>{sentences}</header>
<main><section><h2>Held-out loss while training</h2><figure>{curve}
<figcaption>Nats a predicted token on dev, whose masks are fixed; dashed: n-grams at the same positions.</figcaption>
</figure></section>
<section><h2>Test documents</h2><div class="scroll" tabindex="0" role="region" aria-label="Scores"><table>
<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{methods}</section>
{continuations}<section><h2>Data</h2><ul>{data}</ul></section></main>
<footer><p class="note">heldout {version}</p></footer></body></html>
""")


def _joined(form: str, values: Sequence[str]) -> Markup:
    return Markup("").join(Markup(form).format(visible(value)) for value in values)


def _row(cells: Sequence[str]) -> Markup:
    first, rest = Markup('<tr><th scope="row">{}</th>').format(visible(cells[0])), cells[1:]
    return first + _joined("<td>{}</td>", rest) + Markup("</tr>")


def _scores(folder: Path, split: str = "test") -> dict[str, Any]:
    """The scores of each system on a split."""
    places = {"model": folder, **{name: folder / "baselines" / name for name in SYSTEMS[1:]}}
    return {name: read_json(place / "scores" / f"{split}.json") for name, place in places.items()}


def _sentences(folder: Path) -> list[str]:
    scores, log = _scores(folder), _log(folder)
    loss = {name: found["metrics"]["lm_nll"]["value"] for name, found in scores.items()}
    tokens, hours = sum(row["tokens"] for row in log), sum(row["seconds"] for row in log) / 3600
    rows = f"{scores['model']['n']:,} rows of test documents"
    said = [
        f"On {rows} the model loses {loss['model']:.3f} nats a predicted token; "
        f"a bigram loses {loss['bigram']:.3f} and a unigram {loss['unigram']:.3f} at the same positions.",
        f"It took {len(log):,} steps over {tokens:,} tokens, {hours * 60:.1f} minutes of steps "
        f"({tokens / max(hours * 3600, 1e-9):,.0f} tokens a second).",
    ]
    pairs = scores["model"]["metrics"].get("nsp_accuracy")
    if pairs is not None:
        said.append(f"It tells the true next sentence from another document's in {_share(pairs)} of the pairs.")
    return said


def _log(folder: Path) -> list[dict[str, Any]]:
    with (folder / "losses.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _rows(folder: Path) -> list[tuple[str, ...]]:
    scores = _scores(folder)
    slices = [("all", None), *((name, name) for name in scores["model"]["slices"])]
    return [_cells(label, key, name, scores[name]) for label, key in slices for name in SYSTEMS]


def _cells(label: str, key: str | None, system: str, scores: Mapping[str, Any]) -> tuple[str, ...]:
    block = scores if key is None else scores["slices"][key]
    metrics = block["metrics"]
    cells = [label, f"{block['n']:,}", system, _number(metrics["lm_nll"], 3), _number(metrics["perplexity"], 1)]
    return (
        *cells,
        _share(metrics["lm_accuracy"]),
        _share(metrics["nsp_accuracy"]) if "nsp_accuracy" in metrics else "",
    )


def _number(entry: Mapping[str, Any], digits: int) -> str:
    low, high = entry["low"], entry["high"]
    bounds = "" if low is None else f" ({low:.{digits}f} to {high:.{digits}f})"
    return f"{entry['value']:.{digits}f}{bounds}"


def _share(entry: Mapping[str, Any]) -> str:
    low, high = entry["low"], entry["high"]
    bounds = "" if low is None else f" ({100 * low:.1f} to {100 * high:.1f})"
    return f"{100 * entry['value']:.1f}%{bounds}"


def _methods(folder: Path) -> list[str]:
    metrics = _scores(folder)["model"]["metrics"]
    methods = dict.fromkeys(entry["method"] for entry in metrics.values())
    return [f"In brackets: {'; '.join(methods)}. A group is a document.", *_NGRAMS]


_NGRAMS = (
    "The unigram counts train's tokens. The bigram sees the token to the left as the model does, masked or not, and "
    "falls back to the unigram by Witten and Bell's weights.",
)


def evaluations(folder: Path) -> list[tuple[int, float]]:
    """The held-out loss on dev after each step that it was asked at, from the newest checkpoint."""
    found = checkpoint.latest(folder)
    return [] if found is None else [(row["step"], row["nll"]) for row in found[1]["evaluations"]]


def _curve(folder: Path) -> Markup:
    points = evaluations(folder)
    scores = _scores(folder, "dev")
    lines = {name: scores[name]["metrics"]["lm_nll"]["value"] for name in SYSTEMS[1:]}
    words = ", ".join(f"{loss:.2f} after step {step}" for step, loss in points)
    return curve(points, lines, f"loss on dev: {words}; " + ", ".join(f"{k} {v:.2f}" for k, v in lines.items()))


def _continuations(folder: Path) -> Markup:
    path = folder / "continuations.json"
    if not path.exists():
        return Markup("")
    parts = [
        Markup("<h3>{}</h3><p><b>{}</b></p>").format(visible(row["id"]), visible(row["prefix"]))
        + _joined("<p>{}</p>", [f"{how}: {row[how]}" for how in ("greedy", "sampled", "true")])
        for row in read_json(path)
    ]
    return Markup("<section><h2>Continuations of test documents</h2>{}</section>").format(Markup("").join(parts))


def _data(folder: Path) -> list[str]:
    ledger = read_json(folder / "ledger.json")
    said = []
    for name, split in ledger["splits"].items():
        domains = ", ".join(f"{domain} {n:,}" for domain, n in split["labels"].items())
        notes = "; ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in {**split["notes"], **split["dropped"]}.items())
        said.append(f"{name}: {split['n']:,} documents ({domains}); {notes}")
    fitted = [f"{thing} on {entry['split']}" for thing, entry in ledger["fitted"].items()]
    return [*said, f"fitted: {'; '.join(fitted)}"]
