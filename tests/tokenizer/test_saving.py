"""The folder: what AutoTokenizer makes of it, what it holds, and that a tokenizer without its template is not saved."""

import json

import pytest
from transformers import AutoTokenizer, BertConfig, PreTrainedTokenizerFast

from heldout.errors import Failed, Refused
from heldout.tokenizer.saving import load, refuse_taken, save
from heldout.tokenizer.train import TrainOptions, train

KINDS = ("wordpiece", "bpe", "byte-bpe")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loader", [AutoTokenizer, PreTrainedTokenizerFast])
def test_a_saved_tokenizer_frames_its_texts_once_loaded(folders, kind, loader):
    """FAULTS P8: a newly trained tokenizer that adds no [CLS] and [SEP]."""
    tokenizer = loader.from_pretrained(folders[kind])
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    one = tokenizer("a net.")["input_ids"]
    two = tokenizer("a net.", "tea")
    assert (one[0], one[-1], one.count(cls), one.count(sep)) == (cls, sep, 1, 1)
    assert two["input_ids"][: len(one)] == one
    assert two["input_ids"][-1] == sep
    assert two["input_ids"].count(cls) == 1
    assert two["token_type_ids"] == [0] * len(one) + [1] * (len(two["input_ids"]) - len(one))
    assert tokenizer.num_special_tokens_to_add() == 2
    assert tokenizer.num_special_tokens_to_add(pair=True) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_beside_a_berts_config_it_is_the_same_tokenizer(folders, kind, tmp_path):
    before = AutoTokenizer.from_pretrained(folders[kind])
    before.save_pretrained(tmp_path)
    BertConfig(vocab_size=len(before)).save_pretrained(tmp_path)
    after = AutoTokenizer.from_pretrained(tmp_path)
    texts = ["A net, été.", "rats [MASK] tea", "Ж"]
    assert after(texts)["input_ids"] == before(texts)["input_ids"]
    assert after.backend_tokenizer.to_str() == before.backend_tokenizer.to_str()


@pytest.mark.parametrize("kind", KINDS)
def test_the_folder_holds_no_truncation_no_padding_and_how_it_was_made(folders, kind):
    folder = folders[kind]
    assert {path.name for path in folder.iterdir()} == {"tokenizer.json", "tokenizer_config.json", "training.json"}
    saved = json.loads((folder / "tokenizer.json").read_text())
    assert (saved["truncation"], saved["padding"]) == (None, None)
    facts = json.loads((folder / "training.json").read_text())
    assert facts["options"]["kind"] == facts["kind"] == kind
    assert len(facts["corpus"]["sha256"]) == 64
    assert facts["corpus"]["texts"] == 300
    assert facts["vocabulary"]["size"] == len(saved["model"]["vocab"])
    special = (
        ["[PAD]", "[CLS]", "[SEP]", "[MASK]"] if kind == "byte-bpe" else ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    )
    assert [token["content"] for token in saved["added_tokens"]] == special
    assert [token["id"] for token in saved["added_tokens"]] == list(range(len(special)))


def test_a_masked_word_of_bytes_takes_its_space(folders):
    tokenizer = AutoTokenizer.from_pretrained(folders["byte-bpe"])
    space = tokenizer.convert_tokens_to_ids("Ġ")
    assert space not in tokenizer("net [MASK] tea")["input_ids"]


def test_a_tokenizer_that_lost_its_template_is_not_saved(tmp_path):
    trained = train(["a small text"], TrainOptions(kind="wordpiece", vocab_size=40))
    from tokenizers import processors

    trained.tokenizer.post_processor = processors.Sequence([])
    with pytest.raises(Failed, match=r"adds no \[CLS\] and \[SEP\]"):
        save(trained, tmp_path / "broken", trained.facts)
    assert not (tmp_path / "broken").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_that_lost_its_template_is_refused_when_loaded(folders, kind, tmp_path):
    for path in folders[kind].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert load(str(tmp_path)).cls_token == "[CLS]"
    saved = json.loads((tmp_path / "tokenizer.json").read_text())
    (tmp_path / "tokenizer.json").write_text(json.dumps(saved | {"post_processor": None}))
    with pytest.raises(Refused, match="its template is gone"):
        load(str(tmp_path))


def test_a_folder_that_is_taken_is_refused_before_the_work(tmp_path):
    refuse_taken(tmp_path)
    refuse_taken(tmp_path / "new")
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(Refused, match="is there already"):
        refuse_taken(tmp_path)


def test_truncation_and_padding_of_anothers_file_are_taken_off(minilm):
    tokenizer = load(str(minilm))
    assert len(tokenizer.backend_tokenizer.encode("a word " * 400).ids) == 802


def test_what_is_no_tokenizer_is_refused(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{")
    for name, message in (
        (str(tmp_path / "none"), "no such tokenizer folder"),
        (str(tmp_path.parent), "no tokenizer.json"),
        (str(tmp_path), "could not be loaded"),
    ):
        with pytest.raises(Refused, match=message) as error:
            load(name)
        assert "\n" not in str(error.value)
