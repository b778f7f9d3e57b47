"""Run folders of made-up reviews, written with the package's own records, and a page in headless Chromium."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heldout.eval.report import build
from heldout.eval.report.inputs import Inputs, read_inputs
from heldout.fits import soften
from heldout.ledger import Ledger, Split, write_ledger
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json, write_lines

CARD = Card("sentiment", "1", "label", ("negative", "positive"), ("accuracy", "macro_f1", "mcc", "nll", "brier", "ece"))
OPENINGS = ("We rented this on a rainy night", "My sister picked it", "I saw it twice", "The trailer fooled me")
PRAISE = ("a warm and clever story", "the best cast in years", "superb songs", "not a boring minute")
BLAME = ("a dull and clumsy story", "the worst cast in years", "awful songs", "not a good scene anywhere")
NASTY = "</script><!-- <script>alert(1)</script> \"quoted\" 'single' & <b>bold</b> \x00\u202e"
REPLICATES = 200


def make_examples(name: str, n: int, seed: int) -> list[Example]:
    """n reviews in both labels, of unequal length, some of one film; the first holds what a page must escape."""
    rng = random.Random(f"{name} {seed}")
    examples = []
    for number in range(n):
        label = CARD.labels[number % 2]
        words = [rng.choice(PRAISE if label == "positive" else BLAME) for _ in range(rng.choice((1, 2, 6, 40)))]
        text = f"{rng.choice(OPENINGS)}: {', '.join(words)}."
        about = {"group": f"film-{number // 3}"} | ({"overlap": "exact"} if number in (5, 6) else {})
        examples.append(Example(f"{name}/{number}", {"text": f"{NASTY} {text}" if number == 0 else text}, label, about))
    return examples


def make_predictions(examples: list[Example], right: float, seed: int, *, scores: bool = True) -> list[Prediction]:
    """Answers right with probability ``right``, too sure of themselves; the first is wrong, and the surest of all."""
    rng = random.Random(seed)
    predictions = []
    for number, example in enumerate(examples):
        hit = rng.random() < right and number > 0
        answer = example.gold if hit else next(label for label in CARD.labels if label != example.gold)
        sure = 0.999 if number == 0 else rng.uniform(0.55, 0.99 if hit else 0.9)
        given = soften([sure, 1 - sure] if answer == CARD.labels[0] else [1 - sure, sure], 0.7)
        lost = max(0, len(example.text["text"].split()) - 60)
        seen = {"tokens": len(example.text["text"].split()) - lost, "lost": lost}
        predictions.append(Prediction(example.id, answer, given if scores else None, seen=seen))
    return predictions


def write_run(
    folder: Path,
    gold: dict[str, list[Example]],
    right: float,
    *,
    options: dict[str, Any],
    seed: int = 1,
    scores: bool = True,
    fitted: dict[str, str] | None = None,
    card: Card = CARD,
) -> Path:
    """One run folder; each set after the first is answered a little worse than the one before it."""
    write_json(folder / "card.json", card.to_json())
    write_json(folder / "options.json", options)
    write_json(folder / "environment.json", {"python": "3.11.2", "cpus": 2, "versions": {"heldout": "0.1.0"}})
    ledger = Ledger(plan="0" * 64, overlap={"train/imdb": 2})
    labels = {label: 60 for label in card.labels}
    train = Split("reviews:train", "a" * 64, 120, labels, {"empty text": 2}, {"duplicates within": 3}, ("html",))
    ledger = ledger.with_split("train", train)
    for number, (name, examples) in enumerate(gold.items()):
        worse = right - 0.08 * max(0, number - 1)
        write_lines(folder / "gold" / f"{name}.jsonl", (example.to_json() for example in examples))
        predictions = make_predictions(examples, worse, seed + number, scores=scores)
        write_lines(folder / "predictions" / f"{name}.jsonl", (prediction.to_json() for prediction in predictions))
        ledger = ledger.with_split(name, Split(f"reviews:{name}", content_hash(examples), len(examples), labels))
    for thing, name in ({"checkpoint": "dev"} if fitted is None else fitted).items():
        ledger = ledger.with_fitted(thing, name, content_hash(gold[name]), len(gold[name]))
    write_ledger(folder, ledger)
    return folder


def make_run(
    folder: Path, *, n: int = 200, right: float = 0.9, fitted: dict[str, str] | None = None, scores: bool = True
) -> Path:
    """A run with dev, two test sets and two baselines."""
    sizes = {"dev": 80, "imdb": n, "yelp": n}
    gold = {name: make_examples(name, size, seed) for seed, (name, size) in enumerate(sizes.items())}
    tests = {"test": ["imdb=reviews:imdb", "yelp=reviews:yelp"], "task": "sentiment", "seed": 1}
    options = {"model": "someone/tiny-bert", "max_length": 60, "train": "reviews:train"} | tests
    write_run(folder, gold, right, options=options, fitted=fitted, scores=scores)
    for number, (kind, share) in enumerate({"tfidf": 0.8, "majority": 0.5}.items()):
        baseline = folder / "baselines" / kind
        write_run(baseline, gold, share, options={"kind": kind} | tests, seed=50 + number, scores=kind == "tfidf")
    return folder


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture(scope="session")
def read(run_folder: Path) -> Inputs:
    return read_inputs([run_folder], REPLICATES)


@pytest.fixture(scope="session")
def html(run_folder: Path) -> str:
    return build([run_folder], replicates=REPLICATES)


@pytest.fixture(scope="session")
def html_file(html: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("html") / "report.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def browser(chromium: Path) -> Iterator[Any]:
    """Headless Chromium, one for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


#: The contrast of every piece of text with its ground (WCAG 2), with the element it stands in.
CONTRAST = """() => {
  const channel = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, k) => sum + w * channel(c[k]), 0);
  const rgba = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const c = rgba(getComputedStyle(node).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const words = [...node.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!words || node.closest("script, option")) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(rgba(node.closest("svg") ? style.fill : style.color)), light(ground(node))];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.tagName + "." + node.getAttribute("class")]);
  }
  return found;
}"""


class Opened:
    """A page with what it said on its console and asked of the network."""

    def __init__(self, page: Any) -> None:
        self.page, self.said, self.asked = page, [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        page.on("request", lambda request: self.asked.append(request.url))

    def contrasts(self) -> list[tuple[float, str]]:
        """The contrast of every piece of text, with the element it stands in."""
        found: list[tuple[float, str]] = self.page.evaluate(CONTRAST)
        return found


@pytest.fixture
def open_page(browser: Any, html_file: Path) -> Iterator[Any]:
    """Opens the report, or another file, at a tab or the first one: open_page(width=…, height=…, tab="mistakes")."""
    contexts = []

    def open_it(
        path: Path = html_file, *, width: int = 1280, height: int = 900, scheme: str = "light", tab: str = ""
    ) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.goto(path.as_uri() + (f"#{tab}" if tab else ""))
        return opened

    yield open_it
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def make() -> Any:
    """make_run: tests cannot import a conftest."""
    return make_run


@pytest.fixture(scope="session")
def make_one() -> Any:
    """make_one(folder, n, right): a run with one test set of n examples and nothing beside it."""

    def one(folder: Path, n: int, right: float) -> Path:
        return write_run(folder, {"imdb": make_examples("imdb", n, 1)}, right, options={}, fitted={})

    return one
