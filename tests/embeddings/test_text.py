"""From a corpus to sentences."""

import gzip
import json
from pathlib import Path

import pytest

from heldout.data.streams import Seen
from heldout.embeddings.passages import passages
from heldout.embeddings.text import LONGEST, Sentences, TextOptions, listing, words, write_sentences
from heldout.errors import Refused
from heldout.lessons import war_and_peace


def cut(path: Path, options: TextOptions | None = None) -> list[list[str]]:
    return list(write_sentences([str(path)], options or TextOptions(), path.parent / "sentences", Seen()))


def test_the_listings_sentences_are_the_lessons() -> None:
    assert listing(war_and_peace.SMALL) == war_and_peace.sentences(war_and_peace.SMALL)
    assert sum(map(len, listing(war_and_peace.SMALL))) == 17


def test_the_byte_order_mark_is_part_of_the_first_word_of_a_listing_and_of_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffWell, yes. No".encode())
    assert cut(tmp_path / "a.txt", TextOptions(words="listing")) == [["\ufeffWell", "yes"], ["No"]]
    assert cut(tmp_path / "a.txt") == [["well", "yes", "no"]]


def test_paragraphs_of_a_text_and_rows_of_a_table_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One two.\nThree\n\nFour\n")
    assert cut(tmp_path / "a.txt") == [["one", "two", "three"], ["four"]]
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as lines:
        lines.writelines(json.dumps({"text": text}) + "\n" for text in ("A fine<br />day", "!!!"))
    seen = Seen()
    found = write_sentences([str(tmp_path / "a.jsonl.gz")], TextOptions(words="cased"), tmp_path / "s", seen)
    assert list(found) == [["A", "fine", "day"]]
    assert seen.dropped["documents_without_words"] == 1


def test_a_sentence_too_long_for_gensim_is_cut_and_nothing_lost(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("word " * (2 * LONGEST + 1))
    assert list(map(len, cut(tmp_path / "a.txt"))) == [LONGEST, LONGEST, 1]


def test_words_hold_apostrophes_and_hyphens_inside_alone() -> None:
    assert words("'Twas well-known - a 3rd _word_ isn’t") == ["twas", "well-known", "a", "3rd", "word", "isn’t"]


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("... !!!")
    with pytest.raises(Refused, match="no words in it"):
        cut(tmp_path / "a.txt")
    (tmp_path / "b.txt").write_bytes(b"caf\xe9")
    with pytest.raises(Refused, match="byte 3 is not UTF-8"):
        cut(tmp_path / "b.txt", TextOptions(words="listing"))
    with pytest.raises(Refused, match="reads a file of UTF-8 as it is"):
        cut(tmp_path / "b.txt", TextOptions(words="listing", encoding=("latin-1",)))


def test_passages_are_spread_over_the_corpus_and_their_number_is_all(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("".join(f"a{k} b word c{k}\n" for k in range(10)) + "word word\n")
    total, found = passages(Sentences(tmp_path / "s"), "word", width=1, shown=4)
    assert total == 12
    assert found == ["b [word] c0", "b [word] c3", "b [word] c6", "b [word] c9"]
    assert passages(Sentences(tmp_path / "s"), "none") == (0, [])
    assert passages(Sentences(tmp_path / "s"), "a3", width=9) == (1, ["[a3] b word c3"])
