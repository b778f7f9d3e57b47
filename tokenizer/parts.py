"""What stands around the model of a tokenizer: normaliser, pre-tokeniser, special tokens, template, decoder.

One set of special tokens and one template for every kind, BERT's: [CLS] A [SEP] and [CLS] A [SEP] B [SEP] with segment
ids 0 and 1. RoBERTa's <s> A </s></s> B </s> says the same in other signs, and with one set an encoder of any kind is
pretrained and fine-tuned alike. Byte-level BPE has no [UNK], as it never needs one.
"""

from typing import Literal

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

Kind = Literal["wordpiece", "bpe", "byte-bpe"]
Splitting = Literal["bert", "whitespace", "byte-level"]
Normalization = Literal["none", "nfc", "nfkc"]

PAD, UNK, CLS, SEP, MASK = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"
#: What marks a piece inside a word (WordPiece), and the last piece of a word (BPE over characters).
INSIDE, END = "##", "</w>"
#: BERT's: a word of more characters is [UNK]. Byte-level words are cut at this length instead.
LONGEST_WORD = 100
#: A character that is a word of its own, so that no text can be taken for a mark.
GUARD = {"wordpiece": "#", "bpe": "<"}


def special_tokens(kind: Kind) -> list[str]:
    """The special tokens in the order of their ids, from 0."""
    return [PAD, CLS, SEP, MASK] if kind == "byte-bpe" else [PAD, UNK, CLS, SEP, MASK]


def normalizer(
    splitting: Splitting, normalization: Normalization, *, lowercase: bool, strip_accents: bool
) -> normalizers.Normalizer:
    """Unicode's normal form first, then case and accents; with BERT's splitting also BERT's cleaning, which deletes
    control characters and puts spaces around Chinese characters."""
    steps: list[normalizers.Normalizer] = []
    if normalization != "none":
        steps.append({"nfc": normalizers.NFC(), "nfkc": normalizers.NFKC()}[normalization])
    if splitting == "bert":
        steps.append(normalizers.BertNormalizer(lowercase=lowercase, strip_accents=strip_accents))
    else:
        # Composed again at the end: NFD takes apart more than accents (Hangul).
        steps += [normalizers.NFD(), normalizers.StripAccents(), normalizers.NFC()] if strip_accents else []
        steps += [normalizers.Lowercase()] if lowercase else []
    return normalizers.Sequence(steps)


def pre_tokenizer(kind: Kind, splitting: Splitting, *, prefix_space: bool) -> pre_tokenizers.PreTokenizer:
    """Words: runs without white space and single punctuation signs (bert), runs without white space (whitespace), or
    GPT-2's words with the space before them, as bytes (byte-level)."""
    if splitting == "bert":
        return pre_tokenizers.BertPreTokenizer()
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    steps: list[pre_tokenizers.PreTokenizer] = [
        byte_level if splitting == "byte-level" else pre_tokenizers.WhitespaceSplit()
    ]
    if kind in GUARD:
        steps.append(pre_tokenizers.Split(GUARD[kind], "isolated"))
    if kind == "wordpiece" and splitting == "byte-level":
        # A run of letters in a script without spaces is one word of GPT-2's, and would be one [UNK].
        steps.append(pre_tokenizers.FixedLength(LONGEST_WORD))
    return pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]


def model(kind: Kind, vocab: dict[str, int], merges: list[tuple[str, str]]) -> models.Model:
    """The model of a vocabulary. Characters that it does not know become [UNK] (FAULTS P2: without an unknown token the
    library drops them); the bytes of byte-level BPE are all known."""
    if kind == "wordpiece":
        return models.WordPiece(
            vocab, unk_token=UNK, continuing_subword_prefix=INSIDE, max_input_chars_per_word=LONGEST_WORD
        )
    if kind == "bpe":
        return models.BPE(vocab, merges, unk_token=UNK, end_of_word_suffix=END)
    return models.BPE(vocab, merges)


def decoder(kind: Kind, splitting: Splitting) -> decoders.Decoder:
    """Text again: exact from bytes; from words with a space between them, those before punctuation taken out."""
    if splitting == "byte-level":
        bytes_ = decoders.ByteLevel()
        return decoders.Sequence([decoders.Replace(Regex(f"^{INSIDE}"), ""), bytes_]) if kind != "byte-bpe" else bytes_
    return decoders.WordPiece(prefix=INSIDE) if kind == "wordpiece" else decoders.BPEDecoder(suffix=END)


def add_special_tokens(tokenizer: Tokenizer, kind: Kind, splitting: Splitting) -> None:
    """Declare the special tokens and set the template. A [MASK] among byte-level words takes the space before it, as
    RoBERTa's does: what is masked there has that space in itself."""
    byte_level = splitting == "byte-level"
    tokenizer.add_special_tokens(
        [AddedToken(token, lstrip=byte_level and token == MASK, special=True) for token in special_tokens(kind)]
    )
    ids = [(token, tokenizer.token_to_id(token)) for token in (CLS, SEP)]
    template = processors.TemplateProcessing(
        single=f"{CLS} $A {SEP}", pair=f"{CLS} $A {SEP} $B:1 {SEP}:1", special_tokens=ids
    )
    # Offsets without the space that stands in a byte-level token.
    trimmed = processors.ByteLevel(trim_offsets=True)
    tokenizer.post_processor = processors.Sequence([trimmed, template]) if byte_level else template
