"""Extractive QA through the commands, on made-up passages and a tiny model."""

import json
import os
import random
import subprocess
import sys

import pytest

from heldout.cli import main
from heldout.records import read_card, read_gold, read_predictions

WORDS = ("the", "film", "plot", "scene", "actor", "song", "was", "is", "very", "quite", "with", "and", "never")
ANSWERS = ("lovely", "bright", "moving", "dull", "clumsy", "bleak")


def write(path, seed, articles, *, impossible=False):
    """SQuAD's nesting: in each passage one word of praise or blame, which is what both of its questions ask for."""
    generator = random.Random(seed)
    data = []
    for number in range(articles):
        passage = [
            f"{generator.choice(WORDS)}{generator.choice('abcdefgh')}" for _ in range(generator.randrange(6, 40))
        ]
        passage.insert(generator.randrange(len(passage)), generator.choice(ANSWERS))
        context = " ".join(passage)
        text = next(word for word in passage if word in ANSWERS)
        answer = {"text": text, "answer_start": context.index(text)}
        qas = [{"id": f"{path.stem}-{number}", "question": "how was the film", "answers": [answer]}]
        qas += [
            {"id": f"{path.stem}-{number}-b", "question": "how is its song", "answers": [] if impossible else [answer]}
        ]
        data.append({"title": f"{path.stem} {number}", "paragraphs": [{"context": context, "qas": qas}]})
    if impossible:
        for article in data:
            for question in article["paragraphs"][0]["qas"]:
                question["is_impossible"] = not question["answers"]
    path.write_text(json.dumps({"version": "made up", "data": data}))
    return str(path)


def words(tiny_model, folder, train, *tests):
    given = ["finetune", "qa", "--model", str(tiny_model), "--train", train, "--max-length", "24", "--max-steps", "3"]
    given += ["--batch-size", "8", "--precision", "fp32", "--stride", "4", "--max-answer", "4", "--out", str(folder)]
    return [*given, *(word for test in tests for word in ("--test", test))]


@pytest.fixture(scope="module")
def run(tiny_model, tmp_path_factory):
    """A run on questions of which half have no answer."""
    folder = tmp_path_factory.mktemp("qa")
    train = write(folder / "train.json", 1, 24, impossible=True)
    test = write(folder / "test.json", 2, 10, impossible=True)
    assert main(words(tiny_model, folder / "run", train, f"t={test}")) == 0
    return folder / "run"


def read(run, name, card):
    return read_gold(run / "gold" / f"{name}.jsonl", card), read_predictions(
        run / "predictions" / f"{name}.jsonl", card
    )


def test_a_run_predicts_scores_and_can_be_replayed_from_its_files(run):
    card = read_card(run / "card.json")
    assert (card.name, card.version, card.kind, card.labels) == ("qa", "2.0", "span", ())
    gold, predictions = read(run, "t", card)
    assert len(gold) == len(predictions) == 20
    for example, prediction in zip(gold, predictions, strict=True):
        scores = prediction.scores
        assert prediction.answer == ("" if scores["null_score"] > 0 else scores["best"]["text"])
        assert len(scores["nbest"]) == 20
        for span in scores["nbest"]:
            assert example.text["context"][span["start"] : span["end"]] == span["text"]
            assert len(span["text"].split()) <= 4
    scores = json.loads((run / "scores" / "t.json").read_text())
    assert {"f1", "em", "has_ans_f1", "no_ans_acc"} <= scores["metrics"].keys()
    baselines = {path.parent.parent.name for path in run.glob("baselines/*/predictions/t.jsonl")}
    assert baselines == {"first-noun", "sliding-window", "no-answer"}


def test_a_trained_run_predicts_further_data_as_it_did_its_test(run, tmp_path):
    again = tmp_path / "again.json"
    again.write_text((run.parent / "test.json").read_text())
    assert main(["predict", str(run), "--data", f"again={again}", "--precision", "fp32"]) == 0
    card = read_card(run / "card.json")
    for one, other in zip(read(run, "t", card)[1], read(run, "again", card)[1], strict=True):
        assert (one.id, one.answer) == (other.id, other.answer)
        assert one.scores["best"]["p"] == pytest.approx(other.scores["best"]["p"], abs=1e-6)


def test_without_impossible_questions_every_question_gets_an_answer_and_the_right_one_is_learnt(
    tiny_model, tmp_path, capsys
):
    train, test = write(tmp_path / "train.json", 1, 60), write(tmp_path / "test.json", 2, 20)
    given = words(tiny_model, tmp_path / "run", train, f"t={test}")
    given[given.index("--max-steps") + 1] = "60"
    assert main([*given, "--learning-rate", "3e-3", "--epochs", "40", "--eval-every", "60"]) == 0
    card = read_card(tmp_path / "run" / "card.json")
    assert card.version == "1.1"
    gold, predictions = read(tmp_path / "run", "t", card)
    assert all(prediction.answer for prediction in predictions)
    # 40 questions about passages that take several windows; when this was written all 40 were right.
    right = [one.answer == example.gold[0]["text"] for example, one in zip(gold, predictions, strict=True)]
    assert sum(right) >= 36
    assert "baseline no-answer left out" in capsys.readouterr().err


def test_two_processes_give_the_predictions_of_one_on_exactly_as_many_ids(tiny_model, tmp_path):
    train, test = write(tmp_path / "train.json", 1, 16), write(tmp_path / "test.json", 2, 11)
    command = [sys.executable, "-m", "accelerate.commands.launch", "--num_processes", "2", "--multi_gpu"]
    # On a CPU --multi_gpu means torchrun over gloo, where ACCELERATE_USE_CPU says so; --cpu alone wants mpirun.
    command += ["-m", "heldout", *words(tiny_model, tmp_path / "run", train, f"two={test}"), "--baseline", "none"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=280,
        env=os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "2 process" in done.stderr
    assert main(["predict", str(tmp_path / "run"), "--data", f"one={test}", "--precision", "fp32"]) == 0
    card = read_card(tmp_path / "run" / "card.json")
    two, one = (read(tmp_path / "run", name, card)[1] for name in ("two", "one"))
    assert len(two) == 22
    for a, b in zip(two, one, strict=True):
        assert (a.id, a.answer, a.seen) == (b.id, b.answer, b.seen)
        assert a.scores["null_score"] == pytest.approx(b.scores["null_score"], abs=1e-4)


def test_data_check_tells_answerable_from_impossible(tmp_path, capsys):
    source = write(tmp_path / "dev.json", 3, 5, impossible=True)
    assert main(["data", "check", source, "--task", "qa"]) == 0
    assert "answerable 5, impossible 5" in capsys.readouterr().out


def test_scoring_an_unlabelled_file_is_refused_with_the_reason(run, tmp_path, capsys):
    path = tmp_path / "blind.json"
    value = json.loads((run.parent / "test.json").read_text())
    for article in value["data"]:
        for question in article["paragraphs"][0]["qas"]:
            question["answers"] = []
            del question["is_impossible"]
    path.write_text(json.dumps(value))
    assert main(["predict", str(run), "--data", f"blind={path}"]) == 2
    assert "unlabelled: none of its 20 questions has an answer" in capsys.readouterr().err
