"""`heldout bench profile`: where the time of a training step goes, or of answers, by kind of operation.

What is not a matrix product, and how far these are from the machine's limit, is why a share of the peak is what it is.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.bench.flops import TRAINING, Costs, done
from heldout.bench.matmul import peak
from heldout.bench.result import Result, number, share, short
from heldout.bench.training.ours import job_of
from heldout.bench.training.speed import epochs_for
from heldout.bench.training.work import Work, fit_options
from heldout.data.prepare import load, prepare
from heldout.errors import Refused
from heldout.eval.columns import aligned
from heldout.records import read_card
from heldout.runs import task_options
from heldout.tasks import load_task
from heldout.train.options import FitOptions

#: Steps, or blocks of examples, before anything is profiled.
WARM = 2
#: Kinds of operations by parts of torch's names for them, the first that is found; the rest is "other operations".
KINDS: Mapping[str, Sequence[str]] = {
    "laying matrices out": ("reorder",),
    "matrix products of the attention": ("bmm", "attention"),
    "matrix products": ("linear", "mm", "matmul"),
    "softmax": ("softmax",),
    "GELU": ("gelu",),
    "norms": ("layer_norm",),
    "dropout": ("random", "bitwise", "bernoulli", "dropout"),
    "clipping and optimizer": ("adam", "norm", "_foreach"),
    "embeddings": ("embedding", "index"),
    "casts and copies": ("copy", "to", "contiguous", "cat", "zero", "fill", "empty", "resize"),
    "sums and products": ("add", "sub", "mul", "div", "sum", "neg", "where", "abs", "clamp"),
}
PRODUCTS = ("matrix products", "matrix products of the attention")
OTHER, OUTSIDE = "other operations", "outside torch's operations"


def bench_profile(options: Any, *, say: Callable[[str], None]) -> list[Result]:
    """Of ``--model RUN --data SOURCE`` the answers to a block of examples, else training as ``bench train`` does it."""
    made = _answers(options) if options.data else _training(options)
    take, lengths, costs, precision, arguments = made
    take(WARM)
    say(f"profiling {options.steps} times: {arguments['what']}")
    limits = [peak(precision)]
    seconds, by_name = _profiled(lambda: take(options.steps))
    limits.append(peak(precision))
    times = TRAINING if "batch_size" in arguments else 1
    return [_result(seconds, by_name, times * costs.forward(lengths()), max(limits), arguments, options.steps)]


Made = tuple[Callable[[int], None], Callable[[], Sequence[int]], Costs, str, dict[str, Any]]


def _training(options: Any) -> Made:
    """Steps of a training; the lengths are those of the steps after the warm ones."""
    from heldout.train.finetune import ready
    from heldout.train.loop import train
    from heldout.train.precision import make_accelerator, resolve

    if not (options.task and options.train and options.model):
        raise Refused("heldout bench profile needs --task, --train and --model, or --data and the --model of a run")
    precision, _ = resolve(options.precision)
    data = prepare(options.task, train=options.train, dev=options.dev, tests={}, options=options, seed=options.seed)
    rows, dev = (data.splits[name].examples for name in ("train", "dev"))
    total = WARM + options.steps
    epochs = epochs_for(total, len(rows), options.batch_size)
    fit = FitOptions(**fit_options(options, epochs=epochs, max_steps=total))
    work = Work("ours", load_task(options.task, data.card), data.card, rows, dev, fit, options.seed, None)
    accelerator = make_accelerator(precision)
    made = ready(job_of(work), accelerator)
    model: Any = accelerator.unwrap_model(made.system.model)
    steps = train(made.system.model, made.optimizer, made.plan, made.recipe, accelerator)

    def take(count: int) -> None:
        for _ in range(count):
            next(steps)

    def lengths() -> list[int]:
        return [len(window) for step in made.plan[WARM:] for window in made.recipe.windows(step)]

    names = ("task", "train", "model", "batch_size", "max_length", "limit")
    arguments = {"what": f"a step of {options.batch_size} rows"} | {n: short(getattr(options, n)) for n in names}
    return take, lengths, done(model), precision, arguments


def _answers(options: Any) -> Made:
    """A run's answers to the same block of examples, again and again."""
    from heldout.train.precision import make_accelerator, resolve
    from heldout.train.system import load_system
    from heldout.train.untrusted import Source

    run, precision = Path(options.model), resolve(options.precision)[0]
    read, card = task_options(run), read_card(run / "card.json")
    loaded = load(read["task"], options.data, options, labels=[*card.labels, *card.collapse.values()], limit=None)
    block, task = loaded.examples[: options.examples], load_task(read["task"], card)
    source = Source(str(run / "model"), bool(read.get("trust_remote_code")))
    system = load_system(task, source, task.head(card), read, make_accelerator(precision))
    encoded = task.encode(block, system.encoding)

    def take(count: int) -> None:
        for _ in range(count):
            system.answer(block, encoded, "")

    model: Any = system.accelerator.unwrap_model(system.model)
    arguments = {"what": f"answers to {len(block)} examples", "task": read["task"], "model": short(run)}
    arguments |= {"data": short(options.data), "max_length": read["max_length"], "examples": len(block)}
    whole = [len(window) for window in encoded.flat()] * options.steps
    return take, lambda: whole, done(model), precision, arguments


def _profiled(work: Callable[[], None]) -> tuple[float, Mapping[str, float]]:
    """Wall seconds, and those of each of torch's operations without the ones it calls."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as found:
        started = time.perf_counter()
        work()
        seconds = time.perf_counter() - started
    return seconds, {event.key: event.self_cpu_time_total / 1e6 for event in found.key_averages()}


def kind_of(name: str) -> str:
    """The kind of one of torch's operations."""
    plain = name.rsplit("::", 1)[-1].lower()
    found = (kind for kind, parts in KINDS.items() if any(part in plain for part in parts))
    return next(found, OTHER)


def _result(
    seconds: float,
    by_name: Mapping[str, float],
    operations: int,
    limit: float,
    arguments: Mapping[str, Any],
    times: int,
) -> Result:
    by_kind: dict[str, float] = defaultdict(float)
    for name, spent in by_name.items():
        by_kind[kind_of(name)] += spent
    by_kind[OUTSIDE] = max(0.0, seconds - sum(by_kind.values()))
    ordered = sorted(by_kind.items(), key=lambda pair: -pair[1])
    products = sum(by_kind[kind] for kind in PRODUCTS)
    figures = {f"share of {kind}": spent / seconds for kind, spent in ordered}
    figures |= {"products of the peak": operations / products / limit, "step of the peak": operations / seconds / limit}
    figures |= {"milliseconds": 1000 * seconds / times, "GFLOP": operations / times / 1e9}
    table = [["", "share", f"ms of {arguments['what']}"]]
    table += [[kind, share(spent / seconds, 1), number(1000 * spent / times)] for kind, spent in ordered]
    lines = aligned(table, right={1, 2})
    lines += [
        "",
        f"{times} times, {1000 * seconds / times:,.0f} ms each under torch's profiler. Matrix products run at "
        f"{share(figures['products of the peak'])} of the peak of {limit / 1e9:,.0f} GFLOP/s; all of it at "
        f"{share(figures['step of the peak'])} (operations that are done).",
    ]
    return Result("profile", {**arguments, "times": times}, figures, {"operations": dict(by_name)}, "\n".join(lines))
