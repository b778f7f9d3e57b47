import json
import os
import random
import shutil
import socket
import subprocess
import sys

import pytest

from heldout.cli import main
from heldout.records import Card, join, read_gold, read_predictions
from heldout.runs import read_json
from heldout.scripts import predict

#: What predict writes of a set.
FILES = [("gold", "l"), ("predictions", "l"), ("scores", "")]
CARD_LABELS = ["negative", "positive"]


@pytest.fixture(scope="module")
def words(tiny_model, reviews_csv, tmp_path_factory):
    """A whole fine-tuning of a second: 2 layers without dropout, 60 reviews."""
    model = with_dropout_off(tiny_model, tmp_path_factory.mktemp("still") / "model")
    return [
        *("finetune", "sentiment", "--model", str(model), "--train", str(reviews_csv), "--dev-size", "20"),
        *("--test", f"again={reviews_csv}", "--allow-fitted-test", "--max-length", "16", "--limit", "60"),
        *("--precision", "fp32", "--learning-rate", "1e-2", "--epochs", "2"),
    ]


@pytest.fixture(scope="module")
def run(words, tmp_path_factory):
    out = tmp_path_factory.mktemp("finetune") / "run"
    assert main([*words, "--out", str(out)]) == 0
    return out


def with_dropout_off(folder, to):
    """A copy of a model whose config has no dropout, so that several processes draw nothing."""
    shutil.copytree(folder, to)
    config = read_json(to / "config.json") | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (to / "config.json").write_text(json.dumps(config))
    return to


def without(words, flag):
    at = words.index(flag)
    return [*words[:at], *words[at + 2 :]]


def test_a_run_folder_holds_exactly_these_files(run):
    names = {str(path.relative_to(run)) for path in run.rglob("*") if path.is_file()}
    own = {name for name in names if not name.startswith(("baselines/", "checkpoints/", "model/"))}
    assert own == {
        *("run.json", "lock", "options.json", "environment.json", "ledger.json", "losses.jsonl", "card.json"),
        *("train-texts.json", "README.md"),
        *("gold/dev.jsonl", "gold/again.jsonl", "predictions/dev.jsonl", "predictions/again.jsonl"),
        *("fits/temperature.json", "fits/isotonic.json", "fits/conformal.json"),
        *("scores/dev.json", "scores/again.json"),
    }
    ladder = {"majority", "lexicon", "tfidf", "static"}
    assert {name.split("/")[1] for name in names if name.startswith("baselines/")} == ladder
    assert {"model/model.safetensors", "model/config.json", "model/tokenizer.json"} <= names
    assert not [name for name in names if name.endswith((".bin", ".pt", ".pkl", ".pickle"))]
    assert read_json(run / "run.json")["state"] == "done"


def test_the_saved_model_in_plain_transformers_gives_the_same_answers_through_a_pipeline(run, reviews_csv):
    from transformers import pipeline

    card = Card("sentiment", "1", "label", tuple(CARD_LABELS), ("accuracy",))
    gold = read_gold(run / "gold" / "again.jsonl", card)
    predictions = read_predictions(run / "predictions" / "again.jsonl", card)
    classify = pipeline("text-classification", str(run / "model"), top_k=None, device="cpu")
    answers = classify([example.text["text"] for example in gold], truncation=True)
    assert len(answers) == 96
    assert any(prediction.seen["lost"] for prediction in predictions)
    for theirs, ours in zip(answers, predictions, strict=True):
        scores = {row["label"]: row["score"] for row in theirs}
        assert max(scores, key=scores.get) == ours.answer
        assert [scores[label] for label in CARD_LABELS] == pytest.approx(ours.scores, abs=1e-5)


def test_labels_stand_by_name_in_the_config(run):
    config = read_json(run / "model" / "config.json")
    assert config["label2id"] == {"negative": 0, "positive": 1}


def test_the_ledger_says_what_every_split_is_and_what_dev_was_used_for(run):
    ledger = read_json(run / "ledger.json")
    assert ledger["splits"]["train"]["n"] == 60
    assert ledger["splits"]["dev"]["n"] == 20
    fitted = ledger["fitted"]
    assert "checkpoint with the maximum of accuracy" in fitted
    assert {entry["split"] for name, entry in fitted.items() if "temperature" in name or "checkpoint" in name} == {
        "dev"
    }


