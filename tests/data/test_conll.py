from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.data.conll import read_conll
from heldout.data.names import Reading
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.errors import Refused

FOUR = (
    "-DOCSTART- -X- -X- O\n\nGreta NNP B-NP I-PER\nslept VBD B-VP O\n\n-DOCSTART- -X- -X- O\n\nMalmö NNP B-NP I-LOC\n"
)


def table(tmp_path, text, name="trip.conll", **reading):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_conll(path, Reading(**reading))


def rows(table):
    return [(row.values["words"], row.values["tags"]) for row in table.rows]


def test_the_first_column_is_the_word_and_the_last_its_tag_however_many_there_are(tmp_path):
    found = table(tmp_path, FOUR)
    assert rows(found) == [(["Greta", "slept"], ["I-PER", "O"]), (["Malmö"], ["I-LOC"])]
    assert rows(table(tmp_path, "Greta\tI-PER\nslept\tO\n")) == [(["Greta", "slept"], ["I-PER", "O"])]


def test_documents_are_the_groups_of_their_sentences(tmp_path):
    assert [row.values["group"] for row in table(tmp_path, FOUR).rows] == ["trip.conll:1", "trip.conll:2"]
    late = table(tmp_path, "Greta O\n\n-DOCSTART- O\n\nMalmö O\n")
    assert [row.values["group"] for row in late.rows] == ["trip.conll:0", "trip.conll:1"]
    assert "group" not in table(tmp_path, "Greta O\n").columns


def test_a_mark_and_other_line_ends_and_spaces_change_nothing(tmp_path):
    plain = rows(table(tmp_path, FOUR))
    odd = b"\xef\xbb\xbf" + FOUR.replace("\n", "\r\n").replace(" NNP", "   NNP").encode()
    assert rows(table(tmp_path, odd)) == plain
    # WNUT-17's train set has a tab on its blank lines.
    assert rows(table(tmp_path, "Greta\tO\n\t\nMalmö\tO\n\n\n")) == [(["Greta"], ["O"]), (["Malmö"], ["O"])]


def test_words_of_nothing_and_of_white_space_keep_their_place_at_tabs(tmp_path):
    found = table(tmp_path, "Greta\tB-PER\n\tO\n \tO\na\u2028b\x85\tO\n")
    assert rows(found) == [(["Greta", "", " ", "a\u2028b\x85"], ["B-PER", "O", "O", "O"])]


def test_comments_before_a_sentence_are_left_out_and_counted_but_a_hash_is_a_word(tmp_path):
    found = table(tmp_path, "# id 7\n# text = # 1\n#\tO\n1\tO\n\n# id 8\nend\tO\n")
    assert rows(found) == [(["#", "1"], ["O", "O"]), (["end"], ["O"])]
    assert found.notes == {"comment_lines": 3}
    assert found.rows[0].place == "sentence 1 (line 3)"


@pytest.mark.parametrize("text", ["Greta O\nslept\n", "Greta O\nslept\tO\n", "Greta O\n# a comment inside\n"])
def test_a_line_that_lacks_a_column_is_named(tmp_path, text):
    with pytest.raises(Refused, match=r"trip\.conll, line [12]: [124] columns where the first line has [12]"):
        table(tmp_path, text)


def test_columns_are_chosen_by_number_or_by_header(tmp_path):
    text = "1 Greta B-PER x\n2 slept O y\n"
    by_number = table(tmp_path, text, columns={"words": "2", "tags": "3"})
    by_name = table(tmp_path, text, header=("n", "form", "ner", "misc"), columns={"words": "form", "tags": "ner"})
    assert [row.values["2"] for row in by_number.rows] == [row.values["form"] for row in by_name.rows]
    assert by_name.rows[0].values["form"] == ["Greta", "slept"]
    assert by_name.rows[0].values["ner"] == ["B-PER", "O"]
    with pytest.raises(Refused, match="its lines have 4 columns, --header names 2"):
        table(tmp_path, text, header=("words", "tags"))
    with pytest.raises(Refused, match="no column '7' for tags"):
        table(tmp_path, text, columns={"tags": "7"})


def test_a_delimiter_can_be_said(tmp_path):
    assert rows(table(tmp_path, "New York|B-LOC\nis|O\n", delimiter="|")) == [(["New York", "is"], ["B-LOC", "O"])]


def test_other_formats_are_left_to_their_readers(tmp_path):
    for name in ("a.jsonl", "a.json.gz", "a.csv", "a.parquet"):
        assert table(tmp_path, "x", name=name) is None


def test_a_file_of_words_alone_has_texts_but_no_tags(tmp_path):
    (tmp_path / "words.txt").write_text("Greta\nslept\n")
    with pytest.raises(Refused, match=r"words\.txt: no column for tags"):
        load("ner", str(tmp_path / "words.txt"), SourceOptions())


WORD = st.text(st.characters(blacklist_characters="\n\r\t", blacklist_categories=("Cs",)), max_size=5)
SENTENCE = st.lists(st.tuples(WORD, st.sampled_from(["O", "B-X", "I-X"])), min_size=1, max_size=5)


