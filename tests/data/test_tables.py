import bz2
import csv
import gzip
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.data.names import Reading
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions, read
from heldout.data.tables import read_table
from heldout.errors import Refused

# What a cell may hold: anything but what the format itself cannot carry.
CELLS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\x00"), max_size=12)


def values(path, reading=None):
    return [dict(row.values) for row in read_table(path, reading or Reading()).rows]


@settings(deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=6), st.sampled_from([",", "\t", ";"]))
def test_csv_written_by_pythons_own_writer_comes_back(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("csv") / ("a.tsv" if delimiter == "\t" else "a.csv")
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("text", "label"), *rows])
    path.write_bytes(text.getvalue().encode())
    wanted = [{"text": a, "label": b} for a, b in rows]
    if delimiter == "\t" and any("\t" in cell and "\n" in cell for row in rows for cell in row):
        return  # a tsv's value with a tab and a line break at once is taken for a stray quote, by design
    assert values(path, Reading(delimiter=delimiter)) == wanted


JSON = st.recursive(st.none() | st.booleans() | st.integers() | CELLS, st.lists, max_leaves=3)


@settings(deadline=None)
@given(st.lists(st.dictionaries(CELLS, JSON, min_size=1, max_size=3), min_size=1, max_size=5), st.booleans())
def test_json_and_jsonl_come_back(tmp_path_factory, rows, plain):
    folder = tmp_path_factory.mktemp("json")
    (folder / "a.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=plain) for row in rows), encoding="utf-8")
    (folder / "a.json").write_text(json.dumps({"version": 1, "data": rows}, ensure_ascii=plain), encoding="utf-8")
    assert values(folder / "a.jsonl") == rows
    assert values(folder / "a.json") == rows


def test_gz_and_bz2_are_opened(tmp_path):
    content = b"text,label\nquite fine,1\n"
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    (tmp_path / "a.CSV.bz2").write_bytes(bz2.compress(content))
    for path in tmp_path.iterdir():
        assert values(path) == [{"text": "quite fine", "label": "1"}]
        assert read_table(path, Reading()).stem == "a"


def test_parquet_keeps_the_label_names_that_datasets_wrote(tmp_path):
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"text": Value("string"), "label": ClassLabel(names=["neg", "pos"])})
    Dataset.from_dict({"text": ["so so", "so good"], "label": [0, 1]}, features=features).to_parquet(
        str(tmp_path / "a.parquet")
    )
    table = read_table(tmp_path / "a.parquet", Reading())
    assert table.names == {"label": ["neg", "pos"]}
    assert [row.values["label"] for row in table.rows] == [0, 1]


def test_a_json_file_that_holds_an_object_a_line_is_read_as_jsonl(tmp_path):
    (tmp_path / "a.json").write_text('{"text": "one"}\n{"text": "two"}\n')
    assert values(tmp_path / "a.json") == [{"text": "one"}, {"text": "two"}]


