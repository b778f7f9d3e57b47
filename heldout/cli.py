"""The ``heldout`` command: finds scripts/COMMAND.py by name and runs it. Importing this imports no torch."""

import importlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from heldout import __version__
from heldout.errors import HeldoutError, Refused
from heldout.options import nearest, parse

SCRIPTS = Path(__file__).parent / "scripts"
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
        return _dispatch(words)
    except HeldoutError as error:
        if "--debug" in words:
            raise
        print(f"heldout: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("heldout: stopped", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError:
        # The reader of a pipe (head, less) has gone: nothing more to say to anyone.
        sys.stderr.close()
        return 1


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
    module = importlib.import_module(f"heldout.scripts.{name.replace('-', '_')}")
    options = parse(module.Options, rest, prog=f"heldout {name}", description=module.__doc__ or "")
    status: int = module.run(options)
    return status


def _help(known: dict[str, str]) -> str:
    width = max(map(len, known), default=0)
    lines = [f"  {name:<{width}}  {summary}" for name, summary in known.items()]
    return "\n".join([USAGE, "", *lines, "", "heldout COMMAND --help tells what a command takes."])
