"""Texts whose encoding or language looks wrong: broken characters, another script than the rest, other words.

- Marks of a wrong decoding: U+FFFD, control characters, UTF-8 read as Latin-1 or Windows-1252 ("Ã©" for "é"), and
  Windows-1252 read as Latin-1, whose quotes and dashes are then control characters (1,140 of IMDb's 50,000 reviews).
- A script (Latin, Cyrillic, Han …) that less than 5% of the set is written in.
- Words unlike the rest: the set's own 100 most frequent words make up far less of the text than of the others. That
  finds texts in another language of the same script, and lists; it can tell no language by its name, nothing of texts
  under 20 words, and nothing where two languages have a large part of the set each.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

WORD = re.compile(r"[^\W\d_]+")
#: A script is that of the rest where so large a part of the texts is written in it.
COMMON = 0.05
#: The most frequent words that are a set's profile, the shortest text and the smallest set that it is used on.
PROFILE, LONG, MANY = 100, 20, 200
#: A word that fewer of the texts hold is no part of the profile.
RARE = 0.02
#: A text is unlike the rest where the profile's words make up less than this part of the median share. On IMDb's
#: 50,000 reviews, all in English, it names none.
UNLIKE = 1 / 3
#: Letters whose names tell a text's script.
LETTERS = 200
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
#: What quotes and dashes of Windows-1252 become; U+0085 is also a line's end, and left out.
UNDECODED = re.compile("[\x80-\x84\x86-\x9f]")
REPLACED = re.compile("\ufffd")
#: The characters that bytes 80 to BF become in Latin-1 and in Windows-1252.
BYTES = {chr(byte): byte for byte in range(0x80, 0x100)}
BYTES |= {
    bytes([byte]).decode("cp1252"): byte for byte in range(0x80, 0xA0) if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_MIDDLE = re.escape("".join(character for character, byte in BYTES.items() if 0x80 <= byte <= 0xBF))
#: Two bytes of UTF-8 (accented Latin letters and signs alone: É” is no fault), or three.
MOJIBAKE = re.compile(f"[\u00c2\u00c3][{_MIDDLE}]|[\u00e0-\u00ef][{_MIDDLE}]{{2}}")
KINDS = {
    "replacement character": "U+FFFD stands where a character could not be decoded",
    "control character": "control characters, which no text holds",
    "undecoded character": "Windows-1252 that was read as Latin-1 (quotes and dashes are control characters)",
    "mojibake": "UTF-8 that was read as Latin-1 or Windows-1252",
    "other script": "another script than the rest",
    "unlike words": "words unlike the rest: another language, or a list",
}


def broken(text: str) -> dict[str, int]:
    """The marks of a wrong decoding in one text, each with the place of its first.

    >>> broken("a caf\\u00c3\\u00a9"), broken("a caf\\u00e9, \\u00c0 la carte")
    ({'mojibake': 5}, {})
    """
    if text.isascii() and text.isprintable():
        return {}
    marks = {"replacement character": REPLACED, "control character": CONTROL, "undecoded character": UNDECODED}
    found = {kind: match.start() for kind, mark in marks.items() if (match := mark.search(text))}
    utf8 = next((match.start() for match in MOJIBAKE.finditer(text) if _was_utf8(match[0])), None)
    return found if utf8 is None else found | {"mojibake": utf8}


def _was_utf8(piece: str) -> bool:
    try:
        bytes(BYTES[character] for character in piece).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def script(text: str) -> str:
    """The script of most of a text's first letters, by their names in Unicode; "" for fewer than five letters.

    >>> script("hello there"), script("\\u043f\\u0440\\u0438\\u0432\\u0435\\u0442"), script("2 + 2")
    ('LATIN', 'CYRILLIC', '')
    """
    if text[:LETTERS].isascii():
        return "LATIN" if sum(map(str.isalpha, text[:LETTERS])) >= 5 else ""
    letters = [character for character in text[: 2 * LETTERS] if character.isalpha()][:LETTERS]
    names = Counter(unicodedata.name(letter, "?").split()[0] for letter in letters)
    return names.most_common(1)[0][0] if len(letters) >= 5 else ""


def odd(texts: Sequence[str]) -> dict[str, dict[int, int]]:
    """The rows of the texts that look wrong, by what is wrong with them (KINDS), each with the place to look at."""
    found: dict[str, dict[int, int]] = {kind: {} for kind in KINDS}
    for row, text in enumerate(texts):
        for kind, place in broken(text).items():
            found[kind][row] = place
    scripts = [script(text) for text in texts]
    counts = Counter(name for name in scripts if name)
    rare = {name for name, n in counts.items() if n < COMMON * counts.total()}
    found["other script"] = {row: 0 for row, name in enumerate(scripts) if name in rare}
    found["unlike words"] = dict.fromkeys(_unlike(texts, skip=set(found["other script"])), 0)
    return {kind: rows for kind, rows in found.items() if rows}


def _unlike(texts: Sequence[str], skip: set[int]) -> list[int]:
    if len(texts) < MANY:
        return []
    words = [WORD.findall(text.casefold()) for text in texts]
    profile = _profile(words)
    long = [row for row, found in enumerate(words) if len(found) >= LONG and row not in skip]
    shares = np.array([sum(word in profile for word in words[row]) / len(words[row]) for row in long])
    if not len(shares):
        return []
    return [row for row, share in zip(long, shares, strict=True) if share < UNLIKE * np.median(shares)]


def _profile(words: Sequence[Sequence[str]]) -> Mapping[str, int]:
    """The words that most texts hold, and RARE of them at least."""
    counts, n = Counter[str](), len(words)
    for found in words:
        counts.update(set(found))
    return {word: count for word, count in counts.most_common(PROFILE) if count >= RARE * n}
