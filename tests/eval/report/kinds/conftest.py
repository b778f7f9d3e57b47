"""Run folders of made-up tagged sentences, questions and pairs, and the reports of them."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from heldout.bio import strict
from heldout.eval.report import build
from heldout.eval.report.inputs import Inputs, read_inputs
from heldout.ledger import Ledger, Split, write_ledger
from heldout.records import Card, Example, Prediction, content_hash
from heldout.runs import write_json, write_lines

REPLICATES = 60
NASTY = "</script><script>alert(1)</script>\u202e\x00"

TAGS = Card(
    "names",
    "1",
    "tags",
    ("O", "B-person", "I-person", "B-place", "I-place"),
    ("entity_f1", "entity_precision", "entity_recall", "entity_f1_lenient", "nll", "ece"),
    ("entity_type", "unseen", "sentence_case"),
)
SPANS = Card("reading", "2.0", "span", (), ("f1", "em", "ece", "aurc"), ("question_word", "answerable"))
PAIRS = Card(
    "nli",
    "1",
    "label",
    ("entailment", "neutral", "contradiction"),
    ("accuracy", "nll", "ece"),
    ("pair_negation",),
    {"neutral": "non-entailment", "contradiction": "non-entailment"},
)


def write(
    folder: Path, card: Card, sets: dict[str, tuple[list[Example], list[Prediction]]], options: dict[str, Any]
) -> Path:
    """A run folder of these sets, all but dev of them tests."""
    write_json(folder / "card.json", card.to_json())
    tests = [f"{name}=made-up:{name}" for name in sets if name != "dev"]
    write_json(folder / "options.json", {"test": tests, "max_length": 64, **options})
    ledger = Ledger(plan="0" * 64)
    for name, (gold, predictions) in sets.items():
        write_lines(folder / "gold" / f"{name}.jsonl", (row.to_json() for row in gold))
        write_lines(folder / "predictions" / f"{name}.jsonl", (row.to_json() for row in predictions))
        ledger = ledger.with_split(name, Split(f"made-up:{name}", content_hash(gold), len(gold), {}))
    write_ledger(folder, ledger)
    return folder


def sentence(rng: random.Random, number: int) -> Example:
    """A sentence with a person and a place; the first holds what a page must escape, the second is long."""
    first, last, place = rng.choice(("Ada", "Bo", "Cleo")), rng.choice(("Lind", "Moor")), rng.choice(("Umeå", "Lagos"))
    words = ["Then", first, last, "went", "to", place, NASTY if number == 0 else "again", "."]
    gold = ["O", "B-person", "I-person", "O", "O", "B-place", "O", "O"]
    if number == 1:
        words, gold = ["well"] * 200 + words + ["so"] * 400, ["O"] * 200 + gold + ["O"] * 400
    return Example(f"s{number}", {"words": words}, gold, {"unseen": [strict(gold)[0][0]] if first == "Cleo" else []})


#: What a system makes of a sentence's gold, by number: everything right, a wrong type, wrong borders, a miss, one more.
READINGS: tuple[Callable[[list[str]], list[str]], ...] = (
    lambda gold: gold,
    lambda gold: ["B-person" if tag == "B-place" else tag for tag in gold],
    lambda gold: ["O" if tag == "I-person" else tag for tag in gold],
    lambda gold: ["O" if "person" in tag else tag for tag in gold],
    lambda gold: ["B-place", *gold[1:]],
)


def tagged(gold: Sequence[Example], rng: random.Random, *, skill: float, scores: bool = True) -> list[Prediction]:
    """The first sentence has the surest wrong entity."""
    said = []
    for number, example in enumerate(gold):
        wrong = number < 2 or rng.random() > skill
        answer = READINGS[1 + number % 4 if wrong else 0](example.gold)
        sure = 0.98 if number == 0 else rng.uniform(0.5, 0.95)
        rest = (1 - sure) / (len(TAGS.labels) - 1)
        given = [[sure if label == tag else rest for label in TAGS.labels] for tag in answer]
        said.append(Prediction(example.id, answer, given if scores else None, seen={"tokens": 8, "lost": 0}))
    return said


def make_tags(folder: Path, n: int = 60) -> Path:
    """A run of tags with dev, two tests and a baseline without scores."""
    rng = random.Random(1)
    golds = {name: [sentence(rng, k) for k in range(n)] for name in ("dev", "posts", "papers")}
    run = write(
        folder,
        TAGS,
        {name: (gold, tagged(gold, rng, skill=0.6)) for name, gold in golds.items()},
        {"model": "us/tagger"},
    )
    plain = {name: (gold, tagged(gold, rng, skill=0.2, scores=False)) for name, gold in golds.items()}
    write(folder / "baselines" / "gazetteer", TAGS, plain, {"kind": "gazetteer"})
    return run


def question(rng: random.Random, number: int) -> Example:
    """A question about a mill; every third has no answer, and the second's passage is too long to show whole."""
    name = rng.choice(("Ada Moor", "Bo Lind", "Cleo Ek"))
    context = f"The mill, which stood for years, was built by {name} in {1800 + number}. Nobody lives there {NASTY}."
    if number == 1:
        context = "It rained. " * 900 + context + " It snowed." * 900
    at = context.index(name)
    gold = [{"text": name, "start": at}, {"text": name.split()[1], "start": at + len(name.split()[0]) + 1}]
    answers = [] if number % 3 == 2 else gold
    return Example(f"q{number}", {"question": "Who built the mill?", "context": context}, answers)


