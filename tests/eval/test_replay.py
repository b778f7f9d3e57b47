"""Replay gives back what was stored or names what changed; a folder of seeds has means and gets no file."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heldout.cli import main
from heldout.records import Card, Example, Prediction
from heldout.runs import write_json, write_lines

CARD = Card("toy", "1", "label", ("bad", "good"), ("accuracy", "nll", "ece"), ("length",))


def fill(folder: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    write_json(folder / "card.json", CARD.to_json())
    write_json(folder / "options.json", {"test": ["films=x"]})
    for data in ("films", "books", "dev"):
        gold = [Example(f"{data}{k}", {"text": "plain " * (1 + k % 30)}, CARD.labels[k % 2]) for k in range(60)]
        p = rng.uniform(0.5, 1, 60)
        said = []
        for k, example in enumerate(gold):
            place = k % 2 if rng.random() < p[k] else 1 - k % 2
            scores = [float(p[k]), float(1 - p[k])]
            said.append(Prediction(example.id, CARD.labels[place], scores if place == 0 else scores[::-1]))
        write_lines(folder / "gold" / f"{data}.jsonl", (example.to_json() for example in gold))
        write_lines(folder / "predictions" / f"{data}.jsonl", (one.to_json() for one in said))
    return folder


@pytest.fixture
def scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    folder = fill(tmp_path / "run", 0)
    assert main(["score", str(folder), "--replicates", "50", "--seed", "3", "--bins", "7"]) == 0
    capsys.readouterr()
    return folder


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in sorted(folder.rglob("*")) if path.is_file()
    }


def edit(path: Path, change: Any) -> None:
    row = json.loads(path.read_text())
    change(row)
    write_json(path, row)


def test_a_replay_gives_every_stored_number_to_the_last_bit_and_writes_nothing(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = state(scored)
    assert main(["score", "--replay", str(scored)]) == 0
    out = capsys.readouterr().out
    numbers = int(out.split(": ")[1].split()[0].replace(",", ""))
    assert numbers > 500 and "0 changed" in out
    assert state(scored) == before


@pytest.mark.parametrize(
    ("where", "says"),
    [
        (("metrics", "nll", "high"), "films, nll, high: was"),
        (
            ("slices", "length=up to 20 words", "metrics", "accuracy", "value"),
            "films, length=up to 20 words, accuracy, value",
        ),
        (("variants", "temperature", "metrics", "ece", "low"), "films, temperature, ece, low"),
    ],
)
def test_a_number_that_changed_in_its_last_bit_is_named_with_old_and_new(
    scored: Path, capsys: pytest.CaptureFixture[str], where: tuple[str, ...], says: str
) -> None:
    moved = {}

    def nudge(row: Any) -> None:
        for key in where[:-1]:
            row = row[key]
        moved["old"] = row[where[-1]]
        row[where[-1]] = moved["new"] = float(np.nextafter(row[where[-1]], 2))

    edit(scored / "scores" / "films.json", nudge)
    assert main(["score", "--replay", str(scored)]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and says in error
    assert f"was {moved['new']!r}, is {moved['old']!r}" in error


def test_a_number_that_is_stored_and_no_longer_made_is_a_change_and_a_new_one_is_none(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scored / "scores" / "films.json"
    edit(path, lambda row: row["metrics"].pop("ece"))
    assert main(["score", "--replay", str(scored), "--data", "films"]) == 0
    assert "0 changed" in (out := capsys.readouterr().out) and ", 0 new" not in out
    edit(path, lambda row: row["metrics"]["nll"].update(odd=0.5))
    assert main(["score", "--replay", str(scored), "--data", "films"]) == 1
    assert "films, nll, odd: was 0.5, is absent" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("predictions", "predictions, the card or what gold tells about its examples are not what was scored"),
        ("gold", "gold is not what was scored"),
    ],
)
def test_changed_records_are_said_to_be_the_reason(
    scored: Path, capsys: pytest.CaptureFixture[str], file: str, says: str
) -> None:
    path = scored / file / "films.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    key = "gold" if file == "gold" else "answer"
    rows[0][key] = "good" if rows[0][key] == "bad" else "bad"
    write_lines(path, rows)
    assert main(["score", "--replay", str(scored)]) == 1
    assert says in capsys.readouterr().err


def test_another_version_of_numpy_is_said_to_be_a_reason(scored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json(scored / "environment.json", {"versions": {"numpy": "1.0.0"}})
    edit(scored / "scores" / "books.json", lambda row: row["metrics"]["nll"].update(value=0.5))
    assert main(["score", "--replay", str(scored)]) == 1
    assert f"numpy is {np.__version__}, 1.0.0 when the run was made" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--replay"], "--replay scores a run folder again"),
        (["--replay", "RUN", "--replicates", "70"], "takes the stored replicates"),
        (["--replay", "RUN", "--data", "music"], "holds no scores/music.json to replay"),
    ],
)
def test_a_wrong_replay_is_refused(
    scored: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    assert main(["score", *(str(scored) if word == "RUN" else word for word in words)]) == 2
    assert says in capsys.readouterr().err


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    for seed in (1, 2, 3):
        fill(tmp_path / "several" / f"seed-{seed}", seed)
    return tmp_path / "several"


def test_a_folder_of_seeds_is_scored_run_by_run_and_summed_up(seeds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(seeds), "--replicates", "200", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(rows) == ["films", "books"]
    own = [json.loads((seeds / f"seed-{k}" / "scores" / "films.json").read_text()) for k in (1, 2, 3)]
    looked = 0
    for name, entry in rows["films"]["metrics"].items():
        values = [row["metrics"][name]["value"] for row in own]
        assert entry["value"] == pytest.approx(np.mean(values)) and entry["sd"] == pytest.approx(np.std(values, ddof=1))
        assert entry["low"] <= entry["value"] * 1.5 and list(entry["by_seed"].values()) == values
        looked += 1
    assert looked >= 4
    after = rows["films"]["variants"]["temperature"]["metrics"]["ece"]
    assert after["value"] == pytest.approx(
        np.mean([r["variants"]["temperature"]["metrics"]["ece"]["value"] for r in own])
    )


def test_the_folder_of_seeds_itself_gets_no_file(seeds: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(seeds), "--replicates", "20"]) == 0
    assert sorted(path.name for path in seeds.iterdir()) == ["seed-1", "seed-2", "seed-3"]
    out = capsys.readouterr().out
    assert "films: 60 examples of toy, version 1; 3 seeds" in out and "the true one may be 6 times as large" in out
    assert main(["score", "--replay", str(seeds)]) == 0
    assert capsys.readouterr().out.count("0 changed") == 3