def test_resume_of_a_finished_run_changes_nothing(run, words):
    before = {path: path.stat().st_mtime_ns for path in (run / "model").iterdir()}
    predictions = (run / "predictions" / "again.jsonl").read_bytes()
    assert main([*words, "--out", str(run), "--resume"]) == 0
    assert {path: path.stat().st_mtime_ns for path in (run / "model").iterdir()} == before
    assert (run / "predictions" / "again.jsonl").read_bytes() == predictions


def test_resume_with_another_option_is_refused_and_names_it(run, words, refused):
    refused([*words, "--epochs", "3", "--out", str(run), "--resume"], "epochs = 2, not 3")


def test_a_taken_folder_is_refused_without_resume(run, words, refused):
    refused([*words, "--out", str(run)], "holds a run already", "--resume")


def test_predict_scores_further_data_with_the_labels_of_the_card(run, tmp_path, capsys, refused):
    data = tmp_path / "more.csv"
    data.write_text("text,label\nthe film is lovely,1\nthe plot is dull,0\nbleak and stale,0\n")
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    assert main(["predict", str(copy), "--data", f"more={data}", "--precision", "fp32"]) == 0
    assert "more" in capsys.readouterr().out
    card = Card("sentiment", "1", "label", tuple(CARD_LABELS), ("accuracy",))
    pairs = join(read_gold(copy / "gold/more.jsonl", card), read_predictions(copy / "predictions/more.jsonl", card))
    assert [example.gold for example, _ in pairs] == ["positive", "negative", "negative"]
    assert read_json(copy / "scores" / "more.json")["n"] == 3
    assert read_json(copy / "ledger.json")["splits"]["more"]["n"] == 3
    refused(["predict", str(copy), "--data", f"more={data}"], "has scores for 'more' already")


@pytest.mark.parametrize("made", [{"kind": "mlm", "seed": 1}, []])
def test_predict_refuses_a_run_that_does_no_task(run, tmp_path, reviews_csv, refused, made):
    copy = shutil.copytree(run, tmp_path / "pretrained")
    (copy / "options.json").write_text(json.dumps(made))
    refused(["predict", str(copy), "--data", f"more={reviews_csv}"], "names no task; give a run of heldout finetune")


@pytest.mark.parametrize("killed", ["before the first is scored", "at the second", "before the second is scored"])
def test_a_predict_of_two_sets_that_is_killed_is_finished_by_the_same_command(
    run, tmp_path, monkeypatch, killed, refused
):
    words = ["--precision", "fp32"]
    for name, text in (("one", "the film is lovely"), ("two", "a quite dull plot")):
        (tmp_path / f"{name}.csv").write_text(f"text,label\n{text},1\nbleak and {text},0\n")
        words += ["--data", f"{name}={tmp_path / name}.csv"]
    unbroken, broken = shutil.copytree(run, tmp_path / "unbroken"), shutil.copytree(run, tmp_path / "broken")
    assert main(["predict", str(unbroken), *words]) == 0

    def dies(call, name):
        def instead(*given, **named):
            if name in str(given[:2]):
                raise KeyboardInterrupt
            return call(*given, **named)

        return instead

    with monkeypatch.context() as patch:
        what = "write_answers" if killed == "at the second" else "score_run"
        name = "one" if "first" in killed else "two"
        patch.setattr(predict, what, dies(getattr(predict, what), f"{name}.jsonl" if what[0] == "w" else f"'{name}'"))
        assert main(["predict", str(broken), *words]) == 130
    there = {path: path.stat().st_mtime_ns for path in broken.glob("predictions/*.jsonl")}
    assert {path.stem for path in there} >= ({"one"} if name == "one" or what[0] == "w" else {"one", "two"})
    # Another set under a name that has scores is refused as ever.
    if name == "two":
        refused(["predict", str(broken), "--data", f"one={tmp_path}/two.csv"], "has scores for 'one' already")
    assert main(["predict", str(broken), *words]) == 0
    assert {path: path.stat().st_mtime_ns for path in there} == there
    for file in [f"{kind}/{name}.json{end}" for kind, end in FILES for name in ("one", "two")]:
        assert (broken / file).read_bytes() == (unbroken / file).read_bytes()
    assert read_json(broken / "ledger.json") == read_json(unbroken / "ledger.json")
    assert not list(broken.glob("predictions/*.part*"))
    refused(["predict", str(broken), *words], "has scores for 'one' already")


