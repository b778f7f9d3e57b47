"""Sentiment: is a review for or against? Two labels or more (SST-5), one text.

A row of a file (label 1 is positive, 0 negative; movie becomes the group), and the example that it becomes:

    {"id": "m7-2", "text": "Slow to start,<br />but what an ending!", "label": 1, "movie": "m7"}
    Example("m7-2", {"text": "Slow to start, but what an ending!"}, "positive", {"group": "m7"})
"""

from collections.abc import Collection, Sequence

from heldout.data.labelled import ONE_TEXT, read_labelled, read_texts
from heldout.data.labels import in_order
from heldout.data.large import Large
from heldout.data.names import Reading
from heldout.data.sources import Loaded
from heldout.data.table import Table
from heldout.data.task import Data
from heldout.records import Card, Example

METRICS = ("accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_mass")
SLICES = ("negation", "length", "overlap", "domain")
CITATION = (
    "Pang, Lee and Vaithyanathan (2002), Thumbs up? Sentiment classification using machine learning techniques; "
    "Maas et al. (2011), Learning word vectors for sentiment analysis"
)


def read(table: Table, reading: Reading, known: Collection[str] = ()) -> Loaded:
    """Examples of a table; with ``known`` labels any other is Refused, naming the row and the value."""
    return read_labelled(table, reading, known)


def card(train: Sequence[Example]) -> Card:
    """The card with the labels of train in a natural order: negative, neutral, positive, then the others sorted."""
    labels = in_order({example.gold for example in train})
    return Card("sentiment", "1", "label", labels, METRICS, SLICES, citation=CITATION)


def texts(table: Table, reading: Reading) -> Sequence[str]:
    """The texts alone, of a source that may have no labels."""
    return read_texts(table, reading)["text"].texts


BASELINES = ("majority", "lexicon", "tfidf", "static")
DATA = Data("sentiment", read, card, texts, baselines=BASELINES, large=Large(ONE_TEXT))
