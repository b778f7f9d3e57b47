"""Groups of processes for the tests of this folder, a model without dropout, and a fine-tuning as its words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from accelerate.commands.launch import _validate_launch_command, launch_command_parser
from accelerate.utils.launch import prepare_multi_gpu_env

RECIPES = Path(__file__).parent.parent.parent / "recipes" / "accelerate"


class Ranks:
    """A process that starts groups of ranks (ranks.py)."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("ranks.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"},
        )
        self.logs = Path()

    def start(self, words, logs, *, processes=2, **environment):
        """Start a command in so many processes; their pids."""
        logs.mkdir(parents=True, exist_ok=True)
        self.logs = logs
        call = {"words": [str(word) for word in words], "processes": processes, "logs": str(logs)}
        self.process.stdin.write(json.dumps(call | {"environment": environment}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ends(self):
        """How each rank ended."""
        return json.loads(self.process.stdout.readline())

    def said(self, rank):
        return (self.logs / f"{rank}.log").read_text()

    def run(self, words, logs, *, processes=2, **environment):
        """Start a command and wait; every rank has to end well."""
        self.start(words, logs, processes=processes, **environment)
        ends = self.ends()
        assert ends == ["exit 0"] * processes, "\n".join(self.said(rank)[-3000:] for rank in range(processes))


@pytest.fixture(scope="session")
def ranks():
    ranks = Ranks()
    yield ranks
    ranks.process.stdin.close()
    ranks.process.stdout.close()
    ranks.process.wait(60)


@pytest.fixture(scope="session")
def words(still, reviews_csv):
    """A fine-tuning on 40 reviews, three epochs of eight steps; its test set has 95 rows, no multiple of two."""
    test = reviews_csv.with_name("odd.csv")
    test.write_text("\n".join(reviews_csv.read_text().splitlines()[:96]) + "\n")
    return [
        *("finetune", "sentiment", "--model", str(still), "--train", str(reviews_csv), "--dev-size", "20"),
        *("--test", f"odd={test}", "--allow-fitted-test", "--max-length", "16", "--batch-size", "5"),
        *("--precision", "fp32", "--learning-rate", "1e-2", "--epochs", "3", "--save-every", "4"),
        *("--token-budget", "48", "--baseline", "none"),
    ]


@pytest.fixture(scope="session")
def one(ranks, words, tmp_path_factory):
    """The run of one process that those of several are compared with."""
    folder = tmp_path_factory.mktemp("one")
    ranks.run([*words, "--out", folder / "run"], folder / "logs", processes=1)
    return folder / "run"


@pytest.fixture(scope="session")
def losses():
    """A function: the loss of every step that a run logged, in order."""

    def read(run):
        rows = [json.loads(line) for line in (run / "losses.jsonl").read_text().splitlines()]
        assert [row["step"] for row in rows] == list(range(len(rows)))
        return [row["loss"] for row in rows]

    return read


@pytest.fixture(scope="session")
def launched():
    """A function: the call that accelerate launch makes of a file in recipes/accelerate, and its environment."""

    def read(name, *more):
        words = ["--config_file", str(RECIPES / name), *more, "-m", "heldout", "--version"]
        call, *_ = _validate_launch_command(launch_command_parser().parse_args(words))
        return call, prepare_multi_gpu_env(call)

    return read


@pytest.fixture(scope="session")
def sharding(launched):
    """What fsdp2-8gpu.yaml puts into the environment, and the word by which ranks.py lets it shard on a CPU."""
    _, environment = launched("fsdp2-8gpu.yaml", "--main_process_port", "0")
    return {key: value for key, value in environment.items() if "FSDP" in key} | {"SHARD_ON_CPU": "1"}
