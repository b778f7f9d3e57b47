"""Pruning against a computation by hand: which neurons, layers and weights stay, and that transformers loads it."""

import math

import pytest
import torch
from transformers import AutoModelForSequenceClassification, BertConfig, BertModel, DistilBertConfig, DistilBertModel

from heldout.cli import main
from heldout.compress.magnitude import kept_at_zero, matrices, prune, share_of_round
from heldout.compress.structured import best, drop_layers, narrow_ffn, parse_structured
from heldout.errors import Refused
from heldout.runs import read_json
from heldout.train.finetune import Setup


def small(kind="bert", **more):
    torch.manual_seed(0)
    if kind == "distilbert":
        return DistilBertModel(
            DistilBertConfig(vocab_size=20, dim=8, n_layers=2, n_heads=2, hidden_dim=12, max_position_embeddings=16)
        ).eval()
    settings = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 12} | more
    return BertModel(BertConfig(vocab_size=20, max_position_embeddings=16, **settings)).eval()


def test_neurons_stay_by_what_comes_in_times_what_goes_out():
    up, down = torch.nn.Linear(2, 3), torch.nn.Linear(3, 2)
    with torch.no_grad():
        up.weight.copy_(torch.tensor([[3.0, 0.0], [1.0, 0.0], [0.0, 2.0]]))
        up.bias.copy_(torch.tensor([4.0, 0.0, 0.0]))
        down.weight.copy_(torch.tensor([[1.0, 6.0, 3.0], [0.0, 8.0, 4.0]]))
    # Worth by hand: 5·1, 1·10, 2·5.
    assert best(up, down, 2).tolist() == [1, 2]
    with torch.no_grad():
        up.bias[0] = 40.0
    assert best(up, down, 1).tolist() == [0]


@pytest.mark.parametrize(("kind", "name"), [("bert", "intermediate_size"), ("distilbert", "hidden_dim")])
def test_a_narrower_ffn_computes_what_the_kept_neurons_computed(kind, name):
    model = small(kind)
    whole = model.state_dict()
    whole = {key: value.clone() for key, value in whole.items()}
    up, down = ("intermediate.dense", "output.dense") if kind == "bert" else ("ffn.lin1", "ffn.lin2")
    layers = [key.removesuffix(f"{up}.weight") for key in whole if key.endswith(f"{up}.weight")]
    assert len(layers) == model.config.num_hidden_layers
    assert narrow_ffn(model, 0.5) == 6
    assert getattr(model.config, name) == 6
    found = model.state_dict()
    # By hand: the others' weights set to 0 in the wide model give the very same outputs.
    for layer in layers:
        into = torch.cat([whole[f"{layer}{up}.weight"], whole[f"{layer}{up}.bias"][:, None]], 1)
        worth = [
            math.sqrt(sum(x * x for x in into[i].tolist()))
            * math.sqrt(sum(x * x for x in whole[f"{layer}{down}.weight"][:, i].tolist()))
            for i in range(12)
        ]
        kept = sorted(sorted(range(12), key=lambda i: -worth[i])[:6])
        assert torch.equal(found[f"{layer}{up}.weight"], whole[f"{layer}{up}.weight"][kept])
        assert torch.equal(found[f"{layer}{up}.bias"], whole[f"{layer}{up}.bias"][kept])
        assert torch.equal(found[f"{layer}{down}.weight"], whole[f"{layer}{down}.weight"][:, kept])
        assert torch.equal(found[f"{layer}{down}.bias"], whole[f"{layer}{down}.bias"])
        gone = [i for i in range(12) if i not in kept]
        whole[f"{layer}{down}.weight"][:, gone] = 0
    wide = small(kind)
    wide.load_state_dict(whole)
    ids = torch.arange(10).view(2, 5)
    with torch.no_grad():
        ours, theirs = (one(input_ids=ids).last_hidden_state for one in (model, wide))
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_an_ffn_that_cannot_be_told_from_the_attention_is_refused():
    with pytest.raises(Refused, match="no FFN of two matrices"):
        narrow_ffn(small(intermediate_size=8), 0.5)
    for value in ("ffn", "ffn=2", "heads=0.5", "ffn=0"):
        with pytest.raises(Refused, match="write ffn=SHARE"):
            parse_structured(value)


def test_layers_are_dropped_by_their_places():
    model = small()
    fewer, stay = drop_layers(model, "1")
    assert stay == [0, 2]
    assert fewer.config.num_hidden_layers == 2
    second = "encoder.layer.{}.output.dense.weight"
    assert torch.equal(fewer.state_dict()[second.format(1)], model.state_dict()[second.format(2)])
    for wanted in ("3", "0,1,2", "-1"):
        with pytest.raises(Refused, match="leave one at least"):
            drop_layers(model, wanted)
    with pytest.raises(Refused, match="give places"):
        drop_layers(model, "second")


@pytest.mark.parametrize("by", ["global", "layer"])
def test_the_smallest_weights_become_zero_and_nothing_else_moves(by):
    model = small()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    names = [name for name, one in model.named_modules() if ".layer." in name and isinstance(one, torch.nn.Linear)]
    assert len(names) == len(matrices(model)) == 18
    found = prune(model, 0.3, by)
    after = model.state_dict()
    assert found["prunable"] == sum(before[f"{name}.weight"].numel() for name in names) == 3 * (4 * 64 + 2 * 96)
    groups = [names] if by == "global" else [[name] for name in names]
    for group in groups:
        old = torch.cat([before[f"{name}.weight"].flatten() for name in group])
        new = torch.cat([after[f"{name}.weight"].flatten() for name in group])
        gone = round(0.3 * len(old))
        assert int((new == 0).sum()) == gone
        assert set(old[new == 0].abs().tolist()) == set(sorted(old.abs().tolist())[:gone])
        assert torch.equal(new[new != 0], old[new != 0])
    others = [key for key in before if key.removesuffix(".weight") not in names]
    assert len(others) > 20
    assert all(torch.equal(before[key], after[key]) for key in others)


