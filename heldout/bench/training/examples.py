"""A task's data and model as the examples of transformers prepare them (run_glue, run_ner, run_qa)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.bench.training.work import Work
from heldout.errors import Refused
from heldout.records import Example

#: run_qa's --doc_stride.
DOC_STRIDE = 128


@dataclass(frozen=True)
class Prepared:
    """What a Trainer is given; ``target`` reads a feature's target as Taken has it."""

    model: Any
    tokenizer: Any
    dataset: Any
    collator: Callable[[list[dict[str, Any]]], Any]
    target: Callable[[dict[str, Any]], Any]


def prepared(work: Work) -> Prepared:
    """The task's dataset, mapped through the tokenizer, its collator and its model with a fresh head."""
    import datasets
    from transformers import AutoTokenizer

    datasets.disable_progress_bars()
    makers = {"sentiment": _texts, "nli": _texts, "ner": _words, "qa": _questions}
    if work.task.name not in makers:
        raise Refused(f"heldout bench train: no example of transformers does {work.task.name}")
    tokenizer = AutoTokenizer.from_pretrained(work.options.model)
    return makers[work.task.name](work, tokenizer)


def _model(name: str, work: Work) -> Any:
    import torch
    import transformers

    labels = list(work.task.head(work.card))
    # A span's start and end are no labels to the examples.
    head = {} if work.card.kind == "span" else _labelled(labels)
    return getattr(transformers, name).from_pretrained(work.options.model, dtype=torch.float32, **head)


def _labelled(labels: Sequence[str]) -> dict[str, Any]:
    names = dict(enumerate(labels))
    return {"num_labels": len(labels), "id2label": names, "label2id": {name: row for row, name in names.items()}}


def _texts(work: Work, tokenizer: Any) -> Prepared:
    """run_glue: one text or two, truncated, padded batch by batch."""
    from datasets import Dataset
    from transformers import DataCollatorWithPadding

    labels = {label: row for row, label in enumerate(work.task.head(work.card))}
    fields = list(work.train[0].text)
    columns: dict[str, list[Any]] = {name: [example.text[name] for example in work.train] for name in fields}
    columns["label"] = [labels[example.gold] for example in work.train]

    def tokenised(rows: dict[str, Any]) -> Any:
        return tokenizer(*(rows[name] for name in fields), truncation=True, max_length=work.options.max_length)

    data = Dataset.from_dict(columns).map(tokenised, batched=True, remove_columns=fields)
    model = _model("AutoModelForSequenceClassification", work)
    return Prepared(model, tokenizer, data, DataCollatorWithPadding(tokenizer), lambda feature: feature["label"])


def _words(work: Work, tokenizer: Any) -> Prepared:
    """run_ner: words, the label at the first piece of each, −100 elsewhere."""
    from datasets import Dataset
    from transformers import DataCollatorForTokenClassification

    labels = {label: row for row, label in enumerate(work.task.head(work.card))}
    tags = [[labels[tag] for tag in example.gold] for example in work.train]
    columns = {"words": [list(example.text["words"]) for example in work.train], "tags": tags}

    def tokenised(rows: dict[str, Any]) -> Any:
        found = tokenizer(rows["words"], truncation=True, max_length=work.options.max_length, is_split_into_words=True)
        found["labels"] = [_at_first(found.word_ids(row), of) for row, of in enumerate(rows["tags"])]
        return found

    data = Dataset.from_dict(columns).map(tokenised, batched=True, remove_columns=list(columns))
    collator = DataCollatorForTokenClassification(tokenizer)
    model = _model("AutoModelForTokenClassification", work)
    return Prepared(model, tokenizer, data, collator, lambda feature: feature["labels"])


def _at_first(words: Sequence[int | None], tags: Sequence[int]) -> list[int]:
    before = [None, *words[:-1]]
    return [-100 if word is None or word == last else tags[word] for word, last in zip(words, before, strict=True)]


def _questions(work: Work, tokenizer: Any) -> Prepared:
    """run_qa: a feature for every overlapping window of the passage, [CLS] where the answer is not in it.

    Its windows are all padded to max_length (--pad_to_max_length, its default) unless it is given no; here they are
    padded batch by batch, as the other examples do.
    """
    from datasets import Dataset
    from transformers import DataCollatorWithPadding

    columns = {name: [example.text[name] for example in work.train] for name in ("question", "context")}
    columns["answer"] = [_answer(example) for example in work.train]
    options = work.options
    stride = min(DOC_STRIDE if options.stride is None else options.stride, options.max_length // 2)

    def tokenised(rows: dict[str, Any]) -> Any:
        found = tokenizer(
            rows["question"],
            rows["context"],
            truncation="only_second",
            max_length=options.max_length,
            stride=stride,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
        places = [
            _span(offsets, found.sequence_ids(row), rows["answer"][example])
            for row, (example, offsets) in enumerate(
                zip(found.pop("overflow_to_sample_mapping"), found.pop("offset_mapping"), strict=True)
            )
        ]
        found["start_positions"], found["end_positions"] = ([place[side] for place in places] for side in (0, 1))
        return found

    data = Dataset.from_dict(columns).map(tokenised, batched=True, remove_columns=list(columns))
    model = _model("AutoModelForQuestionAnswering", work)

    def target(feature: dict[str, Any]) -> Any:
        return [feature["start_positions"], feature["end_positions"]]

    return Prepared(model, tokenizer, data, DataCollatorWithPadding(tokenizer), target)


def _answer(example: Example) -> dict[str, int]:
    """The characters of the first answer; (−1, −1) where there is none."""
    if not example.gold:
        return {"start": -1, "end": -1}
    first = example.gold[0]
    return {"start": first["start"], "end": first["start"] + len(first["text"])}


def _span(offsets: Sequence[Sequence[int]], owners: Sequence[int | None], answer: dict[str, int]) -> tuple[int, int]:
    """The first and last token of the answer in this window, (0, 0) where it does not stand in it whole."""
    context = [place for place, owner in enumerate(owners) if owner == 1]
    inside = context and offsets[context[0]][0] <= answer["start"] and answer["end"] <= offsets[context[-1]][1]
    if answer["start"] < 0 or not inside:
        return 0, 0
    start = max(place for place in context if offsets[place][0] <= answer["start"])
    end = min(place for place in context if offsets[place][1] >= answer["end"])
    return start, end
