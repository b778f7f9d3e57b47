"""Static embeddings + logistic regression: a text is the pooled vectors of its words, whatever their order.

Skip-gram of 100 dimensions, trained on train's own texts for about a minute at most, or the vectors of ``--vectors``;
the mean, its idf-weighted kin or SIF (``--pooling``, SIF unless given); C by the card's main metric on dev. Of a pair
(premise, hypothesis) the classifier sees both vectors, their distance |p − h| and product p · h, a number each
dimension. What it gets beyond tf-idf, neighbourhoods of words give; what an encoder gets beyond it, context does.
"""

import math
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted
from heldout.baselines._kept import Kept
from heldout.baselines._logistic import check, fit_logistic, logistic_again
from heldout.embeddings.features import Features, fit_features
from heldout.embeddings.files import read_vectors
from heldout.embeddings.options import VectorOptions
from heldout.embeddings.text import Sentences, words
from heldout.embeddings.vectors import Vectors
from heldout.embeddings.word2vec import train_gensim
from heldout.errors import Refused
from heldout.records import Card, Example

Rows = npt.NDArray[np.float64]
#: Words that stand in train once say nothing of a test.
OWN = VectorOptions(kind="skipgram", size=100, min_count=2)
#: Passes over few texts, and the words that all passes read: 265,000 a second of one CPU, so 16 million take a minute
#: (three passes over 24,000 film reviews).
PASSES, READ = 10, 16_000_000


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Train or read the vectors, fit the pooling on train, one classifier for each C; the best on dev.

    Refused where gensim is absent (and no ``--vectors`` given), no word of train has a vector, and as tfidf is.
    """
    check("static", train, dev, card)
    if options.vectors is None and find_spec("gensim") is None:
        raise Refused("static: learns its word vectors with gensim; pip install 'heldout[embeddings]'")
    texts = [words(text) for example in train for text in fields(example)]
    vectors = read_vectors(options.vectors) if options.vectors else own_vectors(train, seed)
    features = fit_features(vectors, texts, options.pooling)
    rows = features_of(features, train)
    scale = rows.std(axis=0)
    if not scale.any():
        raise Refused("static: no word of train has a vector; give vectors of the same language, or leave it out")
    # The same strength of regularisation for every dimension, whatever the vectors' length.
    scale[scale == 0] = 1
    fitted = fit_logistic(train, rows / scale, dev, card, lambda examples: features_of(features, examples) / scale)
    # The user's own vectors may be gigabytes, and stay where they are.
    kept = None if options.vectors else fitted.kept
    return replace(fitted, kept=kept and _keep(kept, features, scale))


def _keep(kept: Kept, features: Features, scale: Rows) -> Kept:
    arrays = {**kept.arrays, "vectors": features.vectors.rows, "component": features.component}
    arrays |= {"weights": features.weights, "scale": scale}
    return Kept(arrays, features.vectors.words, {**kept.about, "pooling": features.how})


def again(kept: Kept, card: Card) -> Fitted:
    """The vectors that were trained, their pooling and the classifier."""
    vectors = Vectors(tuple(kept.words), kept.arrays["vectors"])
    features = Features(vectors, kept.about["pooling"], kept.arrays["weights"], kept.arrays["component"])
    scale = kept.arrays["scale"]
    return logistic_again(kept, card, lambda examples: features_of(features, examples) / scale)


def own_vectors(train: Sequence[Example], seed: int) -> Vectors:
    """Skip-gram vectors of train's texts, or of every n-th example's where they are too many for a pass in a minute.

    Refused where they are too few for any word to stand in them twice.
    """
    examples = [[words(text) for text in fields(example)] for example in train]
    words_in_all = sum(len(text) for texts in examples for text in texts)
    every = max(1, math.ceil(words_in_all / READ))
    texts = [text for kept in examples[::every] for text in kept]
    passes = min(PASSES, max(1, round(READ / max(1, words_in_all))))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sentences.txt"
        with path.open("w", encoding="utf-8", newline="\n") as lines:
            lines.writelines(" ".join(text) + "\n" for text in texts if text)
        chosen = replace(OWN, epochs=passes, seed=seed % 2**32)
        return train_gensim(Sentences(path), chosen, lambda message: None)


def fields(example: Example) -> list[str]:
    """The texts of an example: one, or the two of a pair."""
    return [str(value) for value in example.text.values()]


def features_of(features: Features, examples: Sequence[Example]) -> Rows:
    """A row of numbers for each example: the vector of its text; of a pair p, h, |p − h| and p · h."""
    sides = [features.of([words(text) for text in side]) for side in zip(*map(fields, examples), strict=True)]
    if len(sides) == 2:
        sides += [abs(sides[0] - sides[1]), sides[0] * sides[1]]
    return np.concatenate(sides, axis=1).astype(np.float64)


BASELINE = Baseline("static", fit, again=again)
