"""heldout pretrain --teacher: DistilBERT's loss by its definition, the teacher untouched, the command on a tiny one."""

import json

import pytest
import torch
import torch.nn.functional as F
from transformers import BertConfig, BertForMaskedLM

from heldout.cli import main
from heldout.pretrain.options import PretrainOptions
from heldout.pretrain.teacher import Both, Taught, loss_of

SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 40}


def model(seed, **changes):
    torch.manual_seed(seed)
    return BertForMaskedLM(BertConfig(**SMALL | changes, initializer_range=0.3))


@pytest.fixture
def batch():
    ids = torch.tensor([[2, 4, 9, 10, 3], [2, 11, 4, 3, 0]])
    return {"input_ids": ids, "attention_mask": (ids > 0).long()}


def test_it_is_five_times_the_divergence_two_the_masked_tokens_and_one_the_cosine(batch):
    student, teacher = model(1, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0), model(2)
    taught = Taught(student, teacher, pad_id=0).train()
    selected, tokens = torch.tensor([1, 7]), torch.tensor([12, 13])
    targets = {"tokens": tokens, "row": torch.tensor([0, 1]), "share": torch.ones(2)}
    both = taught(selected, **batch)
    loss = loss_of(PretrainOptions(corpus=("c",), teacher="t"))(both, targets, torch.ones(2))
    mine, theirs = (m.eval()(**batch, output_hidden_states=True) for m in (student, teacher))
    log, wanted = ((m.logits.flatten(0, 1)[selected] / 2).log_softmax(-1) for m in (mine, theirs))
    divergence = 4 * (wanted.exp() * (wanted - log)).sum()
    masked = F.cross_entropy(mine.logits.flatten(0, 1)[selected], tokens, reduction="sum")
    apart = 1 - F.cosine_similarity(mine.hidden_states[-1], theirs.hidden_states[-1], dim=-1)
    cosine = apart[0].mean() + apart[1, :4].mean()
    assert loss.item() == pytest.approx((5 * divergence + 2 * masked + cosine).item(), rel=1e-4)


def test_the_teacher_stays_in_evaluation_mode_without_gradients_and_is_not_saved(batch):
    # FAULTS D2: dropout is 0.1 in both, so two passes in training mode differ.
    taught = Taught(model(1), model(2), pad_id=0).train()
    selected = torch.tensor([1, 7])
    first, second = (Both(*taught(selected, **batch)) for _ in range(2))
    assert taught.student.model.training
    assert torch.equal(first.logits, second.logits)
    assert not torch.equal(first.states, second.states)
    assert not first.logits.requires_grad
    assert first.states.requires_grad
    assert {name.split(".")[0] for name in taught.state_dict()} == {"student"}
    assert len(list(taught.parameters())) == len(list(taught.student.parameters()))


def words(stories_file, out, *more):
    given = ["pretrain", "--corpus", str(stories_file), "--out", str(out), "--max-length", "32", "--batch-size", "16"]
    given += ["--precision", "fp32", "--learning-rate", "2e-3", "--held-out", "0.4", "--save-every", "5"]
    return [*given, "--eval-every", "4", *more]


@pytest.fixture(scope="module")
def teacher(stories_file, tokenizer_folder, tmp_path_factory):
    out = tmp_path_factory.mktemp("teacher") / "run"
    more = ("--preset", "tiny", "--tokenizer", str(tokenizer_folder), "--max-steps", "8")
    assert main(words(stories_file, out, *more)) == 0
    return out / "model"


def test_a_student_of_half_the_layers_is_made_by_the_command(stories_file, teacher, tmp_path, capsys):
    out = tmp_path / "run"
    assert main(words(stories_file, out, "--teacher", str(teacher), "--layers", "1", "--max-steps", "8")) == 0
    assert "begins with layers 0 of" in capsys.readouterr().err
    assert json.loads((out / "model" / "config.json").read_text())["num_hidden_layers"] == 1
    assert json.loads((out / "run.json").read_text())["state"] == "done"
    assert (out / "scores" / "test.json").exists()
    assert len((out / "losses.jsonl").read_text().splitlines()) == 8
    half = tmp_path / "half"
    budget = ("--token-budget", "64")
    assert main(words(stories_file, half, "--teacher", str(teacher), "--layers", "1", "--max-steps", "1", *budget)) == 0
    one, other = (json.loads((run / "losses.jsonl").read_text().splitlines()[0]) for run in (out, half))
    # Dropout differs between the cuts, so the losses are near, not equal.
    assert one["loss"] == pytest.approx(other["loss"], rel=0.2)


def test_pairs_that_cannot_be_compared_are_refused(stories_file, teacher, tiny_model, tmp_path, capsys):
    cases = {
        "its tokenizer is not the student's": ("--teacher", str(teacher), "--model", str(tiny_model)),
        "use --objective mlm": ("--teacher", str(teacher), "--layers", "1", "--objective", "mlm-nsp"),
        "takes those of --teacher": ("--layers", "1", "--preset", "tiny"),
        "give three numbers": ("--teacher", str(teacher), "--layers", "1", "--teacher-weights", "5,2"),
        "lacks": ("--teacher", str(tiny_model), "--layers", "1"),
        "give --teacher-weights 5,2,0": ("--teacher", str(teacher), "--preset", "mini"),
    }
    for said, more in cases.items():
        assert main(words(stories_file, tmp_path / "no", *more)) == 2, said
        assert said in capsys.readouterr().err
    assert len(cases) == 6
