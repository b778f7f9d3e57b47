"""Progress for the person at the terminal: a bar there, a line now and then elsewhere; all of it on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

#: Seconds between two lines where stderr is no terminal.
EVERY = 30.0


@contextmanager
def progress(what: str, total: int, unit: str, *, shown: bool = True) -> Iterator[Callable[..., None]]:
    """Yield ``advance(count, note="", before=0)``; shows ``what`` moving towards ``total``.

    ``before`` are those that an earlier life of the run had done when this one began: they count, but took no time.
    """
    if not shown:
        yield lambda count, note="", before=0: None
    elif sys.stderr.isatty():
        with tqdm(total=total, desc=what, unit=f" {unit}", dynamic_ncols=True) as bar:

            def advance_bar(count: int, note: str = "", before: int = 0) -> None:
                bar.set_postfix_str(note, refresh=False)
                if before and not bar.initial:
                    bar.initial = bar.n = before
                bar.update(count)

            yield advance_bar
    else:
        yield _lines(what, total, unit)


def say(message: str) -> None:
    """A line for the person, above any bar."""
    tqdm.write(message, file=sys.stderr)


def _lines(what: str, total: int, unit: str) -> Callable[..., None]:
    started = last = time.monotonic()
    done = 0

    def advance(count: int, note: str = "", before: int = 0) -> None:
        nonlocal done, last
        done += count
        now = time.monotonic()
        if now - last >= EVERY:
            last, reached = now, before + done
            left = (now - started) / done * (total - reached)
            words = f"{what}: {reached:,} of {total:,} {unit}, about {left / 60:.0f} min left"
            say(f"{words}{'; ' + note if note else ''}")

    return advance