def test_quotes_in_a_tsv_that_never_close_are_plain_characters_and_said(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('text\tlabel\n"Fine" it is not\t0\n"never closed\t1\nlast\t1\n')
    table = read_table(path, Reading())
    assert [row.values["text"] for row in table.rows] == ['"Fine" it is not', '"never closed', "last"]
    assert table.notes == {"rows_read_without_quoting": 3}


def test_quotes_in_a_tsv_that_would_swallow_rows_are_plain_characters(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('text\tlabel\n"one\t0\nand another"\t1\n')
    assert [row.values["text"] for row in read_table(path, Reading()).rows] == ['"one', 'and another"']


def test_a_quoted_tsv_with_line_breaks_in_values_is_unquoted(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text('Sentiment\tText\nNegative\t"Two\nlines, and ""quotes"""\n')
    assert values(path) == [{"Sentiment": "Negative", "Text": 'Two\nlines, and "quotes"'}]


def test_headerless_lines_are_recognised_where_all_agree_and_that_is_noted(tmp_path):
    (tmp_path / "stsa.train").write_text("4 a warm ,  funny film\n0 dull\n4 fine\n0\n")
    (tmp_path / "yelp.txt").write_text('Said "wow!\t1\nnever again  \t0\nwow\t1\n')
    first, last = (read_table(tmp_path / name, Reading()) for name in ("stsa.train", "yelp.txt"))
    assert [row.values for row in first.rows] == [
        {"label": "4", "text": "a warm ,  funny film"},
        {"label": "0", "text": "dull"},
        {"label": "4", "text": "fine"},
        {"label": "0", "text": ""},
    ]
    assert first.notes == {"rows_read_as_label_text_at_spaces": 4}
    assert last.rows[0].values == {"text": 'Said "wow!', "label": "1"}
    assert last.notes == {"rows_read_as_text_label_at_tabs": 3}
    assert (first.stem, last.stem) == ("stsa.train", "yelp")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", 'text\tlabel\n"Well"\t1\nso\t0\n'),
        ("a.csv", 'Label;Text\n1;"Well"\n0;so\n'),
        ("a", "text,label\nWell,1\nso,0\n"),
    ],
)
def test_a_first_line_that_names_text_and_label_is_a_header_at_its_own_delimiter(tmp_path, name, content):
    (tmp_path / name).write_text(content)
    loaded = load("sentiment", str(tmp_path / name), SourceOptions())
    assert [(example.text["text"], example.gold) for example in loaded.examples] == [
        ("Well", "positive"),
        ("so", "negative"),
    ]


def test_prose_is_not_taken_for_labelled_lines(tmp_path):
    (tmp_path / "a.txt").write_text("One line of prose.\nAnother line.\nOne more, and that is all.\n")
    with pytest.raises(Refused, match=r"not recognised.*--header text,label"):
        read_table(tmp_path / "a.txt", Reading())


TEXT_LABEL, LABEL_TEXT = ("text", "label"), ("label", "text")


@pytest.mark.parametrize(
    ("name", "content", "header", "delimiter", "row"),
    [
        ("a.csv", '"Well, no","0"\n', TEXT_LABEL, "", ("Well, no", "0")),
        ("a.tsv", 'Well, "no\t0\n', TEXT_LABEL, "", ('Well, "no', "0")),
        ("a.txt", "bad well  no\n", LABEL_TEXT, " ", ("bad", "well  no")),
        ("a.txt", "well  no bad\n", TEXT_LABEL, " ", ("well  no", "bad")),
        ("a.txt", "0|well|9\n", ("label", "text", "id"), "|", ("0", "well", "9")),
        ("a.txt", "label;text\n0;well\n", (), ";", ("0", "well")),
    ],
)
def test_header_and_delimiter_say_what_a_file_does_not(tmp_path, name, content, header, delimiter, row):
    (tmp_path / name).write_text(content)
    (found,) = values(tmp_path / name, Reading(header=header, delimiter=delimiter))
    assert found == dict(zip(header or LABEL_TEXT, row, strict=True))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", r"a\.csv: the file is empty"),
        ("a.csv", b" \n\n", r"a\.csv: the file is empty"),
        ("a.csv", b"text,label\nfine,1\nno, not,0\n", r"a\.csv, row 2 \(line 3\): 3 values for 2 columns"),
        ("a.csv", b'text,label\nfine,1\n"open,0\nmore,1\n', r"a\.csv, line 3: a quote opened there never closes"),
        ("a.csv", b"text,text\nfine,1\n", r"two columns are named 'text'"),
        ("a.jsonl", b'{"text": "fine"}\n{"text": \n', r"a\.jsonl, line 2: not JSON"),
        ("a.jsonl", b'["fine"]\n', r"a\.jsonl, line 1: must be a JSON object, not list"),
        ("a.jsonl", b"[" * 100_000, r"a\.jsonl, line 1: not JSON"),
        ("a.json", b'{"a": [], "b": []}', r"a list of objects, or an object that holds one such list"),
        ("a.json", b"[1, 2]", r"a\.json, row 1: must be a JSON object"),
        ("a.parquet", b"PAR1 but not really", r"a\.parquet: not a parquet file"),
        ("a.csv.gz", b"text,label\n", r"a\.csv\.gz: cannot be read"),
        ("a.csv.gz", gzip.compress(b"text,label\nfine,1\n" * 99)[:-9], r"a\.csv\.gz: cannot be read .*whole"),
        ("a.csv.bz2", bz2.compress(b"text,label\nfine,1\n" * 99)[:-9], r"a\.csv\.bz2: cannot be read|empty"),
        ("a.csv", "text\nf\u00ebte\n".encode("latin-1"), r"a\.csv: byte 6 \(0xeb\) is not utf-8; try .* latin-1"),
        ("a.csv", b"text\nit\x92s\n", r"byte 7 \(0x92\) is not utf-8; try --encoding cp1252"),
        ("a.csv", "text\nfine\n".encode("utf-16"), r"byte 0 \(0xff\) is not utf-8; try --encoding utf-16"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Refused, match=message) as error:
        read_table(tmp_path / name, Reading())
    assert "\n" not in str(error.value)


def test_a_byte_offset_counts_from_the_decompressed_start(tmp_path):
    content = b"text,label\n" + b"fine,1\n" * 100 + b"caf\xe9,0\n"
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))
    with pytest.raises(Refused, match=f"byte {content.index(0xE9)} "):
        read_table(tmp_path / "a.csv.gz", Reading())
    assert values(tmp_path / "a.csv.gz", Reading(encoding="latin-1"))[-1]["text"] == "café"


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf-8-sig"])
def test_a_byte_offset_counts_the_byte_order_mark(tmp_path, encoding):
    content = b"\xef\xbb\xbftext,label\ncaf\xe9,1\n"
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(Refused, match=f"byte {content.index(0xE9)} \\(0xe9\\)"):
        read_table(tmp_path / "a.csv", Reading(encoding=encoding))


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    (tmp_path / "a.csv").write_bytes("text,label\nfine,1\n".encode("utf-8-sig"))
    assert values(tmp_path / "a.csv") == [{"text": "fine", "label": "1"}]


def test_a_cell_longer_than_csvs_own_limit_is_read(tmp_path):
    (tmp_path / "a.csv").write_text("text,label\n" + "long " * 40_000 + ",1\n")
    assert len(values(tmp_path / "a.csv")[0]["text"]) == 200_000


@settings(deadline=None, max_examples=150)
@given(
    st.binary(max_size=60) | st.text(st.sampled_from('"\t\n,;{}[]:0ab \\'), max_size=30).map(str.encode),
    st.sampled_from([".csv", ".tsv", ".json", ".jsonl", ".parquet", ".txt", ".review", ".csv.gz", ".all"]),
)
def test_whatever_a_file_holds_it_is_read_or_refused_in_one_line(tmp_path_factory, content, suffix):
    path = tmp_path_factory.mktemp("any") / f"a{suffix}"
    path.write_bytes(content)
    try:
        table = read(str(path), Reading())
    except Refused as error:
        assert str(path) in str(error)
        assert len(str(error).splitlines()) == 1
    else:
        assert all(set(row.values) <= set(table.columns) for row in table.rows)