def test_answers_of_a_predict_are_those_of_the_precision_that_auto_is_here(run, monkeypatch):
    monkeypatch.setattr("heldout.train.precision.resolve", lambda wanted: ("bf16", "it is"))
    options = predict.Options(folder=str(run), data=())
    decides = predict._decides(run / "model", {"max_length": 16}, [], options)
    assert decides["precision"] == "bf16"
    assert decides != predict._decides(run / "model", {"max_length": 24}, [], options)


def test_a_predict_that_is_refused_leaves_the_run_as_it_was(run, tmp_path, refused):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    (tmp_path / "good.csv").write_text("text,label\nthe ending is lovely,1\nthe song is dull,0\n")
    (tmp_path / "odd.csv").write_text("text,label\na tender song,positive\nso so,mixed\n")
    sets = ["--data", f"good={tmp_path / 'good.csv'}", "--data", f"odd={tmp_path / 'odd.csv'}"]
    refused(["predict", str(copy), *sets, "--precision", "fp32"], "odd.csv", "row 2", "'mixed'")
    refused(["predict", str(copy), *sets, "--label", "mixed=-", "--label", "7=positive"], "no row", "'7'")
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_predict_refuses_what_was_trained_on_and_marks_it_once_allowed(run, reviews_csv, tmp_path, refused):
    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    words = ["predict", str(copy), "--precision", "fp32", "--data"]
    refused([*words, f"own={reviews_csv}"], "--data own=", "train was read from it", "--allow-fitted-test")
    rows = reviews_csv.read_text().splitlines()
    mixed = tmp_path / "mixed.csv"
    mixed.write_text(
        "\n".join([*rows, "new1,an unseen and lovely song,positive", "new2,a bleak unseen scene,negative"])
    )
    assert main([*words, f"mixed={mixed}"]) == 0
    gold = read_gold(copy / "gold" / "mixed.jsonl", Card("sentiment", "1", "label", tuple(CARD_LABELS), ("accuracy",)))
    ledger = read_json(copy / "ledger.json")
    assert sum(example.about.get("overlap") == "exact" for example in gold) == 60
    assert ledger["overlap"]["train/mixed exact"] == 60
    assert ledger["overlap"]["dev/mixed exact"] == 20
    assert read_json(copy / "scores" / "mixed.json")["slices"]["overlap=in train (exact)"]["n"] == 60
    assert main([*words, f"own={reviews_csv}", "--allow-fitted-test"]) == 0
    assert read_json(copy / "ledger.json")["splits"]["own"]["notes"]["from_the_source_of_train"] == 96


def test_a_model_whose_labels_are_permuted_scores_the_same(run, tmp_path, reviews_csv):
    # Labels are matched by name: swap the rows of the head together with the names, and nothing may change.
    from safetensors.torch import load_file, save_file

    copy = tmp_path / "run"
    shutil.copytree(run, copy)
    config = read_json(copy / "model" / "config.json")
    config["label2id"] = {"positive": 0, "negative": 1}
    config["id2label"] = {"0": "positive", "1": "negative"}
    (copy / "model" / "config.json").write_text(json.dumps(config))
    weights = load_file(copy / "model" / "model.safetensors")
    for name in ("classifier.weight", "classifier.bias"):
        weights[name] = weights[name].flip(0).contiguous()
    save_file(weights, copy / "model" / "model.safetensors", {"format": "pt"})
    for folder in (run, copy):
        if folder is run:
            folder = tmp_path / "plain"
            shutil.copytree(run, folder)
        assert (
            main(
                ["predict", str(folder), "--data", f"twice={reviews_csv}", "--allow-fitted-test", "--precision", "fp32"]
            )
            == 0
        )
    one, two = (read_predictions_file(tmp_path / name) for name in ("plain", "run"))
    assert [p.answer for p in one] == [p.answer for p in two]
    assert [p.scores for p in one] == [pytest.approx(p.scores, abs=1e-6) for p in two]


