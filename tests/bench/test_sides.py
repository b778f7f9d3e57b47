"""Every side does its real work in this process, over a channel of the test's own; one test takes the real pipes."""

import json
from types import SimpleNamespace

import pytest

from heldout.bench import answering, pretraining, tokenizing
from heldout.bench.flops import Costs
from heldout.bench.result import read
from heldout.bench.training import ours, peer
from heldout.bench.training import quality as quality_module
from heldout.bench.training.bench import bench_train
from heldout.bench.training.quality import quality
from heldout.bench.training.work import fit_options, write_data
from heldout.cli import main
from heldout.data.prepare import prepare
from heldout.errors import Failed, Refused
from heldout.options import parse
from heldout.runs import read_json
from heldout.scripts.bench import Options

FILLER = "the film a plot scene with and but its actor song ending was is very quite".split()  # noqa: SIM905
WORK = {"ours": ours.work, "trainer": peer.work}


class Channel:
    """Asks for the blocks it is given, and keeps what it is told."""

    def __init__(self, *blocks):
        self.blocks, self.said = list(blocks), []

    def asked(self):
        return self.blocks.pop(0) if self.blocks else 0

    def say(self, message):
        # As the pipe would have it.
        self.said.append(json.loads(json.dumps(message)))


def as_fresh():
    """accelerate as in a process of its own."""
    from accelerate.state import AcceleratorState, PartialState

    AcceleratorState._reset_state(reset_partial_state=True)
    PartialState._reset_state()


def work(spec, *blocks):
    """What a side says of itself and of its blocks."""
    channel = Channel(*blocks)
    as_fresh()
    WORK[spec["work"]](spec, channel)
    return channel.said


def options(reviews_csv, tiny_model, *words):
    given = ["train", "--task", "sentiment", "--train", str(reviews_csv), "--model", str(tiny_model)]
    given += ["--max-length", "24", "--batch-size", "8", "--epochs", "1", *words]
    return parse(Options, given, prog="heldout bench", description="")


@pytest.fixture
def specs(reviews_csv, tiny_model, tmp_path):
    """The specs of all three sides, by name."""
    asked = options(reviews_csv, tiny_model)
    write_data(prepare("sentiment", train=asked.train, dev=None, tests={}, options=asked, seed=1), tmp_path / "data")
    shared = {"task": "sentiment", "data": str(tmp_path / "data"), "options": fit_options(asked), "seed": 1}
    shared |= {"steps": 11}
    kinds = {"ours": "ours", "trainer": "trainer", "trainer-tuned": "trainer"}
    return {name: {"work": kind, "side": name, **shared} for name, kind in kinds.items()}


def test_blocks_of_every_side_are_the_steps_that_were_asked_for(specs):
    for name, spec in specs.items():
        facts, *blocks = work(spec, 2, 3)
        assert [block["steps"] for block in blocks] == [2, 3], name
        assert [block["rows"] for block in blocks] == [16, 24], name
        assert all(block["seconds"] > 0 and sum(block["lengths"]) == block["tokens"] for block in blocks), name
        assert Costs(**facts["costs"]).forward([10]) > 0 and facts["parameters"] > 1000


def test_the_peer_is_the_trainer_of_the_examples_and_says_its_arguments(specs):
    plain, tuned = (work(specs[name])[0] for name in ("trainer", "trainer-tuned"))
    assert plain["precision"] == "fp32" and tuned["precision"] == "bf16"
    assert plain["arguments"]["per_device_train_batch_size"] == 8 and plain["arguments"]["max_steps"] == 11
    more = {"bf16": True, "train_sampling_strategy": "group_by_length"}
    assert tuned["arguments"] == plain["arguments"] | more
    ours = work(specs["ours"])[0]
    assert plain["costs"] == tuned["costs"] == ours["costs"]
    # Ours takes the last layer for the first token alone; they take all of it.
    assert "done" not in plain and ours["done"]["token"] < ours["costs"]["token"]


def here(name, spec, out, say):
    """A whole training in this process."""
    done = work(spec, spec["steps"])[-1]
    assert done["steps"] == spec["steps"]


