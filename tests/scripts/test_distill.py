"""heldout distill as a person uses it, on tiny models: every task, every hidden loss, controls, sweep, refusals."""

import json
import random
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from heldout.cli import main
from heldout.ledger import read_ledger
from heldout.records import read_card, read_predictions
from heldout.runs import read_json, write_lines


@pytest.fixture(scope="module")
def common(reviews_csv):
    """What both the teacher and its students are called with."""
    given = [*("--train", str(reviews_csv), "--dev-size", "20", "--limit", "40", "--max-length", "16", "--epochs", "2")]
    return [*given, *("--precision", "fp32", "--learning-rate", "1e-2", "--batch-size", "8")]


@pytest.fixture(scope="module")
def teacher(still, common, tmp_path_factory):
    out = tmp_path_factory.mktemp("teacher") / "run"
    assert main(["finetune", "sentiment", "--model", str(still), *common, "--baseline", "none", "--out", str(out)]) == 0
    return out


def distill(teacher, common, out, *more):
    words = ["distill", "sentiment", "--teacher", str(teacher), *common, "--out", str(out), *more]
    return main([*words, *(() if "--student" in more else ("--layers", "1"))])


@pytest.fixture(scope="module")
def run(teacher, common, tmp_path_factory):
    out = tmp_path_factory.mktemp("distilled") / "run"
    assert distill(teacher, common, out) == 0
    return out


def weights(folder):
    return load_file(folder / "model" / "model.safetensors")


def same(one, other):
    assert one.keys() == other.keys()
    return all(torch.equal(one[name], other[name]) for name in one)


def losses(folder):
    return [json.loads(line)["loss"] for line in (folder / "losses.jsonl").read_text().splitlines()]


def test_the_student_and_its_controls_are_run_folders_on_the_same_splits_and_steps(run):
    folders = [run, run / "controls" / "plain", run / "controls" / "hard"]
    ledgers = [read_ledger(folder) for folder in folders]
    for folder, ledger in zip(folders, ledgers, strict=True):
        assert read_json(folder / "run.json")["state"] == "done"
        assert (folder / "scores" / "dev.json").exists()
        assert ledger.splits == ledgers[0].splits
        assert ledger.plan == ledgers[0].plan
        assert "teacher: weights" in ledger.fitted
        assert read_json(folder / "options.json")["model"] == str(run / "student")
    assert not same(weights(folders[0]), weights(folders[1]))
    assert not same(weights(folders[1]), weights(folders[2]))


def test_which_layers_were_taken_and_how_often_the_teacher_is_right_is_noted(run):
    notes = read_json(run / "distillation.json")
    assert notes["student"]["layers"] == [0]
    assert "layers 0 of 2 (0 the first), the embeddings and its head" in notes["student"]["taken"]
    assert notes["teacher"]["examples"] == 40
    assert 0 <= notes["teacher"]["agreement"] <= 1
    assert len((run / "teacher" / "train.jsonl").read_text().splitlines()) == 40