@given(st.lists(SENTENCE, max_size=5))
def test_what_is_written_at_tabs_is_read_again(tmp_path_factory, sentences):
    # A word may begin with # or be no character at all: with a tab and a tag behind it, it is a word.
    text = "\n".join("".join(f"{word}\t{tag}\n" for word, tag in sentence) for sentence in sentences)
    found = table(tmp_path_factory.getbasetemp(), text) if sentences else None
    assert (rows(found) if found else []) == [tuple(map(list, zip(*s, strict=True))) for s in sentences]


def test_every_file_in_columns_of_the_real_data_holds_what_its_readme_counts(real_data):
    counts = {
        "wnut17/wnut17train.conll": (3394, {"O": 59570, "B-person": 660, "B-location": 548, "I-creative-work": 206}),
        "wnut17/emerging.dev.conll": (1009, {"O": 14483, "B-person": 470, "B-product": 114}),
        "wnut17/emerging.test.annotated": (1287, {"O": 21654, "B-person": 429, "B-group": 165}),
        "btc/a.conll": (1000, {"O": 15862, "B-PER": 229, "B-ORG": 173, "B-LOC": 119, "I-PER": 102}),
        "btc/b.conll": (2000, {"O": 28769, "B-PER": 865, "B-ORG": 516, "B-LOC": 229}),
        "btc/e.conll": (200, {"O": 3541, "B-LOC": 144, "B-ORG": 122, "I-ORG": 62}),
        "btc/f.conll": (2000, {"O": 30328, "B-PER": 2650, "B-ORG": 1090, "B-LOC": 636}),
        "btc/g.conll": (2138, {"O": 27644, "B-PER": 1802, "B-ORG": 1498, "B-LOC": 1385}),
        "btc/h.conll": (2001, {"O": 25670, "B-PER": 2323, "B-ORG": 736, "B-LOC": 309}),
        "crossner/ai/dev.txt": (350, {"O": 7594, "I-misc": 239, "B-misc": 180}),
        "crossner/ai/test.txt": (431, {"O": 9224, "I-task": 282, "B-task": 219}),
        "crossner/ai/train.txt": (100, {"O": 2614, "I-algorithm": 93, "B-task": 60}),
        "crossner/literature/dev.txt": (400, {"O": 9632, "I-book": 779, "B-writer": 544}),
        "crossner/literature/test.txt": (416, {"O": 10945, "I-book": 898, "B-writer": 567}),
        "crossner/literature/train.txt": (100, {"O": 2475, "I-book": 244, "B-person": 48}),
        "crossner/music/dev.txt": (380, {"O": 9388, "I-award": 720, "B-band": 402}),
        "crossner/music/test.txt": (465, {"O": 11790, "I-award": 837, "B-band": 462}),
        "crossner/music/train.txt": (100, {"O": 2335, "I-award": 240, "B-album": 91}),
        "crossner/politics/dev.txt": (541, {"O": 14971, "I-politicalparty": 1995, "B-election": 528}),
        "crossner/politics/test.txt": (651, {"O": 17311, "I-politicalparty": 1662, "B-location": 599}),
        "crossner/politics/train.txt": (200, {"O": 5455, "I-election": 467, "B-location": 297}),
        "crossner/science/dev.txt": (450, {"O": 10522, "I-organisation": 716, "B-scientist": 328}),
        "crossner/science/test.txt": (543, {"O": 12773, "I-organisation": 598, "B-misc": 520}),
        "crossner/science/train.txt": (200, {"O": 4754, "I-organisation": 308, "B-scientist": 127}),
        "wikigold/wikigold.clean.conll": (1696, {"O": 32576, "I-ORG": 1958, "I-PER": 1634, "I-LOC": 1447}),
        "wnut17/submissions/arcada": (1287, {"O": 22330, "B-person": 387, "B-corporation": 63}),
        "wnut17/submissions/drexel_cci": (1287, {"O": 22972, "B-person": 269, "I-location": 6}),
        "wnut17/submissions/flytxt": (1287, {"O": 22342, "B-person": 346, "B-creative-work": 53}),
        "wnut17/submissions/mic-cis.txt": (1287, {"O": 22168, "B-person": 401, "I-location": 63}),
        "wnut17/submissions/sjtu_adapt.txt": (1287, {"O": 22284, "B-person": 331, "I-group": 54}),
        "wnut17/submissions/spinningbytes.txt": (1287, {"O": 22300, "B-person": 438, "I-product": 47}),
        "wnut17/submissions/uh_ritual": (1287, {"O": 22454, "B-person": 304, "I-creative-work": 41}),
    }
    folders = ("btc/*.conll", "crossner/*/*.txt", "wnut17/*.*", "wnut17/submissions/*", "wikigold/*.conll")
    there = {str(path.relative_to(real_data)) for folder in folders for path in Path(real_data).glob(folder)}
    # Both have a test of their own: no tags, and several tags a word.
    assert there - {"wnut17/README.md", "wnut17/emerging.test", "wnut17/emerging.test.conll"} == set(counts)
    for name, (n, tags) in counts.items():
        found = read_conll(real_data / name, Reading())
        assert len(found.rows) == n, name
        flat = [tag for row in found.rows for tag in row.values["tags"]]
        assert {tag: flat.count(tag) for tag in tags} == tags, name


def test_a_file_of_several_tags_a_word_is_refused_with_the_line(real_data):
    with pytest.raises(Refused, match=r"emerging\.test\.conll, line 212: 'B-corporation,B-person,B-location'"):
        load("ner", str(real_data / "wnut17" / "emerging.test.conll"), SourceOptions())
