import json
import os
import socket
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForPreTraining, pipeline

from heldout.cli import main
from heldout.pretrain.model import continued
from heldout.pretrain.report import evaluations
from heldout.train.untrusted import Source


def words(objective, stories_file, tokenizer_folder, out, **changes):
    """A call of heldout pretrain of twelve steps on the stories."""
    options = {
        "objective": objective, "corpus": stories_file, "tokenizer": tokenizer_folder, "preset": "tiny", "out": out,
        "max-length": 32, "batch-size": 16, "max-steps": 12, "eval-every": 4, "save-every": 5, "held-out": 0.4,
        "precision": "fp32", "learning-rate": 2e-3, "sentences": "plain",
    } | changes  # fmt: skip
    given = [(f"--{name}", str(value)) for name, value in options.items() if value is not None]
    return ["pretrain", *(word for pair in given for word in pair)]


@pytest.fixture(scope="module")
def pairs_run(stories_file, tokenizer_folder, tmp_path_factory):
    """A run of mlm-nsp."""
    out = tmp_path_factory.mktemp("pairs") / "run"
    assert main(words("mlm-nsp", stories_file, tokenizer_folder, out, **{"max-steps": 60, "eval-every": 20})) == 0
    return out


def read(path):
    return json.loads(path.read_text())


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_run_leaves_what_a_run_folder_holds(pairs_run):
    assert read(pairs_run / "run.json")["state"] == "done"
    assert read(pairs_run / "card.json")["metrics"] == ["lm_nll", "perplexity", "lm_accuracy", "nsp_accuracy"]
    assert len(lines(pairs_run / "losses.jsonl")) == 60
    ledger = read(pairs_run / "ledger.json")
    parts = {name: split["n"] for name, split in ledger["splits"].items()}
    assert parts == {"train": 36, "dev": 12, "test": 12}
    assert ledger["splits"]["train"]["labels"] == {"tales": 36}
    assert {entry["split"] for entry in ledger["fitted"].values()} == {"train", "dev"}
    scores = read(pairs_run / "scores" / "dev.json")
    assert scores["fitted_on_this"] == ["checkpoint with the minimum of nll"]
    assert read(pairs_run / "scores" / "test.json")["fitted_on_this"] == []


def test_model_and_n_grams_are_scored_at_the_same_positions(pairs_run):
    gold = lines(pairs_run / "gold" / "test.jsonl")
    assert len(gold) > 10
    for folder in (pairs_run, pairs_run / "baselines" / "bigram", pairs_run / "baselines" / "unigram"):
        found = lines(folder / "predictions" / "test.jsonl")
        assert [(row["id"], row["n"]) for row in found] == [(row["id"], row["gold"]["n"]) for row in gold]
        assert set(found[0]) == {"id", "nll", "n", "correct", "next"}
        metrics = read(folder / "scores" / "test.json")["metrics"]
        assert metrics["lm_nll"]["low"] < metrics["lm_nll"]["value"] < metrics["lm_nll"]["high"]
    assert sum(len(row["gold"]["tokens"]) == row["gold"]["n"] for row in gold) == len(gold)


def test_the_model_learns_and_the_best_weights_are_those_that_are_scored(pairs_run):
    curve = evaluations(pairs_run)
    assert [step for step, _ in curve] == [20, 40, 60]
    assert curve[-1][1] < curve[0][1] < 4
    found = read(pairs_run / "scores" / "dev.json")["metrics"]["lm_nll"]["value"]
    assert found == pytest.approx(min(loss for _, loss in curve), abs=1e-4)


def test_the_report_and_the_summary_say_the_same_numbers(pairs_run, capsys):
    from heldout.pretrain.report import summary

    page, said = (pairs_run / "report.html").read_text(), summary(pairs_run)
    value = read(pairs_run / "scores" / "test.json")["metrics"]["lm_nll"]["value"]
    assert f"{value:.3f}" in page and f"{value:.3f}" in said
    assert "<polyline" in page and "http" not in page.replace("http-equiv", "")
    assert "bigram" in said and "domain=tales" not in said.splitlines()[0]


def test_fill_mask_works_on_the_saved_model(pairs_run):
    found = pipeline("fill-mask", model=str(pairs_run / "model"))("ada [MASK] the sea.")
    assert len(found) == 5
    assert all(0 < row["score"] < 1 and row["token_str"] for row in found)


def test_the_saved_model_has_both_heads_and_the_length_it_was_trained_for(pairs_run):
    model, info = AutoModelForPreTraining.from_pretrained(pairs_run / "model", output_loading_info=True)
    assert not info["missing_keys"]
    assert type(model).__name__ == "BertForPreTraining"
    assert read(pairs_run / "model" / "tokenizer_config.json")["model_max_length"] == 32


def test_it_can_be_fine_tuned_and_so_can_its_control(pairs_run, stories_file, tokenizer_folder, reviews_csv, tmp_path):
    control = tmp_path / "control"
    call = words("mlm-nsp", stories_file, tokenizer_folder, control)
    assert main([*call, "--init-only"]) == 0
    assert not (control / "predictions").exists() and not (control / "losses.jsonl").exists()
    first, trained = (load_file(folder / "model" / "model.safetensors") for folder in (control, pairs_run))
    assert first.keys() == trained.keys()
    assert not torch.equal(first["bert.encoder.layer.0.output.dense.weight"], torch.zeros(128, 512))
    for name, folder in (("tuned", pairs_run), ("tuned control", control)):
        tune = ["finetune", "sentiment", "--model", str(folder / "model"), "--train", str(reviews_csv), "--max-length"]
        tune += ["24", "--dev-size", "20", "--epochs", "1", "--precision", "fp32", "--baseline", "none", "--out"]
        assert main([*tune, str(tmp_path / name)]) == 0
        assert read(tmp_path / name / "scores" / "dev.json")["n"] == 20


