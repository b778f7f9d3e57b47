"""A data set ready for several systems at once: each member's table and parts, what is resampled, what can be computed.

Slices that belong to one system (``of_system``) are left out: they are no common ground.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.errors import Refused
from heldout.eval.comparison.inputs import Contender, Contest
from heldout.eval.metrics import Metric, chosen, find
from heldout.eval.resampling import Bundle, Statistic, bootstrap
from heldout.eval.slices import Part, cut
from heldout.eval.statistics import Sampling, group_codes
from heldout.eval.table import FloatArray, Table
from heldout.eval.tabulate import tabulate

#: By member of a system and key of a slice.
Parts = Mapping[tuple[int, int], Mapping[str, Part]]


@dataclass(frozen=True)
class Field:
    """A data set ready to compare on: the systems that answer it, every member's parts, what is resampled.

    tables: by (system, slice), of each member. keys: the slices, the whole among them.
    """

    name: str
    systems: tuple[Contender, ...]
    parts: Parts
    tables: Mapping[tuple[int, str], Sequence[Table]]
    keys: tuple[str, ...]
    metrics: tuple[Metric, ...]
    sampling: Sampling

    def drawn(self) -> tuple[dict[tuple[int, str, str], list[FloatArray]], dict[str, int]]:
        """By (system, slice, metric) the replicates (R,) of each member, all from one resampling; and by slice how many
        units hold anything of it.
        """
        order = [(s, m, metric) for s, m in self.parts for metric in self.metrics]
        bundles = {}
        for key in self.keys:
            columns = ((x, x.columns(self.tables[s, key][m])) for s, m, x in order)
            statistics = (Statistic(found, x.value) for x, found in columns)
            bundles[key] = Bundle(self.parts[0, 0][key].rows, statistics, self.sampling)
        found: dict[tuple[int, str, str], list[FloatArray]] = {}
        for key, replicates in zip(bundles, bootstrap(list(bundles.values()), self.sampling), strict=True):
            for (s, _, metric), values in zip(order, replicates, strict=True):
                found.setdefault((s, key, metric.name), []).append(values)
        return found, {key: bundle.filled for key, bundle in bundles.items()}


def prepare(
    contest: Contest, name: str, metrics: Sequence[str], settings: Sampling, bins: int
) -> tuple[Field, list[str]]:
    """The data set with what can be computed of it, and notes on what cannot."""
    examples, card = contest.golds[name].examples, contest.card
    systems = tuple(system for system in contest.systems if system.has(name))
    answers = {(s, m): member[name] for s, system in enumerate(systems) for m, member in enumerate(system.members)}
    tables = {key: tabulate(card, examples, said, bins=bins) for key, said in answers.items()}
    named = {f"{s}/{m}": table for (s, m), table in tables.items()}
    found = cut(card, list(zip(examples, answers[0, 0], strict=True)), named)
    parts = {(s, m): found[f"{s}/{m}"] for s, m in tables}
    keys = tuple(key for key, part in parts[0, 0].items() if not part.of_system)
    cut_out = {
        (s, key): [parts[s, m][key].table.take(parts[s, m][key].rows) for m in range(len(system.members))]
        for s, system in enumerate(systems)
        for key in keys
    }
    wanted = _wanted(metrics, contest, tables[0, 0])
    lacking = {m.name: [k for k, table in tables.items() if m.lacking(table)] for m in wanted}
    notes = []
    for place, system in enumerate(systems):
        without = [metric for metric, places in lacking.items() if any(s == place for s, _ in places)]
        if without:
            notes.append(f"Not compared in {', '.join(without)}: {system.name} does not give all the scores they need.")
    notes += [
        f"Not held out for {system.name}: {', '.join(things)} fitted on {name}."
        for system in systems
        if (things := system.fitted.get(name))
    ]
    able = tuple(m for m in wanted if not lacking[m.name])
    if not able:
        raise Refused(f"{name}: nothing to compare; {notes[0]}")
    sampling = Sampling(len(examples), group_codes(examples), settings.replicates, settings.seed)
    return Field(name, systems, parts, cut_out, keys, able, sampling), notes


def _wanted(names: Sequence[str], contest: Contest, table: Table) -> list[Metric]:
    """The metrics asked for, else the card's with those that they bring along; Refused where one is of other cards."""
    metrics = [find(name) for name in dict.fromkeys(names)] or chosen(contest.card, table)
    for metric in metrics:
        if contest.card.kind not in metric.kinds or (metric.only_two_labels and len(contest.card.labels) != 2):
            mine = ", ".join(m.name for m in chosen(contest.card, table))
            raise Refused(f"metric {metric.name!r} does not suit card {contest.card.name!r}; it has {mine}")
    return metrics
