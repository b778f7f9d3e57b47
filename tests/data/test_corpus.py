"""The streamed reader of corpora: documents, domains, what is left out, and errors that say where."""

import bz2
import gzip
import json
import subprocess
import sys
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.data.corpus import CorpusOptions, documents, size, texts
from heldout.data.streams import CHUNK, LONG, Seen, lines
from heldout.errors import Refused

TEXT = "one line\nof the first\n\n \t\nthe second\n\n\n"


def read(source, seen=None, **options):
    given = {key: (value,) if isinstance(value, str) else value for key, value in options.items()}
    found = documents([str(source)], CorpusOptions(**given), seen)
    return [(document.domain, document.text) for document in found]


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(*arguments, **options):
    with pytest.raises(Refused) as error:
        read(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_text_file_is_cut_at_blank_lines_or_as_asked(tmp_path):
    path = write(tmp_path / "a.txt", TEXT)
    assert read(path) == [("a", "one line\nof the first"), ("a", "the second")]
    assert [text for _, text in read(path, documents="line")] == ["one line", "of the first", "the second"]
    assert read(path, documents="file") == [("a", TEXT.strip())]


def test_wikitexts_articles_begin_at_their_headings(tmp_path):
    page = " = Owls = \n \n They hoot . \n \n = = Diet = = \n \n Mice . \n \n = Bats = \n \n They don't . \n"
    found = [text for _, text in read(write(tmp_path / "w.txt", page), documents="heading")]
    assert [text.split("\n")[0].strip() for text in found] == ["= Owls =", "= Bats ="]
    assert "Mice" in found[0]


def test_rows_of_every_kind_of_table_are_documents(tmp_path):
    rows = [{"text": "first\n\nstill first", "topic": "a"}, {"text": "second, of course", "topic": "b"}]
    (tmp_path / "j.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "c.csv").write_text('topic,text\na,"first\n\nstill first"\nb,"second, of course"\n')
    (tmp_path / "t.tsv").write_text('text\ttopic\n"first\n\nstill first"\ta\nsecond, of course\tb\n')
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "p.parquet")
    looked = 0
    for path in tmp_path.iterdir():
        assert [text for _, text in read(path)] == [row["text"] for row in rows], path
        assert [domain for domain, _ in read(path, column=("domain=topic",))] == ["a", "b"]
        looked += 1
    assert looked == 4


@pytest.mark.parametrize("pack, suffix", [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (bytes, "")])
def test_compressed_files_are_streamed_and_their_bytes_counted(tmp_path, pack, suffix):
    path = write(tmp_path / f"a.txt{suffix}", pack(TEXT.encode() * 500))
    seen = Seen()
    assert len(read(path, seen)) == 1000
    assert seen.bytes == size([str(path)]) == path.stat().st_size


def test_a_folder_and_an_archive_are_read_through_and_what_is_no_text_is_counted(tmp_path):
    folder = tmp_path / "speeches"
    (folder / "deep").mkdir(parents=True)
    write(folder / "b.txt", "beta")
    write(folder / "deep" / "a.jsonl", '{"text": "alpha"}')
    write(folder / "README", "no speech")
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for path in folder.rglob("*.*"):
            archive.write(path, path.relative_to(folder))
        archive.writestr("README", "no speech")
    for source, name in ((folder, "speeches"), (tmp_path / "packed.zip", "packed")):
        seen = Seen()
        assert read(source, seen) == [(name, "beta"), (name, "alpha")]
        assert seen.dropped == {"files_of_other_kinds": 1}


def test_options_may_be_meant_for_one_source_and_doubled_names_are_numbered(tmp_path):
    (tmp_path / "x").mkdir()
    first, second = (
        write(tmp_path / "a.txt", "one\ntwo\n"),
        write(tmp_path / "x" / "a.txt", "caf\xe9\n".encode("latin-1")),
    )
    options = CorpusOptions(documents=("a:line",), encoding=("a-2:latin-1",))
    found = [(document.domain, document.text) for document in documents([str(first), str(second)], options)]
    assert found == [("a", "one"), ("a", "two"), ("a-2", "café")]


def test_markup_of_reviews_is_cleaned_where_it_is_seen(tmp_path):
    path = write(tmp_path / "a.txt", "good<br /><br />film &amp; song\n\n<br />\n")
    seen = Seen()
    assert read(path, seen) == [("a", "good  film & song")]
    assert seen.dropped == {"blank_documents": 1}
    assert [text for _, text in read(path, clean="off")] == ["good<br /><br />film &amp; song", "<br />"]
    assert read(write(tmp_path / "b.txt", "a &amp; b")) == [("b", "a &amp; b")]


def test_rows_without_text_are_counted_not_lost(tmp_path):
    rows = [{"text": "a"}, {"text": None}, {"other": 1}, {"text": "  "}, {"text": "b"}]
    seen = Seen()
    path = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert [text for _, text in read(path, seen)] == ["a", "b"]
    assert seen.dropped == {"rows_without_text": 2, "blank_documents": 1}


def test_a_lone_surrogate_of_json_is_replaced_and_counted(tmp_path):
    seen = Seen()
    assert read(write(tmp_path / "a.jsonl", '{"text": "cut \\ud83d here"}'), seen) == [("a", "cut � here")]
    assert seen.dropped == {"texts_with_broken_characters_replaced": 1}


@pytest.mark.parametrize(
    "name, content, where",
    [
        ("a.txt", b"fine\n\xff\n", "a.txt: byte 5 (0xff) is not utf-8; try --encoding latin-1"),
        ("a.txt", b"\xef\xbb\xbf" + b"a" * CHUNK + b"\xe9 b", f"byte {CHUNK + 3} (0xe9)"),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n', "a.jsonl, line 2: not JSON"),
        ("a.jsonl", b'["a"]', "line 1: must be a JSON object"),
        ("a.jsonl", b'{"txt": "a"}', "no column for text"),
        ("a.jsonl", b'{"text": ["a", "b"]}', "'text' holds a list"),
        ("a.csv", b"text,b\nx,y\nc\n", "line 3: 1 values for 2 columns"),
        ("a.csv", b'text,b\n"c,d\n', "line 2: unexpected end of data"),
        ("a.tsv", b'text\tb\n"c\td\ne" f\tg\n', "line 2"),
        ("a.txt.gz", b"no gzip", "cannot be read"),
        ("a.txt.gz", gzip.compress(b"abc" * 1000)[:-9], "cannot be read"),
        ("a.zip", b"no zip", "cannot be read as a .zip"),
        ("a.parquet", b"no parquet", "not a parquet file"),
        ("a.json", b"[]", "cannot be streamed"),
        ("a.txt", b" \n\n", "holds no text"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, name, content, where):
    message = refused(write(tmp_path / name, content))
    assert where in message
    assert str(tmp_path / name) in message


def test_a_source_that_is_not_there_is_refused_before_any_is_read(tmp_path):
    here = write(tmp_path / "a.txt", "text")
    found = documents([str(here), str(tmp_path / "b.txt")], CorpusOptions())
    with pytest.raises(Refused, match=r"b\.txt: no such file; did you mean a\.txt"):
        next(found)
    with pytest.raises(Refused, match="name its split"):
        next(documents(["org/name"], CorpusOptions()))


def test_a_folder_without_text_and_an_unknown_cut_are_refused(tmp_path):
    assert "no .txt" in refused(tmp_path)
    assert "did you mean line" in refused(write(tmp_path / "a.txt", "a"), documents="lines")
    assert "use one of text, domain" in refused(write(tmp_path / "a.jsonl", "{}"), column="label=x")


def test_one_endless_line_comes_in_bounded_parts_without_a_torn_word(tmp_path):
    words = [f"word{n}" for n in range(300_000)]
    path = write(tmp_path / "a.txt", " ".join(words))
    parts = [document.text for document in texts([str(path)], CorpusOptions())]
    assert len(parts) > 10
    assert max(map(len, parts)) <= LONG
    assert "".join(parts).split() == words


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: not text.startswith("\ufeff")),
    st.sampled_from(["utf-8", "utf-16", "utf-32"]),
    st.integers(1, 7),
)
def test_lines_are_those_of_the_whole_text_wherever_the_chunks_fall(text, encoding, step):
    content = text.encode(encoding)
    chunks = iter([content[at : at + step] for at in range(0, len(content), step)])
    found = list(lines("x", lambda: next(chunks, b""), encoding))
    assert "".join(found) == text.replace("\r\n", "\n").replace("\r", "\n")
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in found[:-1])


def test_a_hub_set_is_streamed(hub, tmp_path):
    folder = hub.folder / "datasets" / "made-up" / "essays"
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text("---\nconfigs:\n- config_name: default\n  data_files: data/train.jsonl\n---\n")
    (folder / "data" / "train.jsonl").write_text("".join(json.dumps({"essay": f"essay {n}"}) + "\n" for n in range(9)))
    code = """
from heldout.data.corpus import CorpusOptions, documents
for document in documents(["made-up/essays:train"], CorpusOptions(column=("text=essay",))):
    print(document.domain, document.text)
"""
    done = hub.run(code, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"essays-train essay {n}" for n in range(9)]


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    rows = 40_000
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        for n in range(rows):
            file.write(json.dumps({"text": f"{n} " + "a plain sentence about owls " * 100}) + "\n")
    code = f"""
import resource
from heldout.data.corpus import CorpusOptions, documents
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
found = sum(1 for _ in documents([{str(tmp_path / "a.jsonl.gz")!r}], CorpusOptions()))
print(found, peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found, grown = map(int, done.stdout.split())
    assert found == rows
    # 110 MB of text; what is held is a chunk, its lines, and the head in which markup is looked for.
    assert grown < 40
