"""One training from its first step or its last checkpoint to its best weights: logs, evaluates, saves, stops early."""

import json
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import torch
from accelerate import Accelerator
from torch import nn

from heldout.errors import Diverged, Failed, Refused
from heldout.runs import write_lines
from heldout.train import checkpoint
from heldout.train.loop import Done, Recipe, train
from heldout.train.plan import Step


@dataclass(frozen=True)
class Selection:
    """How the best weights are chosen: by which number on dev, in which direction, and when to give up."""

    metric: str
    direction: Literal["max", "min"]
    patience: int = 0

    def better(self, value: float, than: float | None) -> bool:
        """Whether ``value`` beats ``than``; anything beats nothing, a tie beats nothing."""
        if than is None:
            return True
        return value > than if self.direction == "max" else value < than


@dataclass(frozen=True)
class State:
    """Where a training stands: ``step`` counts the steps taken; all of it is in every checkpoint (FAULTS T7)."""

    step: int = 0
    best_step: int | None = None
    best_value: float | None = None
    failures: int = 0
    evaluations: Sequence[dict[str, Any]] = field(default_factory=list)

    def evaluated(self, value: float, by: Selection) -> "State":
        """The state after dev gave ``value`` at the current step."""
        if value != value:
            raise Diverged(f"step {self.step}: dev {by.metric} is not a number; lower --learning-rate")
        evaluations = [*self.evaluations, {"step": self.step, by.metric: value}]
        if by.better(value, self.best_value):
            return replace(self, best_step=self.step, best_value=value, failures=0, evaluations=evaluations)
        return replace(self, failures=self.failures + 1, evaluations=evaluations)


@dataclass(frozen=True)
class Session:
    """Everything one training needs besides model, optimizer and accelerator.

    ``evaluate`` gives the selection's number on dev for the current weights; it is asked after the steps numbered in
    ``evaluate_after`` (counted from 1). ``report`` is told of each step, and with how many this life of the run began.
    ``plan_hash`` ties checkpoints to the plan: another plan cannot resume them.
    """

    folder: Path
    plan: Sequence[Step]
    plan_hash: str
    recipe: Recipe
    selection: Selection
    evaluate: Callable[[], float]
    evaluate_after: frozenset[int]
    save_every: int
    report: Callable[[Done, int], None]
    say: Callable[[str], None]
    resume_hint: str


def run(model: nn.Module, optimizer: torch.optim.Optimizer, session: Session, accelerator: Accelerator) -> State:
    """Train until the plan or the patience ends, then load the best weights; continues from the newest checkpoint.

    Raises Failed after a checkpoint when SIGINT or SIGTERM asks to stop. An evaluation that this leaves out, or breaks
    off, is made up for when the run goes on.
    """
    raw = accelerator.unwrap_model(model)
    state = _resumed(raw, optimizer, session)
    begun = state.step
    if begun in session.evaluate_after and begun not in {row["step"] for row in state.evaluations}:
        state = _evaluated(state, session, accelerator)
        _save(raw, optimizer, session, state, accelerator)
    steps = session.plan[begun:] if not _given_up(state, session.selection) else []
    with _interrupts(session.say) as asked, _loss_log(session.folder, state.step, accelerator.is_main_process) as log:
        for done in train(model, optimizer, steps, session.recipe, accelerator):
            state = replace(state, step=done.step + 1)
            log(done)
            accelerator.log(done.to_json(), step=state.step)
            session.report(done, begun)
            due, stop = state.step in session.evaluate_after, _any(asked.stop, accelerator)
            if due and not stop:
                try:
                    # Of several processes none may leave the others waiting for its answers.
                    with asked.at_once() if accelerator.num_processes == 1 else nullcontext():
                        state = _evaluated(state, session, accelerator)
                except _Stopped:
                    stop = True
            if due or stop or state.step % session.save_every == 0:
                _save(raw, optimizer, session, state, accelerator)
            if stop:
                raise Failed(f"stopped by a signal after step {state.step}; continue with: {session.resume_hint}")
            if _given_up(state, session.selection):
                session.say(f"dev has not improved for {state.failures} evaluations: stopping early")
                break
    if state.best_step is not None and state.best_step != state.step:
        checkpoint.load(session.folder / "checkpoints" / f"step-{state.best_step}", raw, None)
    return state


