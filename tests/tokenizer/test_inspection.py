"""What tokenizers make of a text, against counts made by hand."""

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from heldout.data.corpus import Document
from heldout.data.streams import Seen
from heldout.tokenizer.inspection import inspect


def wordpiece(*pieces, normalizer=None):
    vocab = {piece: row for row, piece in enumerate(["[UNK]", *pieces])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]")


def bpe_without_unknown(letters):
    tokenizer = Tokenizer(models.BPE({letter: row for row, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def figures(tokenizer, *texts, domain="d"):
    found = inspect({"t": tokenizer}, [Document(domain, text) for text in texts])
    return found.to_json(Seen())["tokenizers"]["t"]["domains"][domain]


def test_fertility_split_words_and_unknown_tokens_are_counted_by_hand():
    found = figures(wordpiece("the", "cat", "jump", "##ed", "."), "the cat jumped.", "the dog .")
    assert (found["documents"], found["words"], found["tokens"]) == (2, 7, 8)
    assert found["fertility"] == pytest.approx(8 / 7)
    assert found["split_words"] == pytest.approx(1 / 7)
    assert found["unknown_tokens"] == 1
    assert found["unknown"] == pytest.approx(1 / 8)
    assert found["altered_documents"] == 1
    assert found["exact_documents"] == 1
    assert found["length"] == {"p50": 4, "p90": 4, "p99": 4, "max": 5}


def test_a_tokenizer_without_unknown_token_that_drops_characters_is_found_out():
    """FAULTS P2, seen from outside: smartest without m."""
    found = figures(bpe_without_unknown("aerst"), "smartest rates")
    assert found["dropped_characters"] == 1
    assert found["altered_documents"] == 1
    assert found["unknown_tokens"] == 0


def test_control_characters_that_a_normaliser_deletes_are_counted():
    found = figures(wordpiece("ab", normalizer=normalizers.BertNormalizer()), "a\x07b\u200d")
    assert found["dropped_characters"] == 2
    assert found["tokens"] == 1


def test_folding_case_is_the_tokenizers_own_normalisation_not_a_loss():
    found = figures(wordpiece("the", "cat", normalizer=normalizers.Lowercase()), "The CAT")
    assert (found["altered_documents"], found["exact_documents"]) == (0, 0)


def test_several_domains_are_told_apart_and_summed(folders):
    from heldout.tokenizer.saving import load

    documents = [Document("a", "nets"), Document("b", "tea rats"), Document("a", "rats")]
    found = inspect({kind: load(str(folder)) for kind, folder in folders.items()}, documents)
    assert len(found.tallies) == 3
    for domains in found.tallies.values():
        assert list(domains) == ["a", "b", "all"]
        assert [domains[name].documents for name in domains] == [2, 1, 3]
        assert domains["all"].tokens == domains["a"].tokens + domains["b"].tokens
        assert len(domains["all"].lengths) == 3
        assert domains["all"].altered == 0


def test_a_word_of_several_bytes_is_split_and_one_token_over_two_words_is_not(folders):
    from heldout.tokenizer.saving import load

    found = inspect({"t": load(str(folders["byte-bpe"]))}, [Document("d", "猫 猫")]).tallies["t"]["d"]
    assert (found.words, found.split, found.exact, found.altered) == (2, 2, 1, 0)


def test_an_empty_encoding_has_no_fertility_but_a_length():
    found = figures(wordpiece("a", normalizer=normalizers.BertNormalizer()), "\u200d")
    assert found["tokens"] == 0
    assert found["unknown"] is None
    assert found["length"]["max"] == 0
