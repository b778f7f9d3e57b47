"""Every token's offsets cut its own text out of the original: on the data, and on Unicode that breaks tokenizers."""

import unicodedata
from collections.abc import Callable, Sequence

from transformers import PreTrainedTokenizerFast

from heldout.checks.doctor._contract import Check, Finding, Patient, judged

#: A token's string and its offsets; characters, not bytes.
Token = tuple[str, tuple[int, int]]
#: Texts of our own: accents that combine, signs of several code points, letters that change length when lowered,
#: scripts without spaces or from right to left, spaces and joiners that are not seen, controls, long words.
TORTURE = (
    "cafe\u0301 cr\u00e8me, nai\u0308ve fa\u00e7ade",
    "\u0130stanbul'da I\u015fIk, stra\u00dfe STRASSE \u1e9e",
    "\ufb01ne \ufb02at o\ufb03ce \u0133sje \u01c4ep",
    "two\u00a0non-breaking\u202fspaces\u3000and a wide one",
    "zero\u200bwidth zero\u200djoiner soft\u00adhyphen \ufeffmark",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 and \U0001f44d\U0001f3fd, \U0001f1e9\U0001f1ea flags",
    "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u3002\u65e5\u672c\u8a9e\u3068\u30ab\u30bf\u30ab\u30ca",
    "\u1112\u1161\u11ab\u1100\u1173\u11af and \ud55c\uae00",
    "\u0634\u0643\u0631\u0627\u064b \u05e9\u05dc\u05d5\u05dd mixed 12 and 34",
    "\u0e44\u0e1b\u0e14\u0e39\u0e2b\u0e19\u0e31\u0e07 \u0928\u092e\u0938\u094d\u0924\u0947",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u0395\u03bb\u03bb\u03ac\u03b4\u03b1 \u03a3\u03c3\u03c2",
    "\uff26\uff35\uff2c\uff2c width \U0001d401\U0001d428\U0001d425\U0001d41d \u2460\u00bd\u00b2\u2082",
    "tab\there\nline\r\nend  two   spaces",
    "control \x07 bell, escape \x1b[0m, next\x85line",
    "replaced \ufffd sign, private \ue000 use",
    "a" * 300,
    "x" * 40 + "\u0301" * 12 + " zalgo t\u0335\u0321e\u0338x\u0336t",
    "don't won\u2019t rock-'n'-roll... \u2026 \u2014 \u00ab\u00a0quoted\u00a0\u00bb",
    "$5.00 \u20ac3,50 50% #tag @name http://x.y/z?q=1&r=2",
    " leading and trailing ",
)


def examine(patient: Patient) -> Finding:
    """Cut every token out of its text and compare; count tokens that are not there and letters that are in none.

    The figure quotes nothing of the data, which a report may have to keep to itself.
    """
    tokenizer = patient.system.encoding.tokenizer
    texts = [_plain(value) for example in patient.examples for value in example.text.values()]
    encode, unknown = tokens_of(tokenizer), str(tokenizer.unk_token)
    (wrong, tokens), (odd, more) = faults(texts, encode, unknown), faults(TORTURE, encode, unknown)
    figure = (
        f"{len(wrong)} of {tokens} tokens of {len(texts)} texts do not cut out, {len(odd)} of {more} of odd Unicode"
    )
    figure += f"; the first: {odd[0]}" if odd else ""
    advice = (
        "answers and entities are cut out by offsets: mend the tokenizer's pre-tokenizer or normaliser, or train anew"
    )
    bad = len(wrong) + len(odd)
    return judged(not bad, figure, tolerance="0", advice=advice, value=float(bad))


def _plain(value: object) -> str:
    return " ".join(value) if isinstance(value, list | tuple) else str(value)


def tokens_of(tokenizer: PreTrainedTokenizerFast) -> Callable[[Sequence[str]], list[list[Token]]]:
    """A function from texts to their tokens, as strings without the marks of continued words, with their offsets."""
    backend = tokenizer.backend_tokenizer
    by_bytes = "ByteLevel" in type(backend.decoder).__name__ or "ByteLevel" in type(backend.pre_tokenizer).__name__

    def surface(token: str) -> str:
        if by_bytes and backend.decoder is not None:
            decoded: str = backend.decoder.decode([token])
            return decoded
        return token.removeprefix("##").removesuffix("</w>").replace("\u2581", " ")

    def encode(texts: Sequence[str]) -> list[list[Token]]:
        found = backend.encode_batch(list(texts), add_special_tokens=False)
        return [[(surface(t), (s, e)) for t, (s, e) in zip(one.tokens, one.offsets, strict=True)] for one in found]

    return encode


def faults(
    texts: Sequence[str], encode: Callable[[Sequence[str]], list[list[Token]]], unknown: str
) -> tuple[list[str], int]:
    """What is wrong with the offsets of these texts' tokens, in words, and how many tokens were looked at."""
    wrong, looked_at = [], 0
    for text, tokens in zip(texts, encode(texts), strict=True):
        looked_at += len(tokens)
        wrong += _faults(text, tokens, unknown)
    return wrong, looked_at


def _faults(text: str, tokens: Sequence[Token], unknown: str) -> list[str]:
    wrong, before = [], 0
    covered = bytearray(len(text))
    for token, (start, end) in tokens:
        if not 0 <= start <= end <= len(text) or start < before:
            wrong.append(f"{token!r} at {start}–{end} of {len(text)} characters, after one at {before}")
            continue
        before = start
        covered[start:end] = b"\1" * (end - start)
        if token != unknown and not _same(token, text[start:end]):
            wrong.append(f"{token!r} stands at {start}–{end}, which is {text[start:end]!r:.40}")
    lost = [character for character, seen in zip(text, covered, strict=True) if not seen and character.isalnum()]
    return wrong + ([f"{len(lost)} letters of {text[:20]!r} are in no token, the first {lost[0]!r}"] if lost else [])


def _same(token: str, piece: str) -> bool:
    """Whether a token is this piece of text, normalisation aside: one character may come to several tokens."""
    if "\ufffd" in token:
        # A part of a character's bytes has no text of its own.
        return True
    one, other = _folded(token), _folded(piece)
    return one == other or (len(piece.strip()) == 1 and one in other)


def _folded(text: str) -> str:
    """Compatibility decomposed, case folded, without accents, spaces and signs that are not seen."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = ("L", "N", "P", "S")
    return "".join(character for character in decomposed if unicodedata.category(character)[0] in kept)


CHECK = Check("offsets", "data", "answers and entities are cut out of the text by offsets", examine)