def compared(specs, out, monkeypatch, seeds=(1, 2)):
    monkeypatch.setattr(quality_module, "_train", here)
    return quality(
        specs, seeds=seeds, arguments={"task": "sentiment"}, out=out, replicates=50, say=lambda message: None
    )


def test_quality_is_that_of_the_same_rows_and_a_seed_that_is_done_is_not_trained_again(specs, tmp_path, monkeypatch):
    result = compared(specs, tmp_path / "out", monkeypatch)
    entries = result.details["compared"]
    assert set(entries) == {"trainer", "trainer-tuned"}
    for entry in entries.values():
        assert entry["metric"] == "accuracy" and entry["low"] <= entry["value"] <= entry["high"]
        assert entry["n"] == 10 and "seeds drawn too (2 and 2)" in entry["method"]
    taken = result.details["taken"]
    # 86 reviews in steps of 8: every side, every seed, the same rows.
    assert {(one["steps"], one["rows"], one["digest"]) for of in taken.values() for one in of} == {
        (11, 86, taken["ours"][0]["digest"])
    }
    monkeypatch.setattr(quality_module, "_train", lambda *given: pytest.fail("a seed was trained again"))
    again = quality(
        specs, seeds=(1, 2), arguments={"task": "sentiment"}, out=tmp_path / "out", replicates=50, say=print
    )
    assert again.figures == result.figures
    assert main(["compare", str(tmp_path / "out" / "trainer"), str(tmp_path / "out" / "ours"), "--data", "dev"]) == 0


def test_a_peer_that_reads_less_is_caught(specs, tmp_path, monkeypatch):
    fewer = tmp_path / "fewer"
    fewer.mkdir()
    for file in (tmp_path / "data").iterdir():
        lines = file.read_text().splitlines(keepends=True)
        (fewer / file.name).write_text("".join(lines[:-1] if file.name == "train.jsonl" else lines))
    planted = {"ours": specs["ours"], "trainer": {**specs["trainer"], "data": str(fewer)}}
    with pytest.raises(Failed, match=r"ours read 86 rows .* and trainer 8. .*not the same"):
        compared(planted, tmp_path / "out", monkeypatch, seeds=(1,))


def test_a_quality_part_goes_on_only_as_it_was_begun(reviews_csv, tiny_model, tmp_path, monkeypatch):
    monkeypatch.setattr(quality_module, "_train", here)
    words = ["--part", "quality", "--peer", "trainer", "--out", str(tmp_path / "out"), "--dev-size", "20"]
    asked = options(reviews_csv, tiny_model, *words)

    def bench(given):
        return bench_train(given, parts=["quality"], seeds=[1], replicates=20, say=lambda message: None)

    (result,) = bench(asked)
    assert result.arguments["seeds"] == [1] and result.details["compared"]["trainer"]["n"] == 20
    with pytest.raises(Refused, match=r"was begun with learning_rate 5e-05, not 0\.001"):
        bench(options(reviews_csv, tiny_model, *words, "--learning-rate", "1e-3"))


def ner_csv(path):
    sentences = []
    for number, word in enumerate(FILLER):
        sentences += [f"Ada B-person\n{word} O\nin O\nMalm B-place\nBay I-place\n", f"the O\n{word} O\n" * (number + 1)]
    path.write_text("\n".join(sentences))
    return path