def test_the_controls_weights_are_those_that_pretraining_starts_from(stories_file, tokenizer_folder, tmp_path):
    call = words("mlm", stories_file, tokenizer_folder, tmp_path / "first")
    assert main([*call, "--init-only"]) == 0
    # A learning rate of next to nothing: what is saved is what it began with.
    still = words("mlm", stories_file, tokenizer_folder, tmp_path / "still", **{"learning-rate": 1e-30})
    assert main(still) == 0
    first, still = (load_file(tmp_path / name / "model" / "model.safetensors") for name in ("first", "still"))
    assert all(torch.allclose(first[name], still[name], atol=1e-7) for name in first)


def test_a_causal_model_is_trained_packed_and_goes_on_from_held_out_text(stories_file, tokenizer_folder, tmp_path):
    out = tmp_path / "run"
    call = words("clm", stories_file, tokenizer_folder, out, lengths="16:0.5,32:0.5", **{"max-length": None})
    assert main([*call, "--pack", "--checkpoint-activations"]) == 0
    made = read(out / "continuations.json")
    assert 0 < len(made) <= 5
    assert all(set(row) == {"id", "prefix", "true", "greedy", "sampled"} for row in made)
    assert made[0]["prefix"].split()[0] in (out / "report.html").read_text()
    assert read(out / "card.json")["metrics"] == ["lm_nll", "perplexity", "lm_accuracy"]
    assert read(out / "model" / "config.json")["use_cache"] is True
    assert {row["tokens"] > 16 * 16 for row in lines(out / "losses.jsonl")} == {False, True}


def test_an_existing_encoder_is_continued_with_a_fresh_tied_head_and_that_is_said(minilm):
    said = []
    model = continued("mlm", Source(str(minilm)), seed=1, attention_dropout=None, say=said.append)
    assert len(said) == 1
    assert "has no head for mlm" in said[0] and "tied to the embeddings" in said[0]
    assert model.cls.predictions.decoder.weight is model.bert.embeddings.word_embeddings.weight
    encoder = load_file(minilm / "model.safetensors")
    name = "encoder.layer.0.output.dense.weight"
    assert torch.equal(model.bert.state_dict()[name], encoder[name])


def test_a_run_continues_an_encoder_with_its_own_tokenizer(stories_file, tiny_model, tmp_path, capsys):
    call = words("mlm", stories_file, None, tmp_path / "run", model=tiny_model, preset=None)
    assert main([*call, "--whole-words"]) == 0
    assert "has no head for mlm" in capsys.readouterr().err


def test_a_killed_run_continues_only_as_it_was_started(pairs_run, stories_file, tokenizer_folder, capsys):
    call = words("mlm-nsp", stories_file, tokenizer_folder, pairs_run, **{"max-steps": 60, "eval-every": 20})
    assert main(call) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert main([*call, "--resume", "--seed", "2"]) == 2
    assert "was started with seed = 1, not 2" in capsys.readouterr().err
    assert main([*call, "--resume", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"run", "bigram", "unigram"}


@pytest.mark.parametrize(
    ("text", "objective", "said"),
    [
        ("Ada saw the sea. Bo left.", "mlm-nsp", "leaves no document for dev of the 1"),
        ("Ada saw the sea.\n\nBo left.\n\nDee saw a film.\n\nFay left a song.", "mlm-nsp", "two sentences or more"),
    ],
)
def test_corpora_without_pairs_are_refused(tokenizer_folder, tmp_path, capsys, text, objective, said):
    # FAULTS P7.
    path = tmp_path / "little.txt"
    path.write_text(text)
    call = words(objective, path, tokenizer_folder, tmp_path / "run", **{"held-out": 0.5})
    assert main(call) == 2
    assert said in capsys.readouterr().err.splitlines()[-1]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.mark.parametrize("objective", ["mlm-nsp", "clm"])
def test_two_processes_take_the_steps_of_one(stories_file, tokenizer_folder, tmp_path, objective):
    still = {"dropout": 0, "max-steps": 5, "batch-size": 7}
    call = words(objective, stories_file, tokenizer_folder, tmp_path / "one", **still)
    assert main(call) == 0
    both = words(objective, stories_file, tokenizer_folder, tmp_path / "two", **still)
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", str(free_port())]
    environment = os.environ | {"ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*launch, "-m", "heldout", *both], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    one, two = (lines(tmp_path / name / "losses.jsonl") for name in ("one", "two"))
    assert [row["tokens"] for row in one] == [row["tokens"] for row in two]
    assert [row["loss"] for row in one] == pytest.approx([row["loss"] for row in two], abs=1e-5)
    assert len(one) == 5
    assert read(tmp_path / "two" / "environment.json")["processes"] == 2
    found = [lines(tmp_path / name / "predictions" / "test.jsonl") for name in ("one", "two")]
    assert [row["id"] for row in found[0]] == [row["id"] for row in found[1]]
    assert [row["nll"] for row in found[0]] == pytest.approx([row["nll"] for row in found[1]], abs=1e-2)
