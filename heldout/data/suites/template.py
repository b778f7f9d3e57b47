"""What ``heldout suite new`` writes: a few cases of a task with comments, to be replaced by one's own."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from heldout.errors import Refused

FIELDS: Mapping[str, Sequence[tuple[str, str]]] = {
    "sentiment": (
        ("text", "the text"),
        ("gold", "its label, by the name on your run's card; a pair of expect inv or dir may have none"),
    ),
    "nli": (
        ("premise", "what is given"),
        ("hypothesis", "what may follow from it"),
        ("gold", "entailment, neutral or contradiction (or the names on your run's card)"),
    ),
    "qa": (
        ("question", "the question"),
        ("context", "the passage"),
        ("answers", "the answers that are right, each a piece of the passage that stands there once; [] for none"),
    ),
    "ner": (("words", "the words of a sentence"), ("tags", "a tag for each word: O, B-TYPE, I-TYPE")),
}
COMMON = (
    ("pair", "what joins a text with its changed form, any name; leave it out where a text stands alone"),
    ("role", "original or changed, in the pair"),
    ("tag", "what the case tests; results are told apart by it"),
    (
        "expect",
        "of the changed text: mft (its own gold), inv (the same answer as the original), dir (a score that moves)",
    ),
    ("direction", "for dir: +LABEL or -LABEL, its score must rise or fall; -positive:0.1 is by at least 0.1"),
)
_WORDS = ["Ada", "Moor", "lives", "here"]
CASES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "sentiment": (
        {"text": "The soup was warm.", "gold": "positive", "pair": "soup", "role": "original"},
        {
            **{"text": "The soup wasn't warm.", "gold": "negative", "pair": "soup", "role": "changed"},
            **{"tag": "contracted not", "expect": "mft"},
        },
        {"text": "We liked our waiter Ann.", "gold": "positive", "pair": "waiter", "role": "original"},
        {
            **{"text": "We liked our waiter Raj.", "gold": "positive", "pair": "waiter", "role": "changed"},
            **{"tag": "another name", "expect": "inv"},
        },
        {
            **{"text": "We really liked our waiter Ann.", "gold": "positive", "pair": "waiter", "role": "changed"},
            **{"tag": "intensified", "expect": "dir", "direction": "+positive:-0.05"},
        },
    ),
    "nli": (
        {
            **{"premise": "A dog barks.", "hypothesis": "A dog is barking.", "gold": "entailment"},
            **{"pair": "dog", "role": "original"},
        },
        {
            **{"premise": "A dog barks.", "hypothesis": "No dog is barking.", "gold": "contradiction"},
            **{"pair": "dog", "role": "changed", "tag": "no", "expect": "mft"},
        },
    ),
    "qa": (
        {
            **{"question": "Who came?", "context": "Ada came, and Ben did not.", "answers": ["Ada"]},
            **{"pair": "came", "role": "original"},
        },
        {
            **{"question": "Who did not come?", "context": "Ada came, and Ben did not.", "answers": ["Ben"]},
            **{"pair": "came", "role": "changed", "tag": "not", "expect": "mft"},
        },
    ),
    "ner": (
        {"words": _WORDS, "tags": ["B-person", "I-person", "O", "O"], "pair": "lives", "role": "original"},
        {
            **{"words": [word.lower() for word in _WORDS], "tags": ["B-person", "I-person", "O", "O"]},
            **{"pair": "lives", "role": "changed", "tag": "lower case", "expect": "mft"},
        },
    ),
}


def template(task: str, name: str) -> str:
    """The lines of a new suite for a task, which ``name`` is the file of; Refused for a task without a template."""
    if task not in CASES:
        raise Refused(f"--task {task}: there are templates for {', '.join(CASES)}")
    described = [*FIELDS[task], *COMMON]
    width = max(len(field) for field, _ in described)
    lines = [
        f"# Cases of your own for {task}: a JSON object a line. Lines that begin with # are not read; keys that you do",
        "# not need may be left out. Replace these examples.",
        *(f"#   {field:<{width}}  {meaning}" for field, meaning in described),
        f"# heldout suite check {name} --task {task}   says what is wrong, row by row",
        f"# heldout predict RUN --data mine={name}   answers and scores it, phenomenon by phenomenon",
        *(json.dumps(case, ensure_ascii=False) for case in CASES[task]),
    ]
    return "\n".join(lines) + "\n"
