"""Kind label in the report: one label a text, or a pair of texts (NLI), with what contrast pairs and premises tell."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from heldout.eval.labels import LabelTable
from heldout.eval.metrics import find
from heldout.eval.report import kind_sentences as sentences
from heldout.eval.report.inputs import DataSet, Inputs, System
from heldout.eval.report.marks import plain
from heldout.eval.report.pieces import Field, Member
from heldout.eval.report.view import Body, Cards, View, Words
from heldout.eval.report.wording import bounded, sure
from heldout.records import Example, Prediction

#: The two texts of NLI.
PAIR = {"premise", "hypothesis"}
#: A contrast pair of many members would be a page of its own.
MEMBERS = 3
#: Baselines that see only one of the two texts: what they get right needs no inference.
BLIND = "hypothesis-only"


def _words(inputs: Inputs) -> Words:
    return Words("pair", "pairs") if _is_nli(inputs) else Words("text", "texts")


def _is_nli(inputs: Inputs) -> bool:
    return inputs.tests[0].examples[0].text.keys() >= PAIR


def _cards(inputs: Inputs, system: System, data: DataSet) -> Cards:
    predictions, table = system.predictions[data.name], inputs.table(system, data)
    assert isinstance(table, LabelTable)
    wrong = np.flatnonzero(table.correct == 0)
    confidence = table.events.confidence if table.scored else None
    order = wrong if confidence is None else wrong[np.argsort(-confidence[wrong], kind="stable")]
    bundles = _bundles(data.examples)

    def body(row: int, room: int) -> Body:
        example = data.examples[row]
        others = [k for k in bundles.get(str(example.about.get("pair")), ()) if k != row][:MEMBERS] if room else []
        share = room // (1 + len(others))
        with_ = "" if confidence is None else f" with {sure(confidence[row])} confidence"
        return Body(
            heading=f"Answered {_answer(predictions[row], table, row)}{with_}; gold is {example.gold}",
            fields=texts(example, share),
            keys={"gold": (str(example.gold),)},
            beside=tuple(_member(data.examples[k], _answer(predictions[k], table, k), table, k, share) for k in others),
        )

    return Cards([(None if confidence is None else float(confidence[k]), int(k)) for k in order], body)


def _bundles(examples: Sequence[Example]) -> Mapping[str, list[int]]:
    """The rows of each contrast pair, by its name."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, example in enumerate(examples):
        if example.about.get("pair") is not None:
            rows[str(example.about["pair"])].append(row)
    return rows


def texts(example: Example, room: int) -> tuple[Field, ...]:
    """The fields of an example's text, which share ``room`` bytes."""
    share = room // max(1, len(example.text))
    return tuple(plain(name, value, share) for name, value in example.text.items()) if room else ()


def _answer(prediction: Prediction, table: LabelTable, row: int) -> str:
    """The label that was answered, and the one it is counted as where the set's gold has fewer labels."""
    counted = table.labels[table.answer[row]]
    return f"{prediction.answer}" if counted == prediction.answer else f"{prediction.answer} (counted as {counted})"


def _member(example: Example, answer: str, table: LabelTable, row: int, room: int) -> Member:
    judged = "rightly" if table.correct[row] else "wrongly"
    heading = f"The same pair's other member: {judged} answered {answer}; gold is {example.gold}"
    return Member(heading, texts(example, room))


def _more(inputs: Inputs) -> Iterator[str]:
    """What the hypothesis alone can do, contrast pairs, and sets of collapsed labels."""
    yield from _artefacts(inputs)
    for data in inputs.tests:
        entry = inputs.main.scores.get(data.name, {}).get("metrics", {}).get("pair_consistency")
        if bounded(entry)[0] is not None:
            yield sentences.pairs(data.name, bounded(entry), int(entry["n"]))
    made = set(inputs.card.collapse.values()) - set(inputs.card.labels)
    two_way = [data.name for data in inputs.tests if made & {example.gold for example in data.examples}]
    if two_way and len(two_way) < len(inputs.tests):
        yield sentences.collapsed(two_way, inputs.card.collapse, len(inputs.card.labels))


def _artefacts(inputs: Inputs) -> Iterator[str]:
    if not _is_nli(inputs):
        return
    first, metric = inputs.tests[0].name, inputs.metric
    found = [(s, bounded(s.scores.get(first, {}).get("metrics", {}).get(metric))[0]) for s in inputs.systems[1:]]
    known = [(system, value) for system, value in found if value is not None and find(metric).higher_is_better]
    majority = next((value for system, value in known if system.options.get("kind") == "majority"), None)
    for system, value in known:
        if system.options.get("kind") == BLIND or system.options.get("only") == "hypothesis":
            yield sentences.artefact(system.name, first, metric, value, majority)


VIEW = View(
    words=_words,
    cards=_cards,
    filters=(("gold", "Gold label"),),
    trust="of its answers given with 80% confidence, 80% should be right.",
    more=_more,
)
