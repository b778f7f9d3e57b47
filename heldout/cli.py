"""The ``heldout`` command: finds scripts/COMMAND.py by name and runs it. Importing this imports no torch."""

import gc
import importlib
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from heldout import __version__
from heldout.errors import HeldoutError, Refused
from heldout.options import nearest, parse

SCRIPTS = Path(__file__).parent / "scripts"
#: New objects between two looks for garbage in cycles. Python looks after every 700, which costs 0.6 of the 6.5 seconds
#: that importing torch and transformers and reading IMDb's 25,000 reviews take.
COLLECT_AFTER = 20_000
USAGE = "heldout COMMAND …: fine-tune text encoders and find out whether they are any good"


def commands() -> dict[str, str]:
    """Every command with the first line of its module's docstring, read without importing it (torch takes seconds)."""
    found = {}
    for path in sorted(SCRIPTS.glob("[a-z]*.py")):
        with path.open(encoding="utf-8") as lines:
            found[path.stem.replace("_", "-")] = lines.readline().strip().strip('"')
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns 0 done, 1 the work failed, 2 the call or its data are wrong."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        status = _dispatch(words)
        # Here, not at exit: a reader of the pipe that has gone must be met inside this try.
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader of a pipe (head, less) has gone: nothing more to say, and nothing left to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("heldout: stopped", file=sys.stderr)
        return 128 + signal.SIGINT
    except Exception as error:
        if "--debug" in words:
            traceback.print_exc()
        print(f"heldout: {_one_line(error)}", file=sys.stderr)
        return error.status if isinstance(error, HeldoutError) else 1


def _one_line(error: Exception) -> str:
    """Our own errors as they are; anything else is a fault of ours, so it says how to see more."""
    known = isinstance(error, HeldoutError)
    message = str(error) if known else f"{type(error).__name__}: {error} (a fault in heldout; --debug shows where)"
    return " ".join(message.split())


def _dispatch(words: list[str]) -> int:
    known = commands()
    if not words or words[0] in ("-h", "--help", "help"):
        print(_help(known))
        return 0
    if words[0] == "--version":
        print(f"heldout {__version__}")
        return 0
    name, rest = words[0], words[1:]
    if name not in known:
        raise Refused(f"unknown command {name!r}{nearest(name, list(known))}; heldout --help lists them")
    gc.set_threshold(COLLECT_AFTER)
    module = importlib.import_module(f"heldout.scripts.{name.replace('-', '_')}")
    options = parse(module.Options, rest, prog=f"heldout {name}", description=module.__doc__ or "")
    try:
        status: int = module.run(options)
    finally:
        _leave_processes()
    return status


def _leave_processes() -> None:
    """End the group of processes that accelerate launched: left to the exit, gloo's threads abort it now and then."""
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        distributed.destroy_process_group()


def _help(known: dict[str, str]) -> str:
    width = max(map(len, known), default=0)
    lines = [f"  {name:<{width}}  {summary}" for name, summary in known.items()]
    return "\n".join([USAGE, "", *lines, "", "heldout COMMAND --help tells what a command takes."])
