"""What a benchmark found: figures to keep and compare, details, and the table for the person."""

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.errors import Refused
from heldout.eval.columns import aligned
from heldout.runs import cpus, environment, read_json, threads, write_json

#: What a CPU multiplies matrices with, where it has it.
FLAGS = ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8", "asimd", "bf16")


@dataclass(frozen=True)
class Result:
    """One benchmark: its kind and arguments (what it is matched by), figures by name, details, and its table."""

    kind: str
    arguments: Mapping[str, Any]
    figures: Mapping[str, float]
    details: Mapping[str, Any]
    text: str

    def to_json(self) -> dict[str, Any]:
        """An entry of a file of benchmarks, with the machine that it was measured on."""
        return {
            "bench": self.kind,
            "arguments": dict(self.arguments),
            "figures": dict(self.figures),
            "details": dict(self.details),
            "machine": machine(),
            "command": " ".join(map(shlex.quote, ["heldout", *sys.argv[1:]])),
        }


def machine() -> dict[str, Any]:
    """The machine, its threads and instructions, versions and the date."""
    flags: set[str] = set()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.lower().startswith(("flags", "features")):
                flags |= set(line.split(":", 1)[1].split())
    except OSError:
        pass
    load = os.getloadavg()[0]
    found = {"threads": threads() or cpus(), "flags": [flag for flag in FLAGS if flag in flags], "load_at_end": load}
    return environment() | found


def where() -> str:
    """The machine in one line."""
    made = machine()
    versions = ", ".join(f"{name} {made['versions'][name]}" for name in ("heldout", "torch", "transformers"))
    return (
        f"{made['processor']}, {made['threads']} threads, {' '.join(made['flags'])}; {versions}; {made['date']}; "
        f"load {made['load_at_end']:.1f}"
    )


def short(value: Any) -> Any:
    """An argument as it is matched: a path by its last two parts, so that another machine's file is the same."""
    if isinstance(value, Path | str) and "/" in str(value) and Path(str(value).partition("#")[0]).exists():
        return "/".join(Path(value).parts[-2:])
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [short(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def keep(path: Path, results: Sequence[Result]) -> None:
    """Put the results into a file of benchmarks, each in the place of the one with its kind and arguments."""
    kept = {_key(entry): entry for entry in read(path)} if path.exists() else {}
    kept |= {_key(entry): entry for entry in (result.to_json() for result in results)}
    write_json(path, {"benches": [kept[key] for key in sorted(kept)]})


def read(path: Path) -> list[dict[str, Any]]:
    """The entries of a file that --json or --keep wrote; Refused where it is none."""
    if not path.exists():
        raise Refused(f"{path}: no such file; heldout bench … --keep FILE writes one")
    found = read_json(path)
    entries = found.get("benches") if isinstance(found, dict) else None
    wanted = ("bench", "arguments", "figures")
    if not isinstance(entries, list) or not all(isinstance(e, dict) and all(k in e for k in wanted) for e in entries):
        raise Refused(f"{path}: is no file of benchmarks; heldout bench … --keep FILE writes one")
    return entries


def against(path: Path, result: Result) -> str:
    """Each figure over the kept one of the same kind and arguments; a line that says so where there is none."""
    entry = next((entry for entry in read(path) if _key(entry) == _key(result.to_json())), None)
    if entry is None:
        return f"{path}: holds no {result.kind} with these arguments; --keep {path} would add it"
    table = [["", "now", f"kept ({entry.get('machine', {}).get('date', 'no date')})", "now over kept"]]
    for name, value in result.figures.items():
        before = entry["figures"].get(name)
        over = f"{value / before:.2f}" if isinstance(before, int | float) and before else ""
        table.append([name, number(value), "" if before is None else number(before), over])
    return "\n".join(aligned(table, right={1, 2, 3}))


def _key(entry: Mapping[str, Any]) -> str:
    return json.dumps([entry["bench"], entry["arguments"]], sort_keys=True)


def number(value: float) -> str:
    """A figure with about four digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def mega(count: float) -> str:
    """Bytes as megabytes."""
    return f"{count / 1e6:,.0f}"


def share(value: float, digits: int = 0) -> str:
    """A share as a percentage."""
    return f"{100 * value:.{digits}f}%"


def done_less(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A line on each side that gives the model's numbers by fewer than all its operations, which the shares count."""
    return [
        f"{name} does {share(row['done'])} of the model's operations (of the last layer what its head reads), at "
        f"{share(row['done'] * row['share_of_peak'])} of the peak."
        for name, row in rows.items()
        if row["share_of_peak"] is not None and row["done"] < 1
    ]