def read_answers(gold: Sequence[Example], rng: random.Random, *, skill: float, scores: bool = True) -> list[Prediction]:
    said = []
    for number, example in enumerate(gold):
        context, right = example.text["context"], rng.random() < skill
        text = example.gold[0]["text"] if right and example.gold else f"in {1800 + number}"
        start = context.index(text)
        best = {"text": text, "start": start, "end": start + len(text), "p": rng.uniform(0.5, 0.9) if right else 0.4}
        null = rng.gauss(0.5 if not example.gold else -0.5, 1)
        answer = "" if scores and (null > 1 or number == 3) else text
        kept = {"null_score": null, "best": best} if scores else None
        said.append(Prediction(example.id, answer, kept))
    return said


def make_spans(folder: Path, n: int = 60) -> Path:
    """A run of questions with dev, two tests and a baseline without scores."""
    rng = random.Random(2)
    golds = {name: [question(rng, k) for k in range(n)] for name in ("dev", "mills", "barns")}
    sets = {name: (gold, read_answers(gold, rng, skill=0.7)) for name, gold in golds.items()}
    run = write(folder, SPANS, sets, {"model": "us/reader"})
    plain = {name: (gold, read_answers(gold, rng, skill=0.2, scores=False)) for name, gold in golds.items()}
    write(folder / "baselines" / "window", SPANS, plain, {"kind": "sliding-window"})
    return run


def pair(name: str, number: int) -> Example:
    label = PAIRS.labels[number % 3]
    verb = {"entailment": "is outside", "neutral": "is happy", "contradiction": "is not outside"}[label]
    two_way = name == "heuristics"
    text = {"premise": f"A child {number // 2} plays in the rain ({name}).", "hypothesis": f"Somebody {verb}."}
    gold = PAIRS.collapse.get(label, label) if two_way else label
    return Example(f"p{number}", text, gold, {} if two_way else {"pair": f"child {number // 2}"})


def judged(gold: Sequence[Example], rng: random.Random, *, skill: float) -> list[Prediction]:
    said = []
    for number, example in enumerate(gold):
        answer = PAIRS.labels[number % 3 if rng.random() < skill else (number + 1) % 3]
        said.append(Prediction(example.id, answer, [0.8 if label == answer else 0.1 for label in PAIRS.labels]))
    return said


def make_pairs(folder: Path, n: int = 90) -> Path:
    """A run of NLI with contrast pairs, a two-way set and the baselines that see too little."""
    rng = random.Random(3)
    golds = {name: [pair(name, k) for k in range(n)] for name in ("dev", "rain", "heuristics")}
    for place, options, skill in (
        (folder, {"model": "us/judge"}, 0.8),
        (folder / "baselines" / "majority", {"kind": "majority"}, 0.35),
        (folder / "baselines" / "hypothesis-only", {"kind": "hypothesis-only"}, 0.6),
    ):
        write(place, PAIRS, {name: (gold, judged(gold, rng, skill=skill)) for name, gold in golds.items()}, options)
    return folder


MAKERS = {"tags": make_tags, "span": make_spans, "pairs": make_pairs}


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each kind."""
    return {kind: maker(tmp_path_factory.mktemp(kind) / "run") for kind, maker in MAKERS.items()}


@pytest.fixture(scope="session")
def pages(folders: dict[str, Path]) -> dict[str, str]:
    """The report of each run."""
    return {kind: build([folder], replicates=REPLICATES) for kind, folder in folders.items()}


@pytest.fixture(scope="session")
def inputs(folders: dict[str, Path], pages: dict[str, str]) -> dict[str, Inputs]:
    """What each report was made of."""
    return {kind: read_inputs([folder], REPLICATES) for kind, folder in folders.items()}


@pytest.fixture(scope="session")
def files(pages: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each report as a file."""
    home = tmp_path_factory.mktemp("pages")
    for kind, page in pages.items():
        (home / f"{kind}.html").write_text(page, encoding="utf-8")
    return {kind: home / f"{kind}.html" for kind in pages}


@pytest.fixture(scope="session")
def makers() -> dict[str, Callable[[Path], Path]]:
    """What makes a run of each kind: tests cannot import a conftest."""
    return MAKERS