def test_the_control_without_a_teacher_is_what_finetune_makes_of_the_same_student(run, common, tmp_path):
    words = ["finetune", "sentiment", "--model", str(run / "student"), *common, "--baseline", "none"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    assert losses(tmp_path / "run") == losses(run / "controls" / "plain")
    assert same(weights(tmp_path / "run"), weights(run / "controls" / "plain"))


def test_alpha_one_is_plain_fine_tuning_bit_for_bit(run, teacher, common, tmp_path):
    assert distill(teacher, common, tmp_path / "run", "--alpha", "1", "--no-controls") == 0
    assert losses(tmp_path / "run") == losses(run / "controls" / "plain")
    assert same(weights(tmp_path / "run"), weights(run / "controls" / "plain"))
    assert not (tmp_path / "run" / "controls").exists()


def test_micro_batches_change_nothing_of_the_losses(run, teacher, common, tmp_path):
    # FAULTS D4: a KL that is averaged over micro-batches and summed is as many times too large.
    more = ("--no-controls", "--token-budget", "16")
    assert distill(teacher, common, tmp_path / "run", *more) == 0
    assert losses(tmp_path / "run") == pytest.approx(losses(run), rel=1e-3)
    assert len(losses(run)) == 10


def test_predictions_in_a_file_teach_what_the_run_does(run, teacher, common, tmp_path):
    words = ["distill", "sentiment", "--teacher-predictions", str(run / "teacher" / "train.jsonl"), *common]
    words += ["--student", str(run / "student"), "--no-controls", "--out", str(tmp_path / "run")]
    assert main(words) == 0
    assert losses(tmp_path / "run") == losses(run)


def test_a_file_of_other_ids_or_label_names_is_refused(run, common, tmp_path, refused):
    rows = [json.loads(line) for line in (run / "teacher" / "train.jsonl").read_text().splitlines()]
    words = ["distill", "sentiment", *common, "--student", str(run / "student"), "--out", str(tmp_path / "run")]
    other, named = tmp_path / "other.jsonl", tmp_path / "named.jsonl"
    write_lines(other, [row | {"id": f"x{row['id']}"} for row in rows])
    refused([*words, "--teacher-predictions", str(other)], "no prediction for 40 of the 40", "begin with 'x")
    write_lines(named, [row | {"answer": "sad"} for row in rows])
    refused([*words, "--teacher-predictions", str(named)], "answer 'sad' is not among", "negative")


def test_unlabelled_texts_teach_where_alpha_is_zero_and_are_dropped_elsewhere(
    run, teacher, common, tmp_path, capsys, refused
):
    texts, dev = tmp_path / "texts.csv", common[1]
    lines = Path(dev).read_text().splitlines()
    texts.write_text("\n".join(["id,text", *(line.rpartition(",")[0] for line in lines[1:])]) + "\n")
    words = [word if word != dev else str(texts) for word in common]
    more = ("--alpha", "0", "--dev", dev, "--allow-fitted-test")
    assert distill(teacher, words, tmp_path / "run", *more) == 0
    assert "control plain left out" in capsys.readouterr().err
    ledger = read_ledger(tmp_path / "run")
    assert ledger.splits["train"]["labels"] == {"unlabelled": 40}
    assert not (tmp_path / "run" / "controls" / "plain").exists()
    assert (tmp_path / "run" / "controls" / "hard" / "scores" / "dev.json").exists()
    again = ["distill", "sentiment", "--teacher", str(teacher), *words, "--layers", "1", "--out", str(tmp_path / "no")]
    refused([*again, "--alpha", "0"], "rows without a label", "--dev")
    refused([*again, "--alpha", "0.5"], "no column for label")


def test_a_sweep_is_chosen_on_dev_alone_and_the_ledger_says_so(teacher, common, tmp_path):
    out, sweep = tmp_path / "run", "alpha=0,0.5 temperature=1,4"
    test = ("--test", f"again={common[1]}", "--allow-fitted-test")
    assert distill(teacher, common, out, "--sweep", sweep, "--no-controls", *test) == 0
    notes, ledger = read_json(out / "distillation.json")["sweep"], read_ledger(out)
    assert len(notes["points"]) == 4
    assert {path.name for path in (out / "sweep").iterdir()} == {
        f"alpha={alpha},temperature={temperature}" for alpha in ("0", "0.5") for temperature in ("1", "4")
    }
    assert not list(out.glob("sweep/*/scores/again.json"))
    assert len(list(out.glob("sweep/*/scores/dev.json"))) == 4
    best = max(row["accuracy"] for row in notes["points"])
    assert next(row for row in notes["points"] if row["accuracy"] == best).items() >= notes["chosen"].items()
    assert ledger.fitted["alpha, temperature: the best of 4"]["split"] == "dev"
    chosen = ",".join(f"{name}={value:g}" for name, value in notes["chosen"].items())
    assert losses(out) == losses(out / "sweep" / chosen)
    assert (out / "scores" / "again.json").exists()


@pytest.mark.parametrize("hidden", ["cosine", "minilm", "tinybert"])
def test_hidden_losses_teach_and_what_they_learn_with_is_not_exported(run, teacher, common, tmp_path, hidden):
    out = tmp_path / "run"
    assert distill(teacher, common, out, "--hidden", hidden, "--no-controls") == 0
    assert weights(out).keys() == weights(run).keys()
    assert losses(out) != pytest.approx(losses(run), rel=1e-3)
    stored = read_json(out / "teacher" / "windows" / "key.json")["tensors"]
    assert (
        stored
        == {
            "cosine": ["hidden.1"],
            "minilm": ["key.1", "query.1", "value.1"],
            "tinybert": ["hidden.0", "hidden.1", "key.1", "query.1"],
        }[hidden]
    )
    again = ("--hidden", hidden, "--no-controls", "--teacher-store", str(out / "teacher" / "windows"))
    assert distill(teacher, common, tmp_path / "again", *again) == 0
    assert losses(tmp_path / "again") == losses(out)
    assert not (tmp_path / "again" / "teacher" / "windows").exists()


def test_a_projection_is_trained_and_checkpointed(teacher, common, tiny_model, tmp_path):
    from transformers import BertConfig, BertModel

    narrow = tmp_path / "narrow"
    shutil.copytree(tiny_model, narrow)
    torch.manual_seed(1)
    config = BertConfig.from_pretrained(tiny_model)
    config.hidden_size, config.num_hidden_layers = 16, 1
    BertModel(config).save_pretrained(narrow)
    more = ("--student", str(narrow), "--hidden", "tinybert", "--no-controls")
    assert distill(teacher, common, tmp_path / "run", *more) == 0
    kept = [load_file(path) for path in sorted((tmp_path / "run").glob("checkpoints/*/model.safetensors"))]
    names = {name for name in kept[0] if name.startswith("projections.")}
    assert names == {"projections.hidden_0.weight", "projections.hidden_1.weight"}
    assert not torch.equal(kept[0]["projections.hidden_1.weight"], kept[-1]["projections.hidden_1.weight"])
    assert kept[0]["projections.hidden_1.weight"].shape == (32, 16)
    assert not [name for name in weights(tmp_path / "run") if "projection" in name]


def test_layers_from_before_and_after_the_fine_tuning_are_both_shown(teacher, common, tmp_path):
    out = tmp_path / "run"
    assert distill(teacher, common, out, "--layers-from", "both", "--max-steps", "2") == 0
    assert {path.name for path in (out / "controls").iterdir()} == {"plain", "hard", "pretrained", "pretrained-plain"}
    notes = read_json(out / "distillation.json")
    assert notes["student"]["from"] == str(teacher / "model")
    assert notes["pretrained-student"]["from"] == read_json(teacher / "options.json")["model"]
    assert "a fresh head" in notes["pretrained-student"]["taken"]


def test_a_student_of_fresh_weights_has_the_teachers_tokenizer(teacher, common, tmp_path):
    out = tmp_path / "run"
    words = ["distill", "sentiment", "--teacher", str(teacher), *common, "--preset", "tiny", "--no-controls"]
    assert main([*words, "--max-steps", "1", "--out", str(out)]) == 0
    assert read_json(out / "distillation.json")["student"]["from"] == "preset tiny, fresh"
    ours, theirs = (folder / "tokenizer.json" for folder in (out / "student", teacher / "model"))
    assert read_json(ours)["model"] == read_json(theirs)["model"]


def test_a_run_that_was_stopped_goes_on_and_ends_alike(run, teacher, common, tmp_path, monkeypatch):
    from heldout.train import session

    out, taken = tmp_path / "run", []

    def stops(*given, **named):
        for done in session_train(*given, **named):
            taken.append(done.step)
            if len(taken) == 5:
                raise KeyboardInterrupt
            yield done

    session_train = session.train
    monkeypatch.setattr(session, "train", stops)
    more = ("--save-every", "2")
    assert distill(teacher, common, out, *more) == 1
    monkeypatch.setattr(session, "train", session_train)
    asked = (out / "teacher" / "train.jsonl").stat().st_mtime_ns
    assert distill(teacher, common, out, *more, "--resume") == 0
    assert (out / "teacher" / "train.jsonl").stat().st_mtime_ns == asked
    assert losses(out) == losses(run)
    for folder in ("", "controls/plain", "controls/hard"):
        assert same(weights(out / folder), weights(run / folder))


def test_what_cannot_teach_is_refused(teacher, run, common, tmp_path, refused):
    words = ["distill", "sentiment", *common, "--out", str(tmp_path / "run")]
    student = ["--student", str(run / "student")]
    refused([*words, *student], "--teacher RUN, or --teacher-predictions")
    refused([*words, "--teacher", str(teacher)], "--student MODEL, --layers 3")
    refused([*words, "--teacher", str(teacher.parent), *student], "holds no model/")
    pretrained = shutil.copytree(teacher, tmp_path / "pretrained")
    (pretrained / "options.json").write_text('{"kind": "mlm"}')
    refused([*words, "--teacher", str(pretrained), *student], "names no task; give a run of heldout finetune")
    refused([*words, "--teacher", str(teacher), "--layers", "9"], "the teacher has 2 layers")
    refused([*words, "--teacher", str(teacher), *student, "--sweep", "beta=1"], "--sweep beta=1")
    refused([*words, "--teacher-predictions", "x", "--layers", "1"], "--teacher RUN with it")
    words[1] = "nli"
    refused([*words, "--teacher", str(teacher), *student], "has learned sentiment, not nli")


def test_a_test_that_the_teacher_was_trained_on_is_refused(teacher, common, reviews_csv, tmp_path, refused):
    trained = {json.loads(line)["id"] for line in (teacher / "gold" / "dev.jsonl").read_text().splitlines()}
    rows = reviews_csv.read_text().splitlines()
    dev, rest = tmp_path / "dev.csv", tmp_path / "rest.csv"
    dev.write_text("\n".join([rows[0], *(row for row in rows[1:] if row.partition(",")[0] in trained)]) + "\n")
    rest.write_text("\n".join([rows[0], *(row for row in rows[1:] if row.partition(",")[0] not in trained)]) + "\n")
    words = [word if word != str(reviews_csv) else str(rest) for word in common]
    words = ["distill", "sentiment", "--teacher", str(teacher), *words, "--layers", "1", "--out", str(tmp_path / "run")]
    refused([*words, "--test", f"t={dev}"], "all 20 of its texts stand in the teacher's dev")


def sentences(path, n, seed):
    """Words one a line: after lovely stands a person, after noisy a place."""
    generator, lines = random.Random(seed), []
    for number in range(n):
        kind = generator.choice(["person", "place"])
        named = [
            ("lovely" if kind == "person" else "noisy", "O"),
            (f"scene{number}", f"B-{kind}"),
            ("plot", f"I-{kind}"),
        ]
        lines += [f"{word}\t{tag}" for word, tag in [*named, *[("is", "O")] * generator.randrange(1, 9)]] + [""]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_words_are_taught_by_a_teacher_of_another_tokenizer(still, tmp_path):
    from tokenizers import Tokenizer

    other = tmp_path / "other"
    shutil.copytree(still, other)
    # Without its whole words the student's tokenizer spells what the teacher's knows.
    spelt = json.loads((other / "tokenizer.json").read_text())
    spelt["model"]["vocab"] = {word: i for word, i in spelt["model"]["vocab"].items() if word not in ("lovely", "plot")}
    (other / "tokenizer.json").write_text(json.dumps(spelt))
    assert len(Tokenizer.from_file(str(other / "tokenizer.json")).encode("plot").tokens) > 3
    common = ["--train", sentences(tmp_path / "train.conll", 30, 1), "--dev", sentences(tmp_path / "dev.conll", 8, 2)]
    common += ["--max-length", "16", "--epochs", "1", "--precision", "fp32", "--learning-rate", "1e-2"]
    taught = tmp_path / "teacher"
    assert main(["finetune", "ner", "--model", str(still), *common, "--baseline", "none", "--out", str(taught)]) == 0
    words = ["distill", "ner", "--teacher", str(taught), *common, "--student", str(other), "--out"]
    assert main([*words, str(tmp_path / "run")]) == 0
    assert len(list(tmp_path.glob("run/**/scores/dev.json"))) == 3
    card = read_card(tmp_path / "run" / "card.json")
    assert len(read_predictions(tmp_path / "run" / "teacher" / "train.jsonl", card)) == 30
    words = [*words[:-1], "--alpha", "0", "--no-controls", "--out"]
    bare = tmp_path / "bare.conll"
    bare.write_text((tmp_path / "train.conll").read_text().replace("\tO", "").replace("\tB-person", ""))
    lines = [line.partition("\t")[0] for line in (tmp_path / "train.conll").read_text().splitlines()]
    bare.write_text("\n".join(lines) + "\n")
    words[words.index("--train") + 1] = str(bare)
    assert main([*words, str(tmp_path / "free")]) == 0
    assert read_ledger(tmp_path / "free").splits["train"]["labels"] == {"unlabelled": 30}
    assert all(loss > 0 for loss in losses(tmp_path / "free"))
    assert main([*words, str(tmp_path / "hid"), "--hidden", "cosine"]) == 2


def questions(path, n, seed):
    """Rows of the hub's form: the answer is the one word of praise or blame in the passage; half have none."""
    generator, rows = random.Random(seed), []
    for number in range(n):
        passage = [generator.choice(["film", "plot", "actor", "song"]) for _ in range(generator.randrange(4, 40))]
        word, place = generator.choice(["lovely", "dull"]), generator.randrange(len(passage))
        passage.insert(place, word)
        text = f"{number} {' '.join(passage)}"
        answer = (
            {"text": [word], "answer_start": [text.index(word)]} if number % 2 else {"text": [], "answer_start": []}
        )
        rows.append({"id": f"{path.stem}{number}", "question": "is it", "context": text, "answers": answer})
    write_lines(path, rows)
    return str(path)


def test_spans_are_taught_from_a_store_and_another_tokenizer_is_refused(still, tmp_path, refused):
    common = ["--train", questions(tmp_path / "train.jsonl", 24, 1), "--dev", questions(tmp_path / "dev.jsonl", 8, 2)]
    common += ["--max-length", "24", "--epochs", "1", "--precision", "fp32", "--learning-rate", "1e-2"]
    taught = tmp_path / "teacher"
    assert main(["finetune", "qa", "--model", str(still), *common, "--baseline", "none", "--out", str(taught)]) == 0
    words = ["distill", "qa", "--teacher", str(taught), *common, "--out"]
    out = tmp_path / "run"
    assert main([*words, str(out), "--layers", "1"]) == 0
    assert len(list(out.glob("**/scores/dev.json"))) == 3
    assert read_json(out / "teacher" / "windows" / "key.json")["tensors"] == ["logits"]
    assert (
        main([*words, str(tmp_path / "hidden"), "--layers", "1", "--no-controls", "--alpha", "0", "--hidden", "minilm"])
        == 0
    )
    given = ["--layers", "1", "--teacher-store", str(out / "teacher" / "windows")]
    refused([*words, str(tmp_path / "no"), *given, "--stride", "3"], "another --stride (None, not 3)")
    other = tmp_path / "other"
    shutil.copytree(still, other)
    text = (other / "tokenizer.json").read_text()
    (other / "tokenizer.json").write_text(text.replace('"lowercase": true', '"lowercase": false'))
    refused([*words, str(tmp_path / "no"), "--student", str(other)], "its tokenizer is not the one of")
    file = ["distill", "qa", "--teacher-predictions", str(taught / "predictions" / "dev.jsonl"), *common]
    refused([*file, "--student", str(other), "--out", str(tmp_path / "no")], "give --teacher RUN")


def test_pairs_are_taught_in_distilberts_shape(still, tmp_path):
    generator, rows = random.Random(1), ["premise,hypothesis,label"]
    for number in range(40):
        label = ("entailment", "contradiction")[number % 2]
        end = "is lovely" if number % 2 else "was dull"
        rows.append(f"the film {number} is lovely,the {generator.choice(['plot', 'film'])} {end},{label}")
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(rows) + "\n")
    common = ["--train", str(path), "--dev-size", "8", "--max-length", "24", "--epochs", "1", "--precision", "fp32"]
    taught = tmp_path / "teacher"
    assert main(["finetune", "nli", "--model", str(still), *common, "--baseline", "none", "--out", str(taught)]) == 0
    words = ["distill", "nli", "--teacher", str(taught), *common, "--layers", "1", "--shape", "distilbert"]
    assert main([*words, "--out", str(tmp_path / "run")]) == 0
    assert read_json(tmp_path / "run" / "model" / "config.json")["model_type"] == "distilbert"
    assert len(list(tmp_path.glob("run/**/scores/dev.json"))) == 3
