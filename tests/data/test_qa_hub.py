"""SQuAD as the hub has it, from a hub of our own on loopback."""

import json

ROWS = [
    {"id": f"q{n}", "title": f"T{n % 3}", "context": f"The mill was built by Ada{n}.", "question": f"who built it {n}?"}
    | {"answers": {"text": [f"Ada{n}"] * (n % 4 > 0), "answer_start": [22] * (n % 4 > 0)}}
    for n in range(24)
]
READ = """
from heldout.data.prepare import load, PrepareOptions
from heldout.options import parse
loaded = load("qa", {source!r}, parse(PrepareOptions, [], prog="x", description=""), limit={limit})
print(len(loaded.examples), sum(not example.gold for example in loaded.examples), dict(loaded.dropped))
print(loaded.examples[1].to_json())
"""


def offer(hub):
    folder = hub.folder / "datasets" / "made-up" / "squad"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "validation.jsonl").write_text("".join(json.dumps(row | {"answers": None}) + "\n" for row in ROWS))


def test_a_hub_set_is_read_with_its_questions_that_have_no_answer(hub, tmp_path):
    offer(hub)
    done = hub.run(READ.format(source="made-up/squad:train", limit=None), tmp_path / "home")
    assert done.stdout.startswith("24 6 {}\n"), done.stderr
    assert "'gold': [{'text': 'Ada1', 'start': 22}]" in done.stdout
    assert "'group': 'T1'" in done.stdout


def test_a_streamed_sample_of_it_is_read_as_the_whole_is(hub, tmp_path):
    offer(hub)
    done = hub.run(READ.format(source="made-up/squad:train", limit=8), tmp_path / "home")
    assert done.stdout.startswith("8 "), done.stderr


def test_a_split_without_answers_is_refused(hub, tmp_path):
    offer(hub)
    done = hub.run(READ.format(source="made-up/squad:validation", limit=None), tmp_path / "home")
    assert "Refused: made-up/squad:validation: unlabelled" in done.stderr