def read_predictions_file(folder):
    card = Card("sentiment", "1", "label", tuple(CARD_LABELS), ("accuracy",))
    return read_predictions(folder / "predictions" / "twice.jsonl", card)


def test_several_seeds_make_a_run_each_on_the_same_splits(words, tmp_path):
    out = tmp_path / "runs"
    assert main([*words, "--out", str(out), "--seeds", "1,2", "--baseline", "majority"]) == 0
    golds = [(out / f"seed-{seed}" / "gold" / "dev.jsonl").read_bytes() for seed in (1, 2)]
    assert golds[0] == golds[1]
    plans = [read_json(out / f"seed-{seed}" / "ledger.json")["plan"] for seed in (1, 2)]
    assert plans[0] != plans[1]
    assert (out / "baselines" / "majority" / "scores" / "again.json").exists()


def test_five_labels_can_be_learned_and_scored(tiny_model, tmp_path, capsys):
    filler = random.Random(5)
    mixed = ("lovely " * stars + "dull " * (4 - stars) for _ in range(12) for stars in range(5))
    rows = [f"{words}{' '.join(filler.choices('abcdefghijklmnop', k=8))},{n % 5}" for n, words in enumerate(mixed)]
    data = tmp_path / "stars.csv"
    data.write_text("text,label\n" + "\n".join(rows) + "\n")
    names = ["awful", "poor", "fair", "good", "great"]
    labels = [word for row, name in enumerate(names) for word in ("--label", f"{row}={name}")]
    words = [
        "finetune",
        "sentiment",
        "--model",
        str(tiny_model),
        "--train",
        str(data),
        "--test",
        f"same={data}",
        *labels,
    ]
    words += ["--max-length", "16", "--precision", "fp32", "--allow-fitted-test", "--max-steps", "2"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    assert sorted(read_json(tmp_path / "run" / "card.json")["labels"]) == sorted(names)
    assert "baseline lexicon left out" in capsys.readouterr().err


@pytest.mark.parametrize("long", ["tail", "head+tail", "windows"])
def test_every_way_with_long_texts_runs_through_the_command(words, tmp_path, long):
    out = tmp_path / "run"
    assert main([*words, "--out", str(out), "--long", long, "--max-steps", "3", "--baseline", "none"]) == 0
    card = Card("sentiment", "1", "label", tuple(CARD_LABELS), ("accuracy",))
    lost = [prediction.seen["lost"] for prediction in read_predictions(out / "predictions" / "again.jsonl", card)]
    assert (sum(lost) == 0) == (long == "windows")


# Bad input, each one line -------------------------------------------------------------------------------------------


def test_a_missing_an_empty_and_a_one_label_file_are_refused(words, tmp_path, refused):
    base = [*without(words, "--train"), "--out", str(tmp_path / "run")]
    refused([*base, "--train", str(tmp_path / "none.csv")], "none.csv")
    (tmp_path / "empty.csv").write_text("")
    refused([*base, "--train", str(tmp_path / "empty.csv")], "empty.csv")
    (tmp_path / "one.csv").write_text("text,label\n" + "".join(f"text {n},positive\n" for n in range(30)))
    refused([*base, "--train", str(tmp_path / "one.csv")], "positive", "two labels")
    assert not (tmp_path / "run").exists()


def test_a_wrong_column_is_refused_naming_those_there_are(words, tmp_path, refused):
    refused([*words, "--column", "text=txt", "--out", str(tmp_path / "run")], "'txt'", "text")


def test_a_test_label_that_train_lacks_is_refused_with_its_row(words, tmp_path, refused):
    (tmp_path / "odd.csv").write_text("text,label\na fine film,positive\nso so,mixed\n")
    out = str(tmp_path / "run")
    refused([*words, "--test", f"odd={tmp_path / 'odd.csv'}", "--out", out], "odd.csv", "mixed", "row 2")


def model_copy(tiny_model, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    return folder


def with_model(words, folder, tmp_path):
    return [*without(words, "--model"), "--model", str(folder), "--baseline", "none", "--out", str(tmp_path / "run")]


def test_a_model_folder_without_weights_is_refused(words, tiny_model, tmp_path, refused):
    folder = model_copy(tiny_model, tmp_path)
    (folder / "model.safetensors").unlink()
    refused(with_model(words, folder, tmp_path), "holds no weights")


def test_pickled_weights_are_refused_unopened(words, tiny_model, tmp_path, refused):
    folder = model_copy(tiny_model, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    refused(with_model(words, folder, tmp_path), "pytorch_model.bin", "safetensors")


def test_a_tokenizer_without_a_pad_token_is_refused(words, tiny_model, tmp_path, refused):
    folder = model_copy(tiny_model, tmp_path)
    config = read_json(folder / "tokenizer_config.json")
    config.pop("pad_token")
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    refused(with_model(words, folder, tmp_path), "lacks a pad token")


def test_a_model_that_wants_to_run_its_own_code_is_refused_without_the_flag(words, tiny_model, tmp_path, refused):
    folder = model_copy(tiny_model, tmp_path)
    config = read_json(folder / "config.json")
    config["auto_map"] = {"AutoModelForSequenceClassification": "evil.Model"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    refused(with_model(words, folder, tmp_path), "--trust-remote-code")
    assert not (tmp_path / "ran").exists()


def test_damaged_weights_and_a_missing_folder_are_one_line(words, tiny_model, tmp_path, refused):
    folder = model_copy(tiny_model, tmp_path)
    (folder / "model.safetensors").write_bytes(b"not a safetensors file")
    refused(with_model(words, folder, tmp_path), "could not be loaded")
    refused(with_model(words, tmp_path / "nowhere", tmp_path), "nowhere", "no such model folder")


def test_an_unknown_task_baseline_and_option_name_the_nearest(words, tmp_path, refused):
    out = ["--out", str(tmp_path / "run")]
    refused(["finetune", "sentimant", *words[2:], *out], "did you mean sentiment")
    refused([*words, *out, "--baseline", "tfidff"], "did you mean tfidf")
    refused([*words, *out, "--epoch", "3"], "did you mean --epochs")


def test_help_is_printed_without_importing_torch():
    code = "import sys; from heldout.cli import main; main(['--help']); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "finetune" in done.stdout


def test_two_processes_take_the_same_steps_and_give_the_same_predictions(words, run, tmp_path):
    # FAULTS E1, C6: 96 rows over two processes; exactly 96 ids come back, with the weights of one process.
    out = tmp_path / "run"
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", str(free_port())]
    done = subprocess.run(
        [*launch, "-m", "heldout", *words, "--out", str(out), "--baseline", "none"],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "2 process(es)" in done.stderr
    assert read_json(out / "environment.json")["processes"] == 2
    assert read_json(out / "ledger.json")["plan"] == read_json(run / "ledger.json")["plan"]
    one, two = ([json.loads(line) for line in (f / "losses.jsonl").read_text().splitlines()] for f in (run, out))
    assert [row["loss"] for row in one] == pytest.approx([row["loss"] for row in two], abs=1e-4)
    assert [row["tokens"] for row in one] == [row["tokens"] for row in two]
    ours, theirs = (
        [json.loads(r) for r in (f / "predictions/again.jsonl").read_text().splitlines()] for f in (run, out)
    )
    assert [row["id"] for row in theirs] == [f"r{n}" for n in range(96)]
    assert [row["answer"] for row in theirs] == [row["answer"] for row in ours]
    assert [row["scores"] for row in theirs] == [pytest.approx(row["scores"], abs=1e-4) for row in ours]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def test_a_run_that_came_to_nothing_is_not_in_the_way_of_the_next_try(words, tmp_path, refused):
    base = [*without(words, "--model"), "--out", str(tmp_path / "run"), "--baseline", "none"]
    refused([*base, "--model", str(tmp_path / "typo")], "no such model folder")
    assert main([*base, "--model", words[words.index("--model") + 1]]) == 0


def test_seeds_that_failed_half_way_do_not_go_on_with_other_options(words, tmp_path, refused):
    out = tmp_path / "runs"
    base = [*words, "--out", str(out), "--baseline", "none", "--seeds", "1,2"]
    assert main(base) == 0
    state = read_json(out / "run.json") | {"state": "failed"}
    (out / "run.json").write_text(json.dumps(state))
    refused([*base, "--epochs", "3"], "holds a run already")
    options = read_json(out / "options.json") | {"epochs": 3}
    (out / "options.json").write_text(json.dumps(options))
    refused([*base, "--epochs", "3", "--resume"], "seed-1", "epochs = 2, not 3")


def test_data_that_changed_since_the_run_began_are_not_mixed_with_it(words, reviews_csv, tmp_path, refused):
    data = tmp_path / "reviews.csv"
    data.write_text(reviews_csv.read_text())
    base = [*without(without(words, "--train"), "--test"), "--train", str(data), "--out", str(tmp_path / "run")]
    base += ["--baseline", "none"]
    assert main(base) == 0
    rows = data.read_text().splitlines()
    swapped = {"positive": "negative", "negative": "positive"}
    start, label = rows[1].rsplit(",", 1)
    data.write_text("\n".join([rows[0], f"{start},{swapped[label]}", *rows[2:]]) + "\n")
    refused([*base, "--resume"], "has changed since the run began")


def test_without_a_test_set_dev_is_what_is_shown(words, tmp_path, capsys):
    assert main([*without(words, "--test"), "--out", str(tmp_path / "run"), "--baseline", "none"]) == 0
    assert " dev " in capsys.readouterr().out


def test_weights_that_are_not_the_models_are_refused_not_drawn_at_random(words, tiny_model, tmp_path, refused):
    from safetensors.torch import load_file, save_file

    folder = model_copy(tiny_model, tmp_path)
    weights = load_file(folder / "model.safetensors")
    renamed = {f"module.backbone.{name}": tensor for name, tensor in weights.items()}
    save_file(renamed, folder / "model.safetensors", {"format": "pt"})
    refused(with_model(words, folder, tmp_path), "its file lacks", "weights of a bert")


def test_a_start_with_a_head_for_the_same_labels_keeps_it_by_name_and_another_head_gives_way(
    run, words, tmp_path, capsys
):
    still = ["--max-steps", "1", "--learning-rate", "1e-9", "--baseline", "none"]
    swapped = tmp_path / "swapped"
    shutil.copytree(run / "model", swapped)
    config = read_json(swapped / "config.json")
    config |= {"label2id": {"positive": 0, "negative": 1}, "id2label": {"0": "positive", "1": "negative"}}
    (swapped / "config.json").write_text(json.dumps(config))
    base = without(without(words, "--model"), "--learning-rate")
    for name, model in (("kept", run / "model"), ("swapped-run", swapped)):
        assert main([*base, *still, "--model", str(model), "--out", str(tmp_path / name)]) == 0
    kept, turned = (scores_of(tmp_path / name) for name in ("kept", "swapped-run"))
    assert turned == [pytest.approx(scores[::-1], abs=1e-5) for scores in kept]
    config |= {"label2id": {"a": 0, "b": 1, "c": 2}, "id2label": {"0": "a", "1": "b", "2": "c"}}
    config["num_labels"] = 3
    (swapped / "config.json").write_text(json.dumps(config))
    capsys.readouterr()
    assert main([*base, *still, "--model", str(swapped), "--out", str(tmp_path / "new-head")]) == 0
    config |= {"label2id": {"a": 0, "b": 1}, "id2label": {"0": "a", "1": "b"}, "num_labels": 2}
    (swapped / "config.json").write_text(json.dumps(config))
    assert main([*base, *still, "--model", str(swapped), "--out", str(tmp_path / "other")]) == 0
    assert "its head for a, b gives way to a new one for negative, positive" in capsys.readouterr().err
    assert scores_of(tmp_path / "other") != kept


def scores_of(folder):
    return [json.loads(line)["scores"] for line in (folder / "predictions/again.jsonl").read_text().splitlines()]


def test_only_one_text_of_a_task_that_has_one_is_refused(words, tmp_path, refused):
    refused([*words, "--only", "premise", "--out", str(tmp_path / "o")], "--only premise", "sentiment have text")
