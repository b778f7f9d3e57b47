"""NLI: does the hypothesis follow from the premise (entailment), go against it (contradiction), or neither (neutral)?

A row of snli_1.0's jsonl form, made up, and the example that it becomes:

    {"sentence1": "A man waters his roses.", "sentence2": "A man is in a garden.", "gold_label": "entailment",
     "pairID": "17#2r1e"}
    Example("17#2r1e", {"premise": "A man waters his roses.", "hypothesis": "A man is in a garden."}, "entailment")

A label is known by its name; numbers mean different things in different data sets, so they are never guessed.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from heldout.data.defaults import HYPOTHESIS, IDENTITY, PREMISE
from heldout.data.duplicates import fold
from heldout.data.files import read_text, stem
from heldout.data.identity import ABOUT
from heldout.data.labelled import Form, read_labelled, read_texts
from heldout.data.labels import Naming, in_order
from heldout.data.large import Large
from heldout.data.names import Reading
from heldout.data.sources import Loaded
from heldout.data.table import Row, Table
from heldout.data.task import Data
from heldout.errors import Refused
from heldout.records import Card, Example

ENTAILMENT, NON_ENTAILMENT = "entailment", "non-entailment"
#: What of three labels is one where a data set has two (HANS, RTE).
COLLAPSED = ("neutral", "contradiction")
NAMES = {name: name for name in (ENTAILMENT, *COLLAPSED)} | {
    **{word: NON_ENTAILMENT for word in ("non-entailment", "non_entailment", "not_entailment", "not-entailment")},
    **{"e": ENTAILMENT, "n": "neutral", "c": "contradiction"},
}
FORM = Form(
    texts={"premise": PREMISE, "hypothesis": HYPOTHESIS},
    about={**ABOUT, "domain": ("domain", "genre"), "phenomenon": ("phenomenon", "heuristic")},
    identity=(*IDENTITY, "pairid"),
    naming=Naming(NAMES),
)
METRICS = ("accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_mass")
SLICES = ("pair_negation", "lexical_overlap", "phenomenon", "length", "overlap", "domain")
CITATION = (
    "Bowman et al. (2015), A large annotated corpus for learning natural language inference; McCoy, Pavlick and Linzen "
    "(2019), Right for the wrong reasons: diagnosing syntactic heuristics in natural language inference"
)


def read(table: Table, reading: Reading, known: Collection[str] = ()) -> Loaded:
    """Examples of a table; with ``known`` labels any other is Refused, naming the row and the value.

    Refused where labels are numbers that no --label names. Rows that share a premise are one group, unless a column
    says otherwise: they are carved to one side and resampled whole.
    """
    loaded = read_labelled(table, reading, known, FORM)
    _refuse_numbers(table.source, {example.gold or "" for example in loaded.examples})
    return replace(loaded, examples=_grouped(loaded.examples))


def _refuse_numbers(source: str, labels: Collection[str]) -> None:
    numbers = in_order({label for label in labels if label.isdecimal()})
    if numbers:
        raise Refused(
            f"{source}: its labels {', '.join(numbers)} are numbers, which mean different things in different "
            "sets; name each, such as --label 0=entailment --label 1=neutral --label 2=contradiction (3=- leaves out)"
        )


def _grouped(examples: Sequence[Example]) -> tuple[Example, ...]:
    """With a group for each premise that several rows share; where none is shared, rows stand alone."""
    folds = [fold(example.text["premise"]) for example in examples]
    if len(set(folds)) == len(folds):
        return tuple(examples)
    return tuple(
        example if "group" in example.about else replace(example, about={**example.about, "group": _short(text)})
        for example, text in zip(examples, folds, strict=True)
    )


def _short(text: str) -> str:
    """A premise as 48 bits of BLAKE2b in hex: the same in every split, and 100,000 of them don't collide."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _group(example: Example) -> str:
    return _short(fold(example.text["premise"]))


def card(train: Sequence[Example]) -> Card:
    """The card with the labels of train: entailment, neutral, contradiction, then the others sorted.

    Its collapse makes a three-way system comparable with two-way gold.
    """
    labels = in_order({example.gold for example in train})
    two_way = ENTAILMENT in labels and NON_ENTAILMENT not in labels
    collapse = {label: NON_ENTAILMENT for label in labels if two_way and label in COLLAPSED}
    return Card("nli", "1", "label", labels, METRICS, SLICES, collapse, CITATION)


def texts(table: Table, reading: Reading) -> Sequence[str]:
    """The premises alone, of a source that may have no labels: what is left out of train goes by premise."""
    only = Form(texts={"premise": PREMISE})
    return read_texts(table, reading, only)["premise"].texts


def read_triple(path: Path, reading: Reading) -> Table | None:
    """InferSent's three files as one table, named by the first (s1.train; s2.train and labels.train lie beside it).

    None where the name is another; Refused where a file is missing or has more lines or fewer than the first.
    """
    if not path.name.startswith("s1."):
        return None
    columns = {}
    for column, part in {"premise": "s1", "hypothesis": "s2", "label": "labels"}.items():
        columns[column] = _lines(path.with_name(part + path.name.removeprefix("s1")), reading)
    counts = Counter(map(len, columns.values()))
    if len(counts) > 1:
        found = ", ".join(f"{column} has {len(lines)} lines" for column, lines in columns.items())
        raise Refused(f"{path}: {found}; line by line the three files must be one pair each")
    rows = [
        Row(f"line {number}", number, dict(zip(columns, values, strict=True)))
        for number, values in enumerate(zip(*columns.values(), strict=True), 1)
    ]
    return Table(str(path), stem(path), tuple(columns), rows)


def _lines(path: Path, reading: Reading) -> list[str]:
    """The lines of a file, blank ones kept: a line is known by its number."""
    return read_text(path, reading.encoding).replace("\r\n", "\n").removesuffix("\n").split("\n")


BASELINES = ("majority", "hypothesis-only", "word-overlap", "static")
LARGE = Large(FORM, _group, "premise", _refuse_numbers)
DATA = Data("nli", read, card, texts, key="premise", files=read_triple, baselines=BASELINES, large=LARGE)