def _evaluated(state: State, session: Session, accelerator: Accelerator) -> State:
    """The state with dev's number for the current weights."""
    state = state.evaluated(session.evaluate(), session.selection)
    session.say(_said(state, session.selection))
    metric = session.selection.metric
    accelerator.log({f"dev_{metric}": state.evaluations[-1][metric]}, step=state.step)
    return state


def evaluation_steps(plan: Sequence[Step], every: int) -> frozenset[int]:
    """The steps (from 1) after which dev is asked: every ``every`` steps, or each epoch's end (0); always the last."""
    if every:
        return frozenset({*range(every, len(plan) + 1, every), len(plan)})
    ends = {step.epoch: step.number + 1 for step in plan}
    return frozenset(ends.values())


def _given_up(state: State, selection: Selection) -> bool:
    return bool(selection.patience) and state.failures >= selection.patience


def _said(state: State, selection: Selection) -> str:
    latest = state.evaluations[-1]
    best = "the best so far" if state.best_step == state.step else f"best {state.best_value:.4f} at {state.best_step}"
    return f"step {state.step}: dev {selection.metric} {latest[selection.metric]:.4f} ({best})"


def _resumed(model: nn.Module, optimizer: torch.optim.Optimizer, session: Session) -> State:
    """The state of the newest whole checkpoint, its weights loaded; a fresh state where there is none."""
    found = checkpoint.latest(session.folder)
    if found is None:
        return State()
    path, kept = found
    if kept["plan"] != session.plan_hash:
        raise Refused(f"{path}: was made on another plan (data, seed or batch size changed); choose another --out")
    checkpoint.load(path, model, optimizer)
    session.say(f"resuming after step {kept['step']}")
    return State(**{name: kept[name] for name in State.__dataclass_fields__})


def _save(
    model: nn.Module, optimizer: torch.optim.Optimizer, session: Session, state: State, accelerator: Accelerator
) -> None:
    if accelerator.is_fsdp2 or accelerator.is_main_process:
        tensors = checkpoint.gather(model, optimizer, keep=accelerator.is_main_process)
    if accelerator.is_main_process:
        checkpoint.save(session.folder, tensors, asdict(state) | {"plan": session.plan_hash})
        checkpoint.prune(session.folder)
    accelerator.wait_for_everyone()


def _any(here: bool, accelerator: Accelerator) -> bool:
    """Whether any process was asked to stop: they must all take the same steps."""
    if accelerator.num_processes == 1:
        return here
    return bool(accelerator.reduce(torch.tensor(int(here), device=accelerator.device), "sum"))


class _Stopped(BaseException):
    """A signal came where what is being done may be left at once."""


class _Asked:
    """Whether a signal has asked to stop; within ``at_once`` it breaks off what is being done."""

    stop = False
    now = False

    @contextmanager
    def at_once(self) -> Iterator[None]:
        self.now = True
        try:
            yield
        finally:
            self.now = False


@contextmanager
def _interrupts(say: Callable[[str], None]) -> Iterator[_Asked]:
    """Note the first SIGINT or SIGTERM instead of dying of it.

    A second one does what it always did. Only the main thread of a process may set handlers.
    """
    asked = _Asked()

    def note(number: int, frame: FrameType | None) -> None:
        asked.stop = True
        restore()
        when = "stopping" if asked.now else "stopping after this step"
        say(f"{signal.Signals(number).name}: {when}, with a checkpoint")
        if asked.now:
            raise _Stopped

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        restore()


@contextmanager
def _loss_log(folder: Path, taken: int, main: bool) -> Iterator[Callable[[Done], None]]:
    """Append to losses.jsonl, after cutting off what an interrupted life logged past its last checkpoint."""
    if not main:
        yield lambda done: None
        return
    path = folder / "losses.jsonl"
    if path.exists():
        write_lines(path, [row for row in _whole_lines(path) if row["step"] < taken])
    with path.open("a", encoding="utf-8") as lines:

        def log(done: Done) -> None:
            try:
                lines.write(json.dumps(done.to_json()) + "\n")
                lines.flush()
            except OSError as error:
                raise Failed(f"{path}: could not be written ({error.strerror}); free some space and --resume") from None

        yield log


def _whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a jsonl file whose last line may have been cut by a kill."""
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            return
