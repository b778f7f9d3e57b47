"""The peak memory of one system in a process of its own: python -m heldout.scripts._peak RUN FORM GOLD.jsonl."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from heldout.compress.peak import fullest, own_peak
from heldout.compress.runtime import load_onnx
from heldout.records import read_card, read_gold
from heldout.runs import read_json
from heldout.tasks import load_task


def main(words: Sequence[str]) -> None:
    """Load, answer the fullest batch there is, print {"peak": bytes}. An exported run is asked without torch."""
    folder, form, data = Path(words[0]), words[1], Path(words[2])
    card, options = read_card(folder / "card.json"), read_json(folder / "options.json")
    examples = read_gold(data, card)
    if form == "onnx":
        made = load_onnx(folder / "onnx", load_task(options["task"], card), card, options)
        made.asked(fullest(made.task.encode(examples, made.encoding).windows))
    else:
        # Here, since it imports torch.
        from heldout.compress.sides import Asked, opened

        side, _ = opened(Asked("it", folder, form), examples, load_task)
        side.ask(fullest(side.rows))
    print(json.dumps({"peak": own_peak()}))


if __name__ == "__main__":
    main(sys.argv[1:])
