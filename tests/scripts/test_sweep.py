"""heldout sweep as a person uses it, on a tiny model: killed, shared by processes, its best recipe run, refusals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heldout.cli import main
from heldout.ledger import read_ledger
from heldout.options import parse
from heldout.runs import read_json
from heldout.scripts.sweep import VARIED, Options
from heldout.sweep.recipe import recipe as written
from heldout.sweep.space import parse_space

ROOT = Path(__file__).parent.parent.parent

SPACE = ("--space", "learning-rate=1e-4:3e-2:log", "--space", "batch-size=8,16")


@pytest.fixture(scope="module")
def recipe(tiny_model, reviews_csv, tmp_path_factory):
    """A recipe whose test set is not there, with a label and a column meant for it alone."""
    lines = ['task = "sentiment"', f'model = "{tiny_model}"', f'train = "{reviews_csv}"', "dev-size = 20"]
    lines += [
        'test = ["yelp=gone.csv"]',
        'label = ["yelp:good=positive", "1=positive"]',
        'column = ["yelp:text=review"]',
    ]
    lines += ["max-length = 24", "epochs = 2", 'precision = "fp32"', 'baseline = "none"']
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def sweep(recipe, out, *more, trials=3):
    return ["sweep", "--config", str(recipe), *SPACE, "--trials", str(trials), "--out", str(out), *more]


@pytest.fixture(scope="module")
def whole(recipe, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "sweep"
    assert main(sweep(recipe, out)) == 0
    return out


def trials(out):
    return read_json(out / "sweep.json")["trials"]


def losses(run):
    return [json.loads(line)["loss"] for line in (run / "losses.jsonl").read_text().splitlines()]


def test_every_trial_is_a_run_folder_on_train_and_dev_alone(whole):
    kept = read_json(whole / "sweep.json")
    assert len(kept["trials"]) == 3
    ledgers = []
    for row in kept["trials"]:
        run = whole / row["trial"]
        options = read_json(run / "options.json")
        assert read_json(run / "run.json")["state"] == "done"
        assert {name: options[name] for name in row["values"]} == row["values"]
        assert row["value"] == read_json(run / "scores" / "dev.json")["metrics"]["accuracy"]["value"]
        assert len(row["evaluations"]) == 2
        assert row["evaluations"][-1][0] == 2 * 76
        assert [path.name for path in (run / "predictions").iterdir()] == ["dev.jsonl"]
        assert not (run / "checkpoints").exists()
        ledgers.append(read_ledger(run))
        assert set(ledgers[-1].splits) == {"train", "dev"}
        assert ledgers[-1].fitted["search over learning-rate + batch-size"]["n"] == 20
    assert all(ledger.splits == ledgers[0].splits for ledger in ledgers)
    assert kept["splits"]["dev"]["hash"] == ledgers[0].splits["dev"]["hash"]


def test_the_best_is_the_highest_on_dev_and_its_ledger_says_of_how_many(whole):
    kept = read_json(whole / "sweep.json")
    assert kept["best"]["value"] == max(row["value"] for row in kept["trials"])
    assert 0.05 < kept["best"]["standard_error"] < 0.15
    noted = {row["trial"]: read_ledger(whole / row["trial"]).fitted for row in kept["trials"]}
    thing = "best of 3 trials over learning-rate + batch-size"
    assert [trial for trial, fitted in noted.items() if thing in fitted] == [kept["best"]["trial"]]


def test_the_best_recipe_runs_as_the_trial_did_reads_the_tests_and_says_what_was_chosen(whole, reviews_csv, tmp_path):
    text = (whole / "best.toml").read_text()
    assert "yelp=gone.csv" in text
    recipe = tmp_path / "best.toml"
    recipe.write_text(text.replace("gone.csv", str(tmp_path / "yelp.csv")))
    (tmp_path / "yelp.csv").write_text("review,label\na lovely film,good\nthe plot was dull,negative\n")
    # The label that nothing here has is refused by finetune: it was not ours to judge.
    recipe.write_text(recipe.read_text().replace(', "1=positive"', ""))
    assert main(["finetune", "--config", str(recipe), "--out", str(tmp_path / "run")]) == 0
    best = whole / read_json(whole / "sweep.json")["best"]["trial"]
    assert losses(tmp_path / "run") == losses(best)
    answers = [(run / "predictions" / "dev.jsonl").read_bytes() for run in (tmp_path / "run", best)]
    assert answers[0] == answers[1]
    assert read_json(tmp_path / "run" / "scores" / "yelp.json")["n"] == 2
    ledger = read_ledger(tmp_path / "run")
    assert (
        ledger.fitted["best of 3 trials over learning-rate + batch-size"]["hash"]
        == (read_ledger(best).splits["dev"]["hash"])
    )


def test_the_same_command_makes_nothing_anew_and_more_trials_add_to_it(recipe, whole, capsys):
    before = {path: path.stat().st_mtime_ns for path in whole.glob("trial-*/model/*")}
    old = trials(whole)
    # As if its process had been killed after it had told the search.
    left = whole / "trial-001" / "checkpoints" / "step-4"
    left.mkdir(parents=True)
    assert main(sweep(recipe, whole, trials=4)) == 0
    assert not left.parent.exists()
    said = capsys.readouterr().out
    assert "4 of 4 trials: 4 done" in said
    assert "optimistic" in said
    assert trials(whole)[:3] == old
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(before) >= 9
    fitted = [read_ledger(run).fitted for run in whole.glob("trial-*")]
    assert sum("best of 4 trials over learning-rate + batch-size" in things for things in fitted) == 1


def child(words, log):
    with log.open("ab") as to:
        return subprocess.Popen([sys.executable, "-m", "heldout", *words], stdout=to, stderr=to, env=os.environ)


def wait_until(condition, process, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "ended before it could be met"
        assert time.monotonic() < end
        time.sleep(0.002)


def checkpoints(out, trial="trial-*"):
    return [path for path in out.glob(f"{trial}/checkpoints/step-*") if path.exists()]


def in_training(out, process):
    """Whether the process is at a trial that has a checkpoint and is not through."""
    for state in out.glob("trial-*/run.json"):
        kept = read_json(state)
        if kept["pid"] == process.pid and kept["state"] == "running":
            return checkpoints(out, state.parent.name)
    return []


LONG = ("--epochs", "4", "--save-every", "2", "--eval-every", "10")


def test_killed_in_the_middle_of_a_trial_it_ends_as_if_nothing_had_been(recipe, tmp_path):
    out, log = tmp_path / "sweep", tmp_path / "log"
    words = sweep(recipe, out, *LONG, trials=2)
    with child(words, log) as process:
        wait_until(lambda: checkpoints(out, "trial-001"), process)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    done = trials(out)
    assert [row["state"] for row in done] == ["done"] or [row["state"] for row in done] == ["running"]
    assert read_json(out / "trial-001" / "run.json")["state"] == "running"
    assert main(words) == 0
    assert main(sweep(recipe, tmp_path / "unbroken", *LONG, trials=2)) == 0
    assert [row["state"] for row in trials(out)] == ["done", "done"]
    told = [{key: row[key] for key in row if key != "seconds"} for row in trials(out)]
    assert told == [{key: row[key] for key in row if key != "seconds"} for row in trials(tmp_path / "unbroken")]
    for trial in ("trial-000", "trial-001"):
        assert losses(out / trial) == losses(tmp_path / "unbroken" / trial)
        assert len(losses(out / trial)) >= 20


def test_two_processes_share_the_trials_and_one_that_is_stopped_leaves_its_own_to_the_other(recipe, tmp_path):
    out, logs = tmp_path / "sweep", [tmp_path / "log-1", tmp_path / "log-2"]
    words = sweep(recipe, out, *LONG, trials=3)
    with child(words, logs[0]) as one:
        wait_until(lambda: checkpoints(out, "trial-000"), one)
        with child(words, logs[1]) as two:
            wait_until(lambda: in_training(out, one), one)
            one.send_signal(signal.SIGTERM)
            assert one.wait(120) == 1
            assert two.wait(240) == 0
    last = logs[0].read_text().splitlines()[-1]
    assert last.startswith("heldout: stopped")
    assert "continue with" in last
    rows = trials(out)
    assert [row["state"] for row in rows] == ["done"] * 3
    begun = [[word for word in log.read_text().split() if word in {row["trial"] for row in rows}] for log in logs]
    left = [trial for trial in begun[0] if trial in begun[1]]
    # What the first was at when it was stopped, and nothing else, was taken up by the second, from its checkpoint.
    assert len(left) == 1
    assert "resuming after step" in logs[1].read_text()
    assert {*begun[0], *begun[1]} == {row["trial"] for row in rows}


def test_a_trial_that_diverges_is_told_as_failed_and_the_search_goes_on(recipe, tmp_path, capsys):
    out = tmp_path / "sweep"
    words = ["sweep", "--config", str(recipe), "--space", "learning-rate=1e-3,1e38", "--trials", "5", "--out", str(out)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert [row["state"] for row in trials(out)] == ["done", "failed"]
    assert "lower --learning-rate" in trials(out)[1]["why"]
    assert "the space holds 2 points" in said
    assert read_json(out / "trial-001" / "run.json")["state"] == "failed"


def test_the_pruner_gives_up_a_trial_early_and_seeds_are_runs_of_a_trial(recipe, tmp_path, monkeypatch):
    # optuna prunes after five trials are through; the sixth is made the worst by hand.
    out = tmp_path / "sweep"
    space = ("--space", "learning-rate=1e-3,2e-3,3e-3,4e-3,5e-3,1e-9")
    more = ("--trials", "6", "--pruner", "median", "--eval-every", "5", "--seeds", "1,2", "--max-steps", "10")
    values = iter([*([0.5, 0.6, 0.5, 0.6] * 5), 0.4])
    monkeypatch.setattr("heldout.train.finetune.value_of", lambda *_: next(values))
    assert main(["sweep", "--config", str(recipe), *space, *more, "--out", str(out)]) == 0
    rows = trials(out)
    assert [row["state"] for row in rows] == ["done"] * 5 + ["pruned"]
    assert next(values, None) is None
    assert "below the median" in rows[5]["why"]
    for row in rows[:5]:
        runs = [out / row["trial"] / f"seed-{seed}" for seed in (1, 2)]
        scored = [read_json(run / "scores" / "dev.json")["metrics"]["accuracy"]["value"] for run in runs]
        assert row["by_seed"] == scored
        assert row["value"] == pytest.approx(sum(scored) / 2)
        assert row["evaluations"] == [[76, 0.5], [152, 0.6]]
        assert losses(runs[0]) != losses(runs[1])
    assert len(losses(out / "trial-005" / "seed-1")) == 5
    assert read_json(out / "sweep.json")["best"]["deviation_between_seeds"] is not None


@pytest.mark.parametrize(
    ("more", "parts"),
    [
        (("--space", "warm=0:1"), ("warm is not an option", "did you mean warmup?")),
        (("--space", "warmup=0:2"), ("--warmup 2.0: give a share from 0 to 1",)),
        (("--space", "max-length=16,100"), ("--max-length 100", "64 positions")),
        (("--space", "model=nowhere-at-all,tiny"), ("nowhere-at-all",)),
        (("--trials", "0"), ("--trials 0: give 1 or more",)),
        (("--seeds", "1,1"), ("every seed once",)),
        (("--pruner", "median", "--epochs", "1"), ("add --eval-every",)),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_made(recipe, tmp_path, more, parts, refused):
    refused(sweep(recipe, tmp_path / "sweep", *more), *parts)
    assert not (tmp_path / "sweep").exists()


def test_another_space_other_data_a_run_s_folder_and_accelerate_are_refused(
    recipe, whole, tmp_path, monkeypatch, refused
):
    refused(sweep(recipe, whole, "--space", "warmup=0:0.2"), "was started with space")
    changed = tmp_path / "changed.toml"
    train = Path(recipe.read_text().split('train = "')[1].split('"')[0])
    text, rows = recipe.read_text(), train.read_text().splitlines()
    changed.write_text(text)
    kept = train.read_text()
    train.write_text("\n".join(rows[:80]) + "\n")
    try:
        refused(sweep(changed, whole), "has changed since the sweep began")
    finally:
        train.write_text(kept)
    refused(sweep(recipe, whole / "trial-000"), "holds a run")
    monkeypatch.setenv("WORLD_SIZE", "2")
    refused(sweep(recipe, tmp_path / "sweep"), "one process a trial")


def test_a_trial_that_ends_again_and_again_with_nothing_made_fails_and_then_there_is_no_best(
    recipe, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("heldout.scripts._trials.LIVES", 0)
    assert main(sweep(recipe, tmp_path / "sweep", trials=2)) == 1
    assert [row["state"] for row in trials(tmp_path / "sweep")] == ["failed", "failed"]
    assert not (tmp_path / "sweep" / "best.toml").exists()
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("heldout: no trial came through; trial-001: ended 0 times with nothing new made")


RECIPES = [
    path
    for path in sorted((ROOT / "recipes").glob("*.toml"))
    if "\ntrain = " in path.read_text() and not path.stem.startswith("distill-")
]


def test_there_are_recipes():
    assert len(RECIPES) >= 10


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_of_finetune_is_one_of_a_sweep_and_comes_back_from_a_recipe(path, tmp_path):
    words = ["--config", str(path), "--model", "m", "--out", "o", *SPACE]
    words += [] if "\ntask = " in path.read_text() else ["sentiment"]
    options = parse(Options, words, prog="heldout sweep", description="")
    assert len(parse_space(options.space, options, VARIED)) == 2
    (tmp_path / "r.toml").write_text(written(options, without=(), comment=[]), encoding="utf-8")
    assert parse(Options, ["--config", str(tmp_path / "r.toml")], prog="heldout sweep", description="") == options


def test_without_optuna_the_call_says_what_to_install(recipe, tmp_path, monkeypatch, refused):
    monkeypatch.setattr("heldout.sweep.search.find_spec", lambda name: None)
    refused(sweep(recipe, tmp_path / "sweep"), 'pip install "heldout[sweep]"')
