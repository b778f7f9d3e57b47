"""The trials of a search, in a storage of optuna that any number of processes share: claimed, reported, told.

A trial's values are a function of the seed, its number and what had come of the trials before it. They are written
together with the trial, so a process that dies loses nothing: the next one to come finds a running trial whose folder
nobody holds, and goes on from its checkpoint.
"""

import fcntl
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from heldout.errors import Held, HeldoutError, Refused
from heldout.runs import writing
from heldout.sweep.space import Dimension, points, size

Storage = Literal["journal", "sqlite"]
Pruner = Literal["none", "median"]
Sampler = Literal["tpe", "random"]
State = Literal["running", "done", "pruned", "failed", "refused"]

#: How often values are drawn before a space counts as having none left: TPE comes back to a good point of a small one.
ATTEMPTS = 100


class Pruned(HeldoutError):
    """A trial is given up: its dev value is below the median of the others' at the same place."""


@dataclass(frozen=True)
class Trial:
    """One trial as the storage has it; ``evaluations`` are dev's numbers by the examples seen until then."""

    number: int
    values: Mapping[str, Any]
    state: State
    value: float | None = None
    why: str = ""
    evaluations: Mapping[int, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its folder in the sweep's."""
        return f"trial-{self.number:03d}"


@dataclass(frozen=True)
class Search:
    """A search in ``folder``: over ``space``, of whose points only those count that ``fits``."""

    folder: Path
    study: Any
    space: Sequence[Dimension]
    fits: Callable[[Mapping[str, Any]], bool]
    sampler: Sampler
    seed: int

    def trials(self) -> list[Trial]:
        """All trials by number."""
        return [_trial(frozen) for frozen in self.study.get_trials(deepcopy=False)]

    def claim(self, wanted: int) -> tuple[Trial, ExitStack] | None:
        """A trial to work on, its folder held until the stack is closed: one left behind, else a new one.

        None where ``wanted`` trials are there and the rest is in other hands, or the space has no more points. A trial
        that was refused does not count.
        """
        with turn(self.folder), ExitStack() as stack:
            trials = self.trials()
            for trial in trials:
                if trial.state == "running" and self._held(trial, stack):
                    return trial, stack.pop_all()
            if sum(trial.state != "refused" for trial in trials) >= wanted:
                return None
            values = self._drawn(trials, wanted)
            if values is None:
                return None
            trial = self._add(values)
            stack.enter_context(writing(self.folder / trial.name, resume=True))
            return trial, stack.pop_all()

    def report(self, trial: Trial, seen: int, value: float, *, last: bool) -> None:
        """Note dev's number after ``seen`` examples; raises Pruned where the pruner gives the trial up."""
        ours = self._open(trial)
        # A trial that was killed between an evaluation and its checkpoint comes here a second time.
        if seen not in self.study.get_trials(deepcopy=False)[trial.number].intermediate_values:
            ours.report(value, seen)
        if not last and ours.should_prune():
            raise Pruned(f"below the median of the other trials after {seen:,} examples")

    def tell(self, trial: Trial, state: State, *, value: float | None = None, why: str = "") -> None:
        """What came of a trial."""
        from optuna.trial import TrialState

        ours = self._open(trial)
        if why:
            ours.set_user_attr("why", why)
        if state == "refused":
            ours.set_user_attr("refused", True)
        told = {"done": None, "pruned": TrialState.PRUNED}.get(state, TrialState.FAIL)
        self.study.tell(trial.number, value, state=told)

    def lives(self, trial: Trial, made: Sequence[str]) -> int:
        """How many times the trial was begun with nothing ``made`` in between, this time included."""
        ours = self._open(trial)
        before = ours.user_attrs.get("lives", {"made": None, "n": 0})
        n = int(before["n"]) + 1 if before["made"] == list(made) else 1
        ours.set_user_attr("lives", {"made": list(made), "n": n})
        return n

    def _held(self, trial: Trial, stack: ExitStack) -> bool:
        """Whether the trial's folder could be held: its process is no more. Refused where it cannot be written in."""
        try:
            stack.enter_context(writing(self.folder / trial.name, resume=True))
        except Held:
            return False
        return True

    def _drawn(self, trials: Sequence[Trial], wanted: int) -> dict[str, Any] | None:
        """Values that no trial had yet; where the space holds no more points than are wanted, one after another."""
        tried = [trial.values for trial in trials if trial.state != "refused"]
        held = size(self.space)
        if held is None or held > wanted:
            scratch = self._scratch(len(trials))
            for _ in range(ATTEMPTS):
                drawn = scratch.ask({one.name: _distribution(one) for one in self.space}).params
                values = {one.name: _rounded(one, drawn[one.name]) for one in self.space}
                if values not in tried and self.fits(values):
                    return values
            if held is None:
                raise Refused(f"--space: of {ATTEMPTS} points that were drawn the options take none; narrow it")
        return next((point for point in points(self.space) if point not in tried and self.fits(point)), None)

    def _scratch(self, number: int) -> Any:
        """The study in memory, to draw from. A seed for every number: one seed a process would draw the same again
        in every process and after every kill."""
        import optuna

        make = {"tpe": optuna.samplers.TPESampler, "random": optuna.samplers.RandomSampler}[self.sampler]
        sampler = make(seed=random.Random(f"{self.seed}/{number}").getrandbits(32))
        scratch = optuna.create_study(direction=self.study.direction, sampler=sampler)
        scratch.add_trials(self.study.get_trials(deepcopy=False))
        return scratch

    def _add(self, values: Mapping[str, Any]) -> Trial:
        import optuna

        distributions = {one.name: _distribution(one) for one in self.space}
        state = optuna.trial.TrialState.RUNNING
        # One write: a trial is never there without its values.
        self.study.add_trial(optuna.trial.create_trial(state=state, params=dict(values), distributions=distributions))
        return self.trials()[-1]

    def _open(self, trial: Trial) -> Any:
        """The trial for writing. optuna's ask gives such an object for new trials only; ours may be taken up again."""
        import optuna

        return optuna.trial.Trial(self.study, self.study.get_trials(deepcopy=False)[trial.number]._trial_id)


def require_optuna() -> None:
    """Refused where optuna is not installed."""
    if find_spec("optuna") is None:
        raise Refused(
            'heldout sweep draws its trials with optuna, which is not installed; pip install "heldout[sweep]"'
        )


def open_study(folder: Path, storage: Storage, *, maximize: bool, pruner: Pruner) -> Any:
    """The study in a sweep's folder (study.journal or study.db), made where it is not there; call it in a turn."""
    import optuna
    from optuna.storages import JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if storage == "journal":
        kept: Any = JournalStorage(JournalFileBackend(str(folder / "study.journal")))
    else:
        # SQLite's own 5 seconds of waiting for another writer are short on a busy machine.
        patient = {"connect_args": {"timeout": 60}}
        kept = RDBStorage(f"sqlite:///{folder / 'study.db'}", engine_kwargs=patient)
    prune = {"none": optuna.pruners.NopPruner, "median": optuna.pruners.MedianPruner}[pruner]
    return optuna.create_study(
        storage=kept,
        study_name="sweep",
        direction="maximize" if maximize else "minimize",
        pruner=prune(),
        load_if_exists=True,
    )


@contextmanager
def turn(folder: Path) -> Iterator[None]:
    """One process at a time: the others wait. The kernel ends the turn of a process that dies."""
    with (folder / "turn").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _trial(frozen: Any) -> Trial:
    states: dict[str, State] = {"RUNNING": "running", "COMPLETE": "done", "PRUNED": "pruned", "FAIL": "failed"}
    state = states[frozen.state.name]
    attributes = frozen.user_attrs
    return Trial(
        number=frozen.number,
        values=dict(frozen.params),
        state="refused" if attributes.get("refused") else state,
        value=frozen.value if state == "done" else None,
        why=attributes.get("why", ""),
        evaluations=dict(frozen.intermediate_values),
    )


def _distribution(one: Dimension) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if one.choices:
        return CategoricalDistribution(one.choices)
    # optuna warns of a range that its step does not divide.
    high = one.values[-1] if one.step else one.high
    if one.whole:
        return IntDistribution(int(one.low), int(high), log=one.log, step=int(one.step) or 1)
    return FloatDistribution(one.low, high, log=one.log, step=one.step or None)


def _rounded(one: Dimension, value: Any) -> Any:
    """Three digits are enough for a recipe; what a step makes of 0.1 + 0.2 is 0.3."""
    if one.choices or one.whole:
        return value
    if one.step:
        return float(f"{value:.12g}")
    return min(max(float(f"{value:.3g}"), one.low), one.high)
