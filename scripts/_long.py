"""What commands share that train for hours: the run folder held, resumed with the same options, stopped politely."""

import json
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

from heldout.errors import Failed, Refused
from heldout.options import to_json
from heldout.runs import read_json, writing
from heldout.train.processes import is_main_process, together

#: Options that may differ between the run that was stopped and its --resume.
FREE = {"resume", "json"}


def held(folder: Path, *, resume: bool) -> AbstractContextManager[Any]:
    """The run folder held for writing; of several processes only the main one writes."""
    return writing(folder, resume=resume) if is_main_process() else nullcontext()


@contextmanager
def stoppable(hint: str) -> Iterator[None]:
    """A signal outside of training (which makes a checkpoint first) ends the command with the way to go on."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with together(f"continue with: {hint}, with as many processes as you like"):
            yield
    except KeyboardInterrupt:
        raise Failed(f"stopped; continue with: {hint}") from None
    finally:
        signal.signal(signal.SIGTERM, before)


def same_options(out: Path, options: Any) -> None:
    """Refuse to resume a run with other options than it was started with."""
    same(out, to_json(options))


def same(out: Path, options: Mapping[str, Any]) -> None:
    """As ``same_options``, of options as options.json has them."""
    path = out / "options.json"
    if not path.exists():
        return
    before, now = read_json(path), json.loads(json.dumps(options))
    changed = sorted(key for key in now if key not in FREE and before.get(key) != now[key])
    if changed:
        key = changed[0]
        raise Refused(f"{out}: was started with {key} = {before.get(key)!r}, not {now[key]!r}; choose another --out")


def resume_hint(command: str) -> str:
    """What to type to go on: this very call with --resume."""
    words = [word for word in sys.argv[1:] if word != "--resume"]
    if words[:1] != [command]:
        return "the same command"
    return f"heldout {shlex.join([*words, '--resume'])}"
