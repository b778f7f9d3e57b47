import json
import shutil

import pytest

FEATURES = """---
dataset_info:
  features:
  - name: review
    dtype: string
  - name: verdict
    dtype:
      class_label:
        names:
          '0': neg
          '1': pos
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train.FORMAT
  - split: test
    path: data/test.FORMAT
---
# Reviews made up for a test
"""
CHECK = "from heldout.cli import main; raise SystemExit(main({words}))"


def words(split, n):
    """Rows sorted by label, as IMDb's are: the first half is negative."""
    for number in range(n):
        good = number >= n // 2
        yield {"review": f"{split} {number}: a {'gem' if good else 'bore'}, in {number + 7} ways", "verdict": int(good)}


def offer(hub, format):
    """Put the set into the hub, its files as jsonl or parquet."""
    folder = hub.folder / "datasets" / "made-up" / "reviews"
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text(FEATURES.replace("FORMAT", format))
    for split, n in (("train", 40), ("test", 12)):
        path = folder / "data" / f"{split}.{format}"
        if format == "jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in words(split, n)))
        else:
            import pyarrow
            import pyarrow.parquet

            pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(words(split, n))), path)


def check(hub, home, *arguments):
    return hub.run(CHECK.format(words=["data", "check", *arguments, "--json"]), home)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_set_is_read_from_the_hub_by_id_with_its_label_names(hub, tmp_path, format):
    offer(hub, format)
    sources = ["made-up/reviews:train", "made-up/reviews@default:test"]
    done = check(hub, tmp_path / "home", *sources, "--column", "label=verdict")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["sources"]
    assert [entry["n"] for entry in found.values()] == [40, 12]
    assert [entry["labels"] for entry in found.values()] == [
        {"negative": 20, "positive": 20},
        {"negative": 6, "positive": 6},
    ]
    asked = hub.requests()
    files = [r["path"] for r in asked if r["method"] == "GET" and "/resolve/" in r["path"] and "/data/" in r["path"]]
    assert len(files) == 2
    assert all("/c0ffee" in path for path in files), "files are read at the commit that was found, not at main"
    assert any(r["path"].startswith("/api/datasets/made-up/reviews/revision/") for r in asked)


@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_limit_streams_the_set_and_takes_both_labels_of_a_sorted_one(hub, tmp_path, format):
    offer(hub, format)
    done = check(hub, tmp_path / "home", "made-up/reviews:train", "--column", "label=verdict", "--limit", "6")
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["sources"].values()
    assert found["labels"] == {"negative": 3, "positive": 3}
    assert found["notes"] == {"rows_streamed": 40, "left_out_by_limit": 34}
    assert any(request["range"] for request in hub.requests()), "streaming reads by ranges"
    assert not list((tmp_path / "home").rglob("*.arrow")), "nothing is cached as a whole"


