"""Made-up corpora and tokenizers for pretraining: WordPiece over our own words, byte-level BPE learnt from a few."""

import random
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from heldout.data.corpus import Document
from heldout.pretrain.store import load

NAMES = ["ada", "bo", "cyrus", "dee", "elif", "fay"]
VERBS = ["saw", "liked", "left", "found", "painted"]
THINGS = ["a film", "the sea", "an old song", "the north road", "some unbelievable plots"]


def story(generator: random.Random, sentences: int) -> str:
    """A made-up document of so many sentences, whose words say little about the next ones."""

    def one() -> str:
        return f"{generator.choice(NAMES).capitalize()} {generator.choice(VERBS)} {generator.choice(THINGS)}."

    return " ".join(one() for _ in range(sentences))


@pytest.fixture(scope="session")
def stories() -> list[Document]:
    """60 documents of 2 to 9 sentences in two domains."""
    generator = random.Random(5)
    return [Document(("tales", "notes")[n % 2], story(generator, generator.randrange(2, 10))) for n in range(60)]


@pytest.fixture(scope="session")
def stories_file(stories, tmp_path_factory) -> Path:
    """The same as a text file with a blank line between documents."""
    path = tmp_path_factory.mktemp("corpus") / "tales.txt"
    path.write_text("\n\n".join(document.text for document in stories) + "\n")
    return path


def wordpieces() -> PreTrainedTokenizerFast:
    """WordPiece with a BERT template; "unbelievable" and "painted" are several pieces."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({*NAMES, *VERBS, *" ".join(THINGS).split()} - {"unbelievable", "painted"})
    pieces = ["un", "##believ", "##able", "paint", "##ed", "."]
    vocabulary = {token: row for row, token in enumerate([*special, *words, *pieces])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = dict(zip(("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"), special, strict=True))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=["input_ids", "token_type_ids", "attention_mask"], **names
    )


def byte_pieces() -> PreTrainedTokenizerFast:
    """Byte-level BPE with <s>, </s>, <pad>, <mask>, learnt from a few of our words."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<pad>", "<s>", "</s>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=290,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([" ".join([*NAMES, *VERBS])] * 5, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", mask_token="<mask>"
    )


@pytest.fixture(scope="session")
def wordpiece() -> PreTrainedTokenizerFast:
    return wordpieces()


@pytest.fixture(scope="session")
def byte_level() -> PreTrainedTokenizerFast:
    return byte_pieces()


@pytest.fixture(scope="session")
def tokenizer_folder(wordpiece, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tokenizer") / "wordpiece"
    wordpiece.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def corpus(stories, wordpiece, tmp_path_factory):
    """The stories as token ids with sentences."""
    return load(tmp_path_factory.mktemp("cache"), lambda: iter(stories), wordpiece, "plain")
