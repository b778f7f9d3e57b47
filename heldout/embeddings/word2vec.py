"""word2vec and fastText, trained by gensim (Mikolov et al. 2013; Bojanowski et al. 2017)."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from heldout.embeddings.options import VectorOptions
from heldout.embeddings.text import Sentences
from heldout.embeddings.vectors import Grams, Vectors
from heldout.errors import Failed, Refused


class _Teller:
    """Says each epoch; gensim calls these four (a class of gensim's own could not be imported up here)."""

    def __init__(self, epochs: int, say: Callable[[str], None]) -> None:
        self.epochs, self.say, self.done, self.begun = epochs, say, 0, time.perf_counter()

    def on_train_begin(self, model: Any) -> None:
        """Nothing to say yet."""

    def on_epoch_begin(self, model: Any) -> None:
        """Nothing to say yet."""

    def on_epoch_end(self, model: Any) -> None:
        """The epoch, and the words of the corpus a second."""
        self.done += 1
        speed = self.done * model.corpus_total_words / (time.perf_counter() - self.begun)
        self.say(f"epoch {self.done} of {self.epochs}, {speed:,.0f} words a second")

    def on_train_end(self, model: Any) -> None:
        """The caller says it."""


def load_gensim() -> Any:
    """gensim.models; Refused with what to install where it is absent (it takes seconds to import: ask when needed)."""
    try:
        import gensim.models
    except ModuleNotFoundError:
        raise Refused("word2vec and fastText need gensim; pip install 'heldout[embeddings]', or --kind glove") from None
    return gensim.models


def train_gensim(sentences: Sentences, options: VectorOptions, say: Callable[[str], None]) -> Vectors:
    """Vectors of cbow, skipgram or fasttext; with one worker a function of the sentences and options alone.

    Refused where no word is as frequent as ``min_count``; Failed where the vectors overflow.
    """
    models = load_gensim()
    settings = _settings(options)
    start = time.perf_counter()
    if options.kind == "fasttext":
        model = models.FastText(**settings, min_n=options.shortest, max_n=options.longest, bucket=options.buckets)
    else:
        model = models.Word2Vec(**settings)
    model.build_vocab(corpus_iterable=sentences)
    if not len(model.wv):
        raise Refused(f"no word occurs {options.min_count} times; lower --min-count or give more text")
    say(f"{len(model.wv):,} words seen {options.min_count} times or more, {model.corpus_total_words:,} in all")
    # The same arguments that the constructor hands on when it is given sentences: so is the seeds' run repeated.
    model.train(
        corpus_iterable=sentences,
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=model.epochs,
        start_alpha=model.alpha,
        end_alpha=model.min_alpha,
        compute_loss=model.compute_loss,
        callbacks=[_Teller(options.passes, say)],
    )
    say(f"{options.kind}: {options.passes} epochs in {time.perf_counter() - start:.1f} s")
    return _vectors(model.wv, options)


def _settings(options: VectorOptions) -> dict[str, Any]:
    hierarchical = options.softmax == "hierarchical"
    return {
        "vector_size": options.size,
        "window": options.window,
        "min_count": options.min_count,
        "epochs": options.passes,
        "seed": options.seed,
        "workers": options.workers,
        "sg": int(options.skip_gram if options.kind == "fasttext" else options.kind == "skipgram"),
        "hs": int(hierarchical),
        "negative": 0 if hierarchical else options.negative,
        "ns_exponent": options.exponent,
        "sample": options.subsample,
        "shrink_windows": options.shrink_windows,
        "alpha": options.rate,
        "min_alpha": options.last_learning_rate,
    }


def _vectors(keyed: Any, options: VectorOptions) -> Vectors:
    rows = np.asarray(keyed.vectors, dtype=np.float32)
    if not np.isfinite(rows).all():
        raise Failed(f"{options.kind}: the vectors overflowed; lower --learning-rate {options.rate:g}")
    counts = np.array([keyed.get_vecattr(word, "count") for word in keyed.index_to_key], dtype=np.int64)
    grams = None
    if options.kind == "fasttext":
        grams = Grams(np.asarray(keyed.vectors_ngrams, dtype=np.float32), options.shortest, options.longest)
    return Vectors(tuple(keyed.index_to_key), rows, counts, grams)
