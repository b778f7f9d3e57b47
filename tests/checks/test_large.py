import random

import pytest

from heldout.checks import large
from heldout.checks.data import check as check_whole
from heldout.cli import main
from heldout.data import minhash
from heldout.data.duplicates import fold
from heldout.data.shingles import near_pairs
from heldout.data.sources import SourceOptions
from heldout.errors import Refused

VOCABULARY = [f"w{n}" for n in range(400)]


def texts(n, seed=1):
    """n made-up texts, a tenth of them an earlier one with words changed: few (near) to many (not)."""
    generator = random.Random(seed)
    made = []
    for number in range(n):
        if number > 20 and number % 10 == 0:
            words = generator.choice(made).split()
            for _ in range(generator.randrange(0, 6)):
                words[generator.randrange(len(words))] = generator.choice(VOCABULARY)
            made.append(" ".join(words))
        else:
            made.append(" ".join(generator.choice(VOCABULARY) for _ in range(generator.randrange(10, 40))))
    return made


def test_near_duplicates_are_those_of_the_exact_way_but_for_one_in_a_hundred():
    made = list(dict.fromkeys(texts(2000)))
    exact = {tuple(pair) for pair in near_pairs(made).tolist()}
    pairs = minhash.similar(minhash.candidates(minhash.keys(made).T), made, 0.5)
    found = {tuple(pair) for pair in pairs.tolist()}
    assert len(exact) > 80
    assert found <= exact
    assert len(found) >= 0.97 * len(exact)


def test_keys_do_not_depend_on_how_texts_are_cut_into_blocks():
    made = [*texts(50), "", "two words", "just three words"]
    whole = minhash.keys(made)
    assert (whole[:20] == minhash.keys(made[:20])).all()
    assert (whole[20:] == minhash.keys(made[20:])).all()
    assert (whole[50:52] == minhash.NO_KEY).all()
    assert (whole[52] != minhash.NO_KEY).all()


def test_a_crowd_made_from_one_template_gives_two_pairs_a_text():
    made = ["a b c d e f g h i j"] * 300
    assert len(minhash.candidates(minhash.keys(made).T)) <= 2 * 300


@pytest.fixture
def sources(tmp_path):
    train = texts(300)
    test = texts(60, seed=2)
    # FAULTS X1: planted duplicates, with changes of case and space, and near ones.
    test[0] = train[5].upper().replace(" ", "  ")
    test[1] = f"  {train[30]}\u00a0"
    test[2] = " ".join([*train[77].split()[:-1], "another"])
    rows = {"train": train, "test": test}
    for name, made in rows.items():
        lines = [f'"{text}",{number % 2}' for number, text in enumerate(made)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["text,label", *lines, '" ",1']) + "\n")
    return {name: str(tmp_path / f"{name}.csv") for name in rows}


def test_a_stream_tells_what_the_exact_way_tells(sources):
    streamed = large.check(sources, {name: {} for name in sources}, dict.fromkeys(sources, "utf-8"))
    whole = check_whole("sentiment", list(sources.values()), SourceOptions())
    for name in sources:
        for key in ("n", "exact_duplicates", "near_duplicates", "words", "dropped"):
            assert streamed.sources[name][key] == whole.sources[name][key], (name, key)
    assert streamed.sources["train"]["labels"] == {"0": 150, "1": 150}
    assert streamed.across == whole.across
    assert streamed.across[0]["exact"] == 2
    assert streamed.repeated == {key: n for key, n in whole.repeated.items() if key != "letter_for_letter"}


def test_conflicts_and_broken_texts_are_found_in_a_stream(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"text": "Fine  film", "label": 1}\n{"text": "fine film", "label": 0}\n{"text": "bad \\ufffd", "label": 0}\n'
    )
    checked = large.check({"a": str(path)}, {"a": {}}, {"a": "utf-8"})
    assert {(finding.kind, finding.n) for finding in checked.findings} == {
        ("conflict", 1),
        ("replacement character", 1),
    }
    conflict = next(finding for finding in checked.findings if finding.kind == "conflict")
    assert conflict.rows[0]["id"] in ("a.jsonl, row 1", "a.jsonl, row 2")


def test_the_command_reads_as_a_stream_where_asked_and_refuses_what_that_cannot_do(sources, capsys):
    assert main(["data", "check", *sources.values(), "--stream", "on"]) == 0
    assert "2 of 60 texts of test stand in train" in capsys.readouterr().out
    assert main(["data", "check", *sources.values(), "--stream", "on", "--label-errors", "train"]) == 2
    assert "--stream off" in capsys.readouterr().err


def test_text_that_is_no_table_cannot_be_checked_as_a_stream(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    with pytest.raises(Refused, match="only csv, tsv, jsonl and parquet"):
        large.check({"a": str(tmp_path / "a.txt")}, {"a": {}}, {"a": "utf-8"})


def test_a_fingerprint_is_that_of_the_folded_text():
    assert minhash.fingerprint(fold("A  <b>Fine</b> film")) == minhash.fingerprint(fold("a fine film"))
