"""Lines of JSON that have an id, read one by one; what is wrong is told with file and row."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from heldout.errors import Refused

#: JSON's white space, and what reads one value from a text's start and says where it ends.
WHITE, DECODE = " \t\r\n", json.JSONDecoder().raw_decode


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a jsonl file with their line numbers from 1; Refused with file and row where one is not."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                text = line.strip(WHITE)
                if not text or text.isspace():
                    continue
                # json.loads would look for white space and for its own kind of text around every line: a third more.
                row, end = DECODE(text)
                if end < len(text):
                    raise json.JSONDecodeError("Extra data", text, end)
                if not isinstance(row, dict) or not isinstance(row.get("id"), str):
                    raise Refused(f'{path}, line {number}: every line is an object with an "id" that is a string')
                yield number, row
    except FileNotFoundError:
        raise Refused(f"{path}: no such file") from None
    except OSError as error:
        raise Refused(f"{path}: cannot be read ({error.strerror})") from None
    except (json.JSONDecodeError, RecursionError) as error:
        message = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        raise Refused(f"{path}, line {number}: not JSON ({message}); every line must be one JSON object") from None
    except UnicodeDecodeError:
        raise Refused(f"{path}: not UTF-8 at byte {_bad_byte(path)}; save it as UTF-8") from None


def _bad_byte(path: Path) -> int:
    """The offset of the first byte that is not UTF-8; the reader's own error counts from its buffer's start."""
    try:
        path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0