def test_words_are_prepared_as_ours_row_for_row(tiny_model, tmp_path):
    data = ner_csv(tmp_path / "train.conll")
    words = ["train", "--task", "ner", "--train", str(data), "--model", str(tiny_model), "--max-length", "40"]
    asked = parse(Options, [*words, "--batch-size", "4", "--epochs", "1"], prog="bench", description="")
    prepared = prepare("ner", train=asked.train, dev=None, tests={}, options=asked, seed=1)
    write_data(prepared, tmp_path / "data")
    steps = -(-len(prepared.splits["train"].examples) // 4)
    shared = {"task": "ner", "data": str(tmp_path / "data"), "options": fit_options(asked), "seed": 1, "steps": steps}
    sides = {name: {"work": name, "side": name, **shared} for name in ("ours", "trainer")}
    taken = {}
    for name, spec in sides.items():
        work({**spec, "out": str(tmp_path / name / "seed-1")}, steps)
        taken[name] = read_json(tmp_path / name / "seed-1" / "taken.json")
    assert taken["ours"]["rows"] > 10
    assert taken["ours"]["digest"] == taken["trainer"]["digest"]


def squad(path, context, answer, words):
    """A file of SQuAD: the same answer in passages that begin with each of the words, twenty times."""
    articles = []
    for word in words:
        passage = f"{word} " * 20 + context
        answers = [{"text": answer, "answer_start": passage.index(answer)}]
        asked = [{"id": f"{word}{number}", "question": "who made it ?", "answers": answers} for number in range(2)]
        articles.append({"title": word, "paragraphs": [{"context": passage, "qas": asked}]})
    path.write_text(json.dumps({"version": "1.1", "data": articles}))
    return path


def test_questions_are_prepared_as_run_qa_does_with_the_answers_where_they_stand(tiny_model, tmp_path):
    mill = "the mill stood by the river and ada moor made it . " * 3
    data = squad(tmp_path / "train.json", mill, "ada moor", FILLER)
    dev = squad(tmp_path / "dev.json", "a song that greta wrote in a night", "greta", ["all", "any"])
    words = ["train", "--task", "qa", "--train", str(data), "--model", str(tiny_model), "--max-length", "64"]
    asked = parse(Options, [*words, "--batch-size", "4"], prog="bench", description="")
    prepared = prepare("qa", train=asked.train, dev=str(dev), tests={}, options=asked, seed=1)
    write_data(prepared, tmp_path / "data")
    from heldout.bench.training.examples import prepared as as_example
    from heldout.bench.training.work import Work

    spec = {"side": "trainer", "task": "qa", "data": str(tmp_path / "data"), "options": fit_options(asked), "seed": 1}
    made = as_example(Work.of(spec))
    found = 0
    for feature in made.dataset:
        start, end = made.target(feature)
        if (start, end) != (0, 0):
            found += 1
            assert (
                made.tokenizer.decode(feature["input_ids"][start : end + 1]).translate({32: None, 35: None})
                == "adamoor"
            )
    assert found >= 10
    batch = made.collator([{k: v for k, v in feature.items()} for feature in made.dataset.select(range(3))])
    assert made.model(**batch).loss.item() > 0


def test_both_encode_the_same_ids_and_train_as_many_pieces(tmp_path):
    texts = [
        f"the mill {word} by the river in {number}" for number, word in enumerate(["stood", "turned", "fell"] * 40)
    ]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    spec = {"texts": str(tmp_path / "texts.jsonl"), "kind": "wordpiece", "vocab_size": 120}
    spec["tokenizer"] = str(tmp_path / "tokenizer")
    told = {}
    for what in ("train", "encode"):
        for side in ("ours", "tokenizers"):
            channel = Channel(1)
            tokenizing.work({**spec, "do": what, "side": side}, channel)
            told[what, side] = channel.said[-1]
    pieces = [set(told["train", side]["pieces"]) for side in ("ours", "tokenizers")]
    assert len(pieces[0] & pieces[1]) / len(pieces[0]) > 0.7
    assert told["encode", "ours"]["ids"] == told["encode", "tokenizers"]["ids"]
    assert told["encode", "ours"]["tokens"] > len(texts) * 6


def test_packed_rows_have_no_padding_and_masked_positions_alone_are_asked_for(tiny_model, tmp_path):
    corpus = tmp_path / "corpus.jsonl"
    texts = [f"the film {word} a very moving plot with {other} ending" for word in FILLER for other in FILLER]
    corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    asked = {"corpus": [str(corpus)], "tokenizer": str(tiny_model), "preset": "tiny", "max_length": 32}
    asked |= {"batch_size": 4, "pack": True, "max_steps": 5}
    channel = Channel(2, 3)
    pretraining.work({"options": asked, "seed": 1, "folder": str(tmp_path / "work")}, channel)
    facts, *blocks = channel.said
    assert [len(block["lengths"]) for block in blocks] == [8, 12]
    assert all(sum(block["lengths"]) == block["padded"] for block in blocks)
    chosen, tokens = (sum(values) for values in zip(*((b["chosen"], b["padded"]) for b in blocks), strict=True))
    assert 0.05 < chosen / tokens < 0.25
    assert facts["costs"]["choice"] > 0


@pytest.fixture(scope="module")
def run(tiny_model, reviews_csv, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    out, other = folder / "run", folder / "other.csv"
    rows = [
        f"o{place},{word} {word} not {word},{('positive', 'negative')[place % 2]}" for place, word in enumerate(FILLER)
    ]
    other.write_text("\n".join(["id,text,label", *rows]) + "\n")
    words = ["finetune", "sentiment", "--model", str(tiny_model), "--train", str(reviews_csv), "--out", str(out)]
    words += ["--max-length", "24", "--epochs", "3", "--learning-rate", "3e-3", "--baseline", "none"]
    words += ["--test", f"other={other}"]
    assert main(words) == 0
    return out


def test_ours_and_the_pipeline_answer_the_same_examples_alike(run):
    answers = {}
    as_fresh()
    for form in ("fp32", "pipeline"):
        channel = Channel(3, 4)
        spec = {"run": str(run), "data": str(run / "gold" / "dev.jsonl"), "form": form, "batch": 2}
        answering.work(spec, channel)
        answers[form] = channel.said[1:]
    assert [block["ids"] for block in answers["fp32"]] == [block["ids"] for block in answers["pipeline"]]
    assert [len(block["ids"]) for block in answers["fp32"]] == [3, 4]
    assert [block["answers"] for block in answers["fp32"]] == [block["answers"] for block in answers["pipeline"]]
    assert len({label for block in answers["fp32"] for label in block["answers"]}) == 2


def test_the_report_of_a_run_is_measured_and_the_run_left_as_it_was(run, capsys):
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    assert main(["bench", "report", "--model", str(run)]) == 0
    out = capsys.readouterr().out
    assert "page         0." in out and "peak memory" in out
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before


def test_the_start_is_measured_beside_bare_python(tmp_path):
    written = tmp_path / "start.json"
    assert main(["bench", "start", "--blocks", "2", "--json", str(written)]) == 0
    (entry,) = read(written)
    figures = entry["figures"]
    assert 0 < figures["python seconds"] < figures["heldout --help seconds"]
    assert [len(values) for values in entry["details"]["seconds"].values()] == [2, 2]


def test_a_side_that_answers_other_examples_is_caught():
    from heldout.bench.predicting import _measured

    block = {"ids": ["a", "b"], "answers": ["x", "y"], "seconds": 1.0, "lengths": [3, 4]}
    sides = [SimpleNamespace(name=name, facts={}, peak_memory=lambda: 0) for name in ("ours fp32", "pipeline")]
    found = [{"ours fp32": block, "pipeline": {**block, "ids": ["a", "c"]}}]
    with pytest.raises(Failed, match="pipeline answered other examples"):
        _measured(sides[1], found, sides[0], {})


def test_speed_is_measured_as_the_command_with_every_side_in_a_process(reviews_csv, tiny_model, tmp_path, capsys):
    written = tmp_path / "speed.json"
    words = ["bench", "train", "--task", "sentiment", "--train", str(reviews_csv), "--model", str(tiny_model)]
    words += [
        "--max-length",
        "24",
        "--batch-size",
        "4",
        "--part",
        "speed",
        "--peer",
        "trainer",
        "--attention-dropout",
        "0",
    ]
    assert main([*words, "--steps", "2", "--blocks", "2", "--json", str(written)]) == 0
    (entry,) = read(written)
    sides = entry["details"]["sides"]
    assert set(sides) == {"ours", "trainer"}
    assert all(row["steps"] == 4 and row["rows"] == 16 and row["peak_memory"] > 1e8 for row in sides.values())
    assert all(0 < row["share_of_peak"] < 1 for row in sides.values())
    assert sides["trainer"]["ours_is"]["rounds"] == 2
    out = capsys.readouterr().out
    assert "attention_dropout=0.0" in out and "per_device_train_batch_size=4" in out
    assert "real tokens/s" in out
