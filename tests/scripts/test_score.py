"""``heldout score`` as a person calls it: on hand-written files, on bad ones, and where there is no torch."""

import gzip
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.cli import main

CARD = {
    "name": "four sentences",
    "version": "1",
    "kind": "label",
    "labels": ["negative", "positive"],
    "metrics": ["accuracy", "nll", "brier", "ece"],
}
# The seeds' table: sentence, gold, the lexicon's answer, the stipulated probability of positive.
SENTENCES = [
    ("The film is good.", "positive", "positive", 0.90),
    ("The film is not good.", "negative", "positive", 0.60),
    ("The film is bad.", "negative", "negative", 0.10),
    ("The film is not bad.", "positive", "negative", 0.70),
]
GOLD = [{"id": str(i), "text": {"text": text}, "gold": gold} for i, (text, gold, _, _) in enumerate(SENTENCES)]
LEXICON = [{"id": str(i), "answer": answer} for i, (_, _, answer, _) in enumerate(SENTENCES)]
STIPULATED = [
    {"id": str(i), "answer": "positive" if p > 0.5 else "negative", "scores": [1 - p, p]}
    for i, (_, _, _, p) in enumerate(SENTENCES)
]
Score = Callable[..., int]


@pytest.fixture
def score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Score:
    """Write card, gold and predictions, and score them with more arguments; the exit status."""
    monkeypatch.chdir(tmp_path)

    def call(predictions: Any, *more: str, gold: Any = GOLD, card: Any = CARD) -> int:
        for name, rows in (("gold", gold), ("predictions", predictions)):
            text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
            Path(f"{name}.jsonl").write_text(text)
        Path("card.json").write_text(json.dumps(card))
        files = ["--card", "card.json", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl"]
        return main(["score", *files, "--replicates", "100", *more])

    return call


def test_the_lexicon_gets_two_of_the_seeds_four_sentences(score: Score, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(LEXICON, "--json") == 0
    row = json.loads(capsys.readouterr().out)
    assert row["metrics"]["accuracy"]["value"] == 2 / 4
    assert row["metrics"]["nll"] == {"value": None, "note": "needs scores"}
    assert {key: part["metrics"]["accuracy"]["value"] for key, part in row["slices"].items() if "negation" in key} == {
        "negation=in scope": 0.0,
        "negation=rest": 1.0,
    }


def test_the_stipulated_probabilities_give_the_seeds_figures(score: Score, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(STIPULATED, "--bins", "10", "--json") == 0
    row = json.loads(capsys.readouterr().out)
    values = {name: entry["value"] for name, entry in row["metrics"].items()}
    assert values["accuracy"] == 3 / 4
    assert values["brier"] == pytest.approx(0.1175, abs=1e-12)
    assert values["nll"] == pytest.approx(0.370921676782135, abs=1e-12)
    assert values["ece"] == pytest.approx(0.275, abs=1e-12)
    assert row["metrics"]["ece"]["bins"] == 10
    by_slice = {key: part["metrics"]["accuracy"]["value"] for key, part in row["slices"].items()}
    assert (by_slice["negation=in scope"], by_slice["negation=rest"]) == (0.5, 1.0)


def test_the_table_can_be_read_without_knowing_the_file_format(
    score: Score, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(STIPULATED, "--dev-gold", "gold.jsonl", "--dev-predictions", "predictions.jsonl") == 0
    shown = capsys.readouterr().out
    for words in (
        "gold: 4 examples of four sentences, version 1",
        "accuracy                     0.750  0.301 to 0.954",
        "negation=in scope",
        "which is this very data: not held out",
        "Intervals of accuracy, accuracy_at_80, accuracy_at_90, accuracy_at_95: Wilson 95%.",
    ):
        assert words in shown
    assert max(map(len, shown.splitlines())) <= 110


def test_out_writes_what_json_prints(score: Score, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(STIPULATED, "--json", "--out", "made/scores.json", "--data", "four") == 0
    row = json.loads(capsys.readouterr().out)
    assert json.loads(Path("made/scores.json").read_text()) == row
    assert row["data"] == "four"


def changed(row: int, **keys: Any) -> list[dict[str, Any]]:
    return [{**given, **keys} if i == row else given for i, given in enumerate(STIPULATED)]


@pytest.mark.parametrize(
    ("predictions", "says"),
    [
        (STIPULATED[:3], "predictions.jsonl: 1 of 4 examples have no prediction; the first is id '3'"),
        ([*STIPULATED, STIPULATED[0]], "predictions.jsonl, line 5: id '0' is predicted a second time"),
        (
            [*STIPULATED, {"id": "x", "answer": "positive"}],
            "1 predictions are for ids that gold lacks; the first is id 'x'",
        ),
        (changed(1, answer="POSITIVE"), "predictions.jsonl, line 2: answer 'POSITIVE' is not among the card's labels"),
        (changed(2, scores=[0.5, 0.4]), "predictions.jsonl, line 3: scores sum to 0.9"),
        (changed(2, scores=[0.9, 0.1, 0.0]), "predictions.jsonl, line 3: scores must be 2 numbers"),
        (changed(0, scores=[-0.1, 1.1]), "predictions.jsonl, line 1: scores must be probabilities from 0 to 1"),
        (changed(0, scores=[float("nan"), 1.0]), "predictions.jsonl, line 1: scores must be probabilities"),
        ([{"id": "0"}], 'predictions.jsonl, line 1: no "answer"'),
        ("{", "predictions.jsonl, line 1: not JSON"),
        ("", "4 of 4 examples have no prediction"),
    ],
)
def test_wrong_predictions_are_one_line_and_status_2(
    score: Score, capsys: pytest.CaptureFixture[str], predictions: Any, says: str
) -> None:
    assert score(predictions) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert says in captured.err


@pytest.mark.parametrize(
    ("gold", "card", "says"),
    [
        ([{**GOLD[0], "gold": "neutral"}], CARD, "gold.jsonl, line 1: gold 'neutral' is not among the card's labels"),
        ([GOLD[0], GOLD[0]], CARD, "gold.jsonl, line 2: id '0' stands here a second time"),
        ("", CARD, "gold.jsonl: the gold file holds no examples"),
        (GOLD, {**CARD, "metrics": ["acuracy"]}, "metric 'acuracy' is unknown; did you mean accuracy"),
        (GOLD, {**CARD, "slices": ["lenght"]}, "slice 'lenght' is unknown; did you mean length"),
        (GOLD, {**CARD, "kind": "span"}, "gold.jsonl, line 1: gold must be a list of answers"),
        (GOLD, {**CARD, "collapse": {"mixed": "rest"}}, "collapse names 'mixed', which is not among its labels"),
    ],
)
def test_wrong_gold_and_cards_are_one_line_and_status_2(
    score: Score, capsys: pytest.CaptureFixture[str], gold: Any, card: Any, says: str
) -> None:
    assert score(STIPULATED, gold=gold, card=card) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert says in captured.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--card is missing"),
        (["--card", "card.json", "--gold", "gold.jsonl"], "--predictions is missing"),
        (["run", "--gold", "gold.jsonl"], "--gold goes with files and run is a run folder"),
        (["nowhere"], "nowhere: holds no card.json; is it a run folder"),
        (["nowhere", "--bins", "0"], "--bins must be at least 1"),
        (["--card", "absent.json", "--gold", "gold.jsonl", "--predictions", "p.jsonl"], "absent.json: no such card"),
    ],
)
def test_wrong_calls_are_one_line_and_status_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["score", *words]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert says in captured.err


@pytest.mark.parametrize("command", ["score", "report"])
def test_a_run_that_another_process_writes_is_left_alone(
    score: Score, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Scoring rewrites the ledger, which a training run adds to: one of the two would be lost."""
    assert score(STIPULATED) == 0
    for name, kind in (("gold", "gold"), ("predictions", "predictions")):
        Path("run", kind).mkdir(parents=True)
        Path(f"{name}.jsonl").rename(Path("run", kind, "films.jsonl"))
    Path("card.json").rename("run/card.json")
    program = (
        "import sys\nfrom pathlib import Path\nfrom heldout.runs import writing\n"
        "with writing(Path('run')):\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    capsys.readouterr()
    with subprocess.Popen([sys.executable, "-c", program], stdin=-1, stdout=-1) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        before = {path for path in Path("run").rglob("*")}
        assert main([command, "run"]) == 2
        assert f"run: process {other.pid} is writing here; wait for it or stop it" in capsys.readouterr().err
        assert {path for path in Path("run").rglob("*")} == before
        other.communicate()
    assert main([command, "run"]) == 0
    assert json.loads(Path("run/run.json").read_text())["state"] == "done"


def test_more_wrong_calls_with_files(score: Score, capsys: pytest.CaptureFixture[str]) -> None:
    assert score(STIPULATED, "--dev-gold", "gold.jsonl") == 2
    assert "--dev-gold and --dev-predictions go together" in capsys.readouterr().err
    assert score(LEXICON, "--dev-gold", "gold.jsonl", "--dev-predictions", "predictions.jsonl") == 2
    assert "gold.jsonl: 4 of 4 predictions have no scores, the first is id '0'" in capsys.readouterr().err
    pairs = [{**row, "gold": None, "about": {"pair": "p", "role": "original"}} for row in GOLD]
    Path("dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))
    assert score(STIPULATED, "--dev-gold", "dev.jsonl", "--dev-predictions", "predictions.jsonl") == 2
    assert "--dev-gold dev.jsonl: has no gold to fit anything on" in capsys.readouterr().err
    assert score(STIPULATED, "--replicates", "3") == 2
    assert "3 replicates give no interval" in capsys.readouterr().err


def test_scoring_needs_neither_torch_nor_transformers_nor_scikit_learn_nor_scipy(score: Score) -> None:
    assert score(STIPULATED) == 0
    program = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'accelerate', 'datasets', 'tokenizers', 'sklearn', 'scipy'):\n"
        "    sys.modules[name] = None\n"
        "from heldout.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    files = ["--card", "card.json", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl"]
    dev = ["--dev-gold", "gold.jsonl", "--dev-predictions", "predictions.jsonl"]
    words = [sys.executable, "-c", program, "score", *files, *dev, "--replicates", "100"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "0.750  0.301 to 0.954" in result.stdout


def test_25000_reviews_with_10000_replicates_on_all_slices_fit_in_half_a_minute_and_a_gigabyte(
    real_data: Path, tmp_path: Path
) -> None:
    """Two quiet cores take 7.4 s (the goal is 15); beside other tests 18.5 were seen. heldout bench score
    measures; this bound only catches what doubles.
    """
    random = np.random.default_rng(0)
    with (
        gzip.open(real_data / "imdb" / "test.jsonl.gz", "rt", encoding="utf-8") as reviews,
        (tmp_path / "gold.jsonl").open("w") as gold,
        (tmp_path / "predictions.jsonl").open("w") as predictions,
    ):
        for number, review in enumerate(map(json.loads, reviews)):
            p = 1 / (1 + math.exp(-random.normal(3 if review["label"] else -3, 2)))
            label = CARD["labels"][review["label"]]
            answer = CARD["labels"][int(p > 0.5)]
            about = {"overlap": "exact"} if number % 50 == 0 else {}
            gold.write(
                json.dumps({"id": review["id"], "text": {"text": review["text"]}, "gold": label, "about": about}) + "\n"
            )
            row = {
                "id": review["id"],
                "answer": answer,
                "scores": [1 - p, p],
                "seen": {"tokens": 256, "lost": number % 3},
            }
            predictions.write(json.dumps(row) + "\n")
    metrics = ["accuracy", "macro_f1", "mcc", "nll", "brier", "ece", "ece_mass"]
    (tmp_path / "card.json").write_text(json.dumps({**CARD, "metrics": metrics}))
    program = (
        "import resource, sys, time\n"
        "begun = time.perf_counter()\n"
        "from heldout.cli import main\n"
        "status = main(sys.argv[1:])\n"
        "used = resource.getrusage(resource.RUSAGE_SELF)\n"
        # VmHWM, not ru_maxrss: that one is handed down from the process that started this one.
        "status_lines = open('/proc/self/status').read().split()\n"
        "peak = status_lines[status_lines.index('VmHWM:') + 1]\n"
        "wall = time.perf_counter() - begun\n"
        # On two cores it is the wall that people wait for; beside other work the CPU time says how long that would be.
        "print(min(wall, used.ru_utime + used.ru_stime), peak, file=sys.stderr)\n"
        "sys.exit(status)\n"
    )
    files = ["--card", "card.json", "--gold", "gold.jsonl", "--predictions", "predictions.jsonl", "--json"]
    dev = ["--dev-gold", "gold.jsonl", "--dev-predictions", "predictions.jsonl"]
    words = [sys.executable, "-c", program, "score", *files, *dev]
    two_cores = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    result = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, env=two_cores)
    row = json.loads(result.stdout)
    assert (row["n"], row["replicates"], len(row["slices"])) == (25_000, 10_000, 11)
    seconds, kilobytes = map(float, result.stderr.split())
    assert seconds < 30
    assert kilobytes < 1_000_000
