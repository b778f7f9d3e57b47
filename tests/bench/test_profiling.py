"""Where time goes: kinds of operations, their shares, and the command on a training and on a run's answers."""

import pytest
from transformers import AutoModelForSequenceClassification

from heldout.bench.flops import TRAINING, done
from heldout.bench.profiling import OTHER, OUTSIDE, PRODUCTS, bench_profile, kind_of
from heldout.bench.result import read
from heldout.cli import main
from heldout.options import parse
from heldout.scripts.bench import Options


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("mkldnn::_linear_pointwise", "matrix products"),
        ("aten::addmm", "matrix products"),
        ("aten::mm", "matrix products"),
        ("aten::bmm", "matrix products of the attention"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", "matrix products of the attention"),
        ("mkldnn::_reorder_linear_weight", "laying matrices out"),
        ("aten::_softmax_backward_data", "softmax"),
        ("aten::gelu_backward", "GELU"),
        ("aten::native_layer_norm_backward", "norms"),
        ("aten::linalg_vector_norm", "clipping and optimizer"),
        ("aten::_fused_adamw_", "clipping and optimizer"),
        ("aten::random_", "dropout"),
        ("aten::bitwise_or_", "dropout"),
        ("aten::copy_", "casts and copies"),
        ("aten::add_", "sums and products"),
        ("aten::embedding_dense_backward", "embeddings"),
        ("aten::tanh", OTHER),
    ],
)
def test_operations_are_told_apart_by_their_names(name, kind):
    assert kind_of(name) == kind


def shares(figures):
    return {name.removeprefix("share of "): value for name, value in figures.items() if name.startswith("share of ")}


def test_steps_of_a_training_are_profiled(reviews_csv, tiny_model, tmp_path, capsys):
    kept = tmp_path / "kept.json"
    words = ["--task", "sentiment", "--train", str(reviews_csv), "--model", str(tiny_model), "--max-length", "24"]
    words += ["--batch-size", "8", "--steps", "3", "--precision", "fp32", "--keep", str(kept)]
    assert main(["bench", "profile", *words]) == 0
    (entry,) = read(kept)
    assert entry["arguments"]["times"] == 3 and entry["arguments"]["batch_size"] == 8
    found = shares(entry["figures"])
    # Dropout, the gradient and the optimizer are of a training alone; together all shares are the whole time.
    assert {"matrix products", "GELU", "clipping and optimizer", OUTSIDE} <= set(found)
    assert sum(found.values()) == pytest.approx(1, abs=0.02)
    assert 0 < entry["figures"]["step of the peak"] < entry["figures"]["products of the peak"]
    assert "aten::gelu_backward" in entry["details"]["operations"]
    out = capsys.readouterr().out
    assert "ms of a step of 8 rows" in out and "Matrix products run at" in out


def test_a_run_s_answers_are_profiled(reviews_csv, tiny_model, tmp_path, capsys):
    run = tmp_path / "run"
    words = ["finetune", "sentiment", "--model", str(tiny_model), "--train", str(reviews_csv), "--out", str(run)]
    assert main([*words, "--max-length", "24", "--epochs", "1", "--baseline", "none", "--precision", "fp32"]) == 0
    words = ["--model", str(run), "--data", str(reviews_csv), "--examples", "20", "--steps", "2"]
    assert main(["bench", "profile", *words, "--precision", "fp32", "--json", str(tmp_path / "p.json")]) == 0
    (entry,) = read(tmp_path / "p.json")
    assert entry["arguments"]["what"] == "answers to 20 examples"
    assert "clipping and optimizer" not in shares(entry["figures"])
    assert not any("backward" in name for name in entry["details"]["operations"])
    assert "ms of answers to 20 examples" in capsys.readouterr().out


def test_operations_are_counted_of_the_steps_that_are_profiled_and_of_the_first_token_alone(reviews_csv, tiny_model):
    words = ["profile", "--task", "sentiment", "--train", str(reviews_csv), "--model", str(tiny_model)]
    words += ["--max-length", "24", "--batch-size", "8", "--precision", "fp32", "--steps"]
    asked = parse(Options, [*words, "20"], prog="", description="")
    (result,) = bench_profile(asked, say=lambda message: None)
    # 86 reviews less those of dev are some 9 steps, so 20 steps are more than two passes.
    model = AutoModelForSequenceClassification.from_pretrained(tiny_model)
    longest = [24] * 8
    assert 0.3 < result.figures["GFLOP"] * 1e9 / (TRAINING * done(model).forward(longest)) < 1
    products = sum(spent for name, spent in result.details["operations"].items() if kind_of(name) in PRODUCTS)
    assert result.figures["share of matrix products"] <= products / (result.figures["milliseconds"] * 20 / 1000)


def test_a_profile_of_nothing_is_refused(capsys):
    assert main(["bench", "profile"]) == 2
    assert "heldout bench profile needs --task, --train and --model, or --data" in capsys.readouterr().err
