"""One of two processes that answer the same examples: reads a job's folder, the first process writes the answers.

python -m torch.distributed.run --standalone --nproc_per_node 2 -m heldout.checks.doctor._process FOLDER
"""

import sys
from pathlib import Path

from heldout.errors import HeldoutError
from heldout.records import Card, read_gold
from heldout.runs import read_json, write_lines
from heldout.tasks import load_task
from heldout.train.precision import make_accelerator
from heldout.train.system import load_system
from heldout.train.untrusted import Source


def main(work: Path) -> None:
    """Answer gold.jsonl of ``work`` with the model of the run that job.json names; write predictions.jsonl."""
    job = read_json(work / "job.json")
    folder, card = Path(job["run"]), Card(**job["card"])
    options = read_json(folder / "options.json")
    task = load_task(options["task"], card)
    source = Source(str(folder / "model"), bool(options.get("trust_remote_code")))
    system = load_system(task, source, task.head(card), options, make_accelerator("fp32"))
    predictions = system.predict(read_gold(work / "gold.jsonl", card), "checking")
    if system.accelerator.is_main_process:
        write_lines(work / "predictions.jsonl", (prediction.to_json() for prediction in predictions))
    system.accelerator.end_training()


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except HeldoutError as error:
        print(f"heldout: {error}", file=sys.stderr)
        sys.exit(error.status)
