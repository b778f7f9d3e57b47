"""Tokenizers trained on WikiText, looked at on what they were not trained on."""

import pytest

from heldout.data.corpus import CorpusOptions, documents, texts
from heldout.tokenizer.inspection import inspect
from heldout.tokenizer.saving import wrap
from heldout.tokenizer.train import TrainOptions, train


@pytest.mark.data
def test_held_out_wikitext_is_hardly_unknown_and_comes_back(real_data):
    options = CorpusOptions(documents=("heading",))
    found = {}
    for kind in ("wordpiece", "bpe", "byte-bpe"):
        corpus = texts([str(real_data / "wikitext2" / "valid.txt")], options)
        made = train((text.text for text in corpus), TrainOptions(kind=kind, vocab_size=4000))
        assert made.facts["unknown"] in (0, None)
        found[kind] = wrap(made.tokenizer)
    tallies = inspect(found, documents([str(real_data / "wikitext2" / "test.txt")], options)).tallies
    for kind, domains in tallies.items():
        tally = domains["test"]
        assert tally.documents >= 60
        assert tally.words > 200_000
        assert 1.1 < tally.tokens / tally.words < 1.5, kind
        assert tally.unknown / tally.tokens < 0.001
        assert tally.dropped == 0
    assert tallies["byte-bpe"]["test"].exact == tallies["byte-bpe"]["test"].documents