def test_zeros_stay_zero_while_the_rest_learns():
    model = small()
    prune(model, 0.5, "global")
    zero = [weight == 0 for weight in matrices(model)]
    before = [weight.detach().clone() for weight in matrices(model)]
    setup = kept_at_zero(Setup(model, None, None, None, None))
    optimizer = torch.optim.AdamW(setup.model.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        model(input_ids=torch.arange(10).view(2, 5)).last_hidden_state.square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    for weight, gone, old in zip(matrices(model), zero, before, strict=True):
        assert bool((weight[gone] == 0).all())
        assert not torch.equal(weight[~gone], old[~gone])


def test_rounds_end_at_the_share_that_was_asked_for():
    assert share_of_round(0.6, 3, 3) == pytest.approx(0.6)
    assert share_of_round(0.6, 1, 1) == pytest.approx(0.6)


def test_a_narrow_run_loads_in_plain_transformers(make_run, tmp_path):
    run, out = make_run("ner"), tmp_path / "run"
    assert main(["compress", str(run), "--structured", "ffn=0.25", "--drop-layers", "1", "--out", str(out)]) == 0
    config = read_json(out / "model" / "config.json")
    assert (config["num_hidden_layers"], config["intermediate_size"]) == (1, 16)
    notes = read_json(out / "compression.json")
    assert notes["what"] == "layers 0, FFN of 16"
    assert notes["parameters"] < notes["before"]
    from transformers import AutoModel

    model, info = AutoModel.from_pretrained(out / "model", output_loading_info=True)
    assert not [key for key in info["missing_keys"] if "pooler" not in key]
    assert model.encoder.layer[0].intermediate.dense.out_features == 16
    assert (out / "scores" / "t.json").exists()
    assert main(["predict", str(out), "--data", f"again={run / 'gold' / 'no.jsonl'}"]) == 2


@pytest.fixture(scope="module")
def trained(tiny_model, reviews_csv, tmp_path_factory):
    """A run of heldout finetune."""
    out = tmp_path_factory.mktemp("trained") / "run"
    words = ["finetune", "sentiment", "--model", str(tiny_model), "--train", str(reviews_csv), "--dev-size", "20"]
    words += ["--limit", "40", "--max-length", "16", "--epochs", "1", "--precision", "fp32", "--learning-rate", "1e-2"]
    assert main([*words, "--baseline", "none", "--out", str(out)]) == 0
    return out


def test_a_pruned_run_is_trained_on_in_rounds_and_stays_sparse(trained, tmp_path):
    out = tmp_path / "run"
    words = ["compress", str(trained), "--prune", "0.5", "--retrain", "1", "--rounds", "2", "--out", str(out)]
    assert main(words) == 0
    shares = {}
    for name, folder in (("1", out / "rounds" / "1"), ("2", out)):
        start = AutoModelForSequenceClassification.from_pretrained(folder / "start")
        end = AutoModelForSequenceClassification.from_pretrained(folder / "model")
        pairs = list(zip(matrices(start), matrices(end), strict=True))
        assert all(bool((b[a == 0] == 0).all()) for a, b in pairs)
        assert not all(torch.equal(a, b) for a, b in pairs)
        shares[name] = sum(int((b == 0).sum()) for _, b in pairs) / sum(b.numel() for _, b in pairs)
    assert shares == pytest.approx({"1": 0.4375, "2": 0.5}, abs=1e-3)
    assert read_json(out / "compression.json")["nonzero"] < read_json(out / "compression.json")["parameters"]
    ours, theirs = (read_json(folder / "ledger.json")["splits"] for folder in (out, trained))
    assert ours["train"] == theirs["train"]
    assert (out / "scores" / "dev.json").exists()


def test_training_on_refuses_data_that_are_not_the_runs(trained, reviews_csv, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text(reviews_csv.read_text().replace("dull", "bleak"))
    words = ["compress", str(trained), "--drop-layers", "1", "--retrain", "1", "--out", str(tmp_path / "run")]
    assert main([*words, "--train", str(other)]) == 2
    assert "is not the one that" in capsys.readouterr().err


def test_a_call_that_asks_for_nothing_or_too_much_is_refused(sentiment_run, tmp_path, capsys):
    words = ["compress", str(sentiment_run), "--out", str(tmp_path / "run")]
    cases = {
        (): "nothing was asked for",
        ("--onnx", "--int8"): "one product a call",
        ("--onnx", "--scan"): "--scan: goes with --int8",
        ("--onnx", "--retrain", "1"): "--retrain: goes with",
        ("--prune", "0.5", "--rounds", "2"): "--rounds: goes with",
        ("--prune", "1.5"): "give a share between 0 and 1",
        ("--int8", "--check", "0"): "--check 0: give 1 or more",
    }
    for more, said in cases.items():
        assert main([*words, *more]) == 2
        assert said in capsys.readouterr().err
    assert main(["compress", str(tmp_path), "--onnx", "--out", str(tmp_path / "run")]) == 2
    assert "holds no model/" in capsys.readouterr().err