def test_a_streamed_sample_is_the_sample_of_the_whole_set(hub, tmp_path):
    offer(hub, "parquet")
    code = """
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions
from heldout.data.splits import limited
options = SourceOptions(column=("label=verdict",))
whole = load("sentiment", "made-up/reviews:train", options)
streamed = load("sentiment", "made-up/reviews:train", options, limit=6, seed=3)
assert list(streamed.examples) == limited(whole.examples, 6, seed=3), streamed.examples
print(streamed.examples[0].id)
"""
    done = hub.run(code, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("train:")


STREAM = """
from heldout.data import hub
from heldout.data.prepare import load
from heldout.data.sources import SourceOptions, refuse_idle_labels
hub.LOOK = {look}
options = SourceOptions(column=("label=verdict",), label={labels})
loaded = load("sentiment", "{source}:train", options, limit=6, seed=3)
refuse_idle_labels(options.label, {{"train": loaded}})
print(len(loaded.examples), dict(sorted(loaded.dropped.items())), dict(sorted(loaded.notes.items())))
"""


def test_every_streamed_row_is_accounted_for_and_not_only_the_sample(hub, tmp_path):
    offer(hub, "parquet")
    import pyarrow
    import pyarrow.parquet

    odd = [{"review": "  ", "verdict": 1}] * 3 + [{"review": "who knows", "verdict": -1}] * 5
    path = hub.folder / "datasets" / "made-up" / "reviews" / "data" / "train.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([*words("train", 40), *odd]), path)
    for labels, bare, left in (((), 5, 34), (("0=-",), 25, 14)):
        done = hub.run(STREAM.format(source="made-up/reviews", look=1000, labels=labels), tmp_path / "home")
        wanted = f"6 {{'empty_text': 3, 'no_label': {bare}}} {{'left_out_by_limit': {left}, 'rows_streamed': 48}}"
        assert done.stdout.strip() == wanted, done.stderr


def test_a_label_that_a_stream_drops_from_its_first_to_its_last_row_was_there(hub, tmp_path):
    folder = hub.folder / "datasets" / "made-up" / "plain"
    folder.mkdir(parents=True)
    rows = [{"review": f"text {n}", "verdict": ("pos", "neg", "so so")[n % 3]} for n in range(30)]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = hub.run(STREAM.format(source="made-up/plain", look=1000, labels=("so so=-",)), tmp_path / "home")
    assert done.stdout.startswith("6 {'no_label': 10} "), done.stderr
    done = hub.run(STREAM.format(source="made-up/plain", look=1000, labels=("so-so=-",)), tmp_path / "home")
    assert "Refused: --label so-so=-: no row of train has the label 'so-so'; did you mean so so?" in done.stderr


def test_a_stream_that_is_not_read_to_its_end_says_so(hub, tmp_path):
    offer(hub, "parquet")
    for look, note in ((30, "'rows_streamed': 30, 'stopped_looking_after_rows': 30"), (40, "'rows_streamed': 40")):
        done = hub.run(STREAM.format(source="made-up/reviews", look=look, labels=()), tmp_path / "home")
        assert done.stdout.strip() == f"6 {{}} {{'left_out_by_limit': {look - 6}, {note}}}", done.stderr


ABSENT = {
    "made-up/reviews:tset": "Unknown split",
    "made-up/reviews@other:test": "'other' not found",
    "made-up/nothing:test": "the hub has no such set",
    "made-up/reviews": "name its split: made-up/reviews:train",
    "made-up/reviews:test": "no column for label",
}


def test_what_the_hub_does_not_have_is_one_line_each(hub, tmp_path):
    offer(hub, "jsonl")
    code = f"""
from heldout.cli import main
for source in {list(ABSENT)}:
    assert main(["data", "check", source]) == 2, source
"""
    done = hub.run(code, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("heldout:")]
    assert len(lines) == len(ABSENT)
    for line, (source, message) in zip(lines, ABSENT.items(), strict=True):
        assert source in line
        assert message in line


def test_a_set_that_brings_code_is_refused_and_its_code_not_run(hub, tmp_path):
    folder = hub.folder / "datasets" / "made-up" / "code"
    folder.mkdir(parents=True)
    (folder / "code.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    done = check(hub, tmp_path / "home", "made-up/code:train")
    assert done.returncode == 2
    assert "script" in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_model_is_loaded_from_the_hub_by_id(hub, tiny_model, tmp_path):
    shutil.copytree(tiny_model, hub.folder / "models" / "made-up" / "tiny")
    code = """
from transformers import AutoModelForSequenceClassification, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("made-up/tiny")
model = AutoModelForSequenceClassification.from_pretrained("made-up/tiny", num_labels=3)
print(tuple(model(**tokenizer("a dull plot", return_tensors="pt")).logits.shape))
"""
    done = hub.run(code, tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "(1, 3)"
    got = {request["path"].rpartition("/")[2] for request in hub.requests() if request["method"] == "GET"}
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= got


def test_a_whole_run_from_the_hub_alone(hub, tiny_model, tmp_path):
    shutil.copytree(tiny_model, hub.folder / "models" / "made-up" / "tiny")
    offer(hub, "parquet")
    run = tmp_path / "run"
    words = ["finetune", "sentiment", "--model", "made-up/tiny", "--train", "made-up/reviews:train"]
    words += ["--test", "reviews=made-up/reviews:test", "--column", "label=verdict"]
    words += ["--epochs", "1", "--max-length", "16", "--baseline", "majority", "--out", str(run)]
    done = hub.run(CHECK.format(words=words), tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert json.loads((run / "scores" / "reviews.json").read_text())["n"] == 12
    assert json.loads((run / "ledger.json").read_text())["splits"]["train"]["source"] == "made-up/reviews:train"
