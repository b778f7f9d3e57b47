import json

import pytest

from heldout.data.fitted import same_place
from heldout.data.prepare import PrepareOptions, load, prepare
from heldout.errors import Refused
from heldout.options import parse
from heldout.records import content_hash

FILMS = {"m1": 20, "m2": 30, "m3": 4, "m4": 2}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def row(n, group, **more):
    label = ("negative", "positive")[n % 2]
    return {"text": f"scene{n} was{n} {label}{n} here{n} and{n} there{n}", "label": label, "group": group} | more


@pytest.fixture
def films(tmp_path):
    groups = [group for group, n in FILMS.items() for _ in range(n)]
    return write(tmp_path / "films.jsonl", [row(n, group) for n, group in enumerate(groups)])


@pytest.fixture
def halves(tmp_path):
    path = tmp_path / "halves.json"
    path.write_text(
        json.dumps({"half_A(first)": ["m1", "m4", "elsewhere"], "half_B(last)": ["m2"], "none": ["m9"], "n": 3})
    )
    return path


def options(*words):
    return parse(PrepareOptions, words, prog="heldout finetune", description="")


def test_a_source_is_cut_to_the_groups_that_a_file_names(films, halves):
    loaded = load("sentiment", f"{films}#{halves}:half_A", options())
    assert [example.about["group"] for example in loaded.examples] == ["m1"] * 20 + ["m4"] * 2
    assert loaded.source == f"{films}#{halves}:half_A"
    assert loaded.notes["left_out_by_group"] == 34
    assert loaded.hash == content_hash(loaded.examples)


def test_the_groups_may_be_lines_or_one_list(films, tmp_path):
    (tmp_path / "some.txt").write_text("m2\n\n m3 \n")
    (tmp_path / "some.json").write_text('["m2", "m3"]')
    for name in ("some.txt", "some.json"):
        assert len(load("sentiment", f"{films}#{tmp_path / name}", options()).examples) == 34


def test_a_path_with_a_hash_in_its_name_is_still_a_path(tmp_path):
    path = write(tmp_path / "c#.jsonl", [row(n, "m1") for n in range(4)])
    assert len(load("sentiment", path, options()).examples) == 4


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ("{}:none", "none of the groups .* its groups are m1, m2, m3, m4"),
        ("{}:half", "picks 2 of its lists"),
        ("{}:half_C", "picks 0 of its lists; write .*, of half_A"),
        ("{}", "picks 0 of its lists"),
        ("{}:n", "must be a list of group names"),
        ("{}.txt", "no such file"),
        ("", "cannot be read"),
    ],
)
def test_groups_that_cannot_be_read_are_refused(films, halves, mark, message):
    with pytest.raises(Refused, match=message):
        load("sentiment", f"{films}#{mark.format(halves)}", options())


def test_two_parts_of_one_file_are_two_sources_and_nothing_is_shared(films, halves):
    result = prepare(
        "sentiment",
        train=[f"{films}#{halves}:half_A"],
        dev=None,
        tests={"b": f"{films}#{halves}:half_B"},
        options=options(),
        seed=0,
    )
    assert result.ledger.overlap["train/b exact"] == 0
    assert len(result.splits["b"].examples) == 30
    assert "of_a_group_that_is_in_train" not in result.splits["b"].notes


def test_several_sources_are_one_train_in_their_order(films, tmp_path):
    more = write(tmp_path / "more.jsonl", [row(n, "m7") for n in range(100, 110)] + [{"text": "x", "label": "-"}])
    test = write(tmp_path / "test.jsonl", [row(n, "m8") for n in range(200, 210)])
    result = prepare("sentiment", train=[films, more], dev=None, tests={"t": test}, options=options(), seed=0)
    train, dev = result.splits["train"], result.splits["dev"]
    assert len(train.examples) + len(dev.examples) == 66
    assert train.source == f"{films} + {more}"
    assert train.dropped == {"no_label": 1}
    kept = [example.id for example in train.examples]
    assert kept == sorted(kept, key=lambda name: (name.startswith("more"), int(name.split(":")[1])))


def test_ids_that_stand_in_two_sources_are_told_apart(tmp_path):
    one = write(tmp_path / "one.jsonl", [row(n, f"m{n}", id=f"r{n}") for n in range(20)])
    two = write(tmp_path / "two.jsonl", [row(n + 50, f"n{n}", id=f"r{n}") for n in range(20)])
    test = write(tmp_path / "test.jsonl", [row(n, "m8") for n in range(200, 210)])
    result = prepare("sentiment", train=[one, two], dev=None, tests={"t": test}, options=options(), seed=0)
    ids = [example.id for name in ("train", "dev") for example in result.splits[name].examples]
    assert sorted(ids) == sorted(f"{source}:r{n}" for source in (1, 2) for n in range(20))
    assert result.splits["train"].notes["ids_numbered_as_sources_share_some"] == 40


def test_one_of_several_sources_of_train_is_no_test(films, tmp_path):
    more = write(tmp_path / "more.jsonl", [row(n, "m7") for n in range(100, 110)])
    for test in (films, more):
        with pytest.raises(Refused, match="of its texts stand in train"):
            prepare("sentiment", train=[films, more], dev=None, tests={"t": test}, options=options(), seed=0)
    assert same_place(f"{films} + {more}", more)
    assert not same_place(films, more)
