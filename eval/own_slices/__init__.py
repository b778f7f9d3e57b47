"""Slices of the user's own: NAME=DEFINITION by --slice, kept in RUN/slices.json or in a card, beside the built-in ones.

A definition is an expression (expression.py): an example is in part "yes" or in the "rest"; a field alone, such
as about.topic: a part a value; or module:function, Python of the user's own, called with an Example and giving True,
False, None (in no part) or the name of a part. A function is imported only where the command line itself names it,
never because a file does; so it is not kept, and is named again for the report.
"""

import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from heldout.errors import Failed, Refused
from heldout.eval.own_slices.condition import as_text, fields, holds, refuse_unknown, values
from heldout.eval.own_slices.expression import Field, parse, show
from heldout.records import Card, Example, Prediction, read_card, read_gold
from heldout.runs import holding, read_json, write_json

FILE = "slices.json"
YES, REST = "yes", "rest"
#: More parts than a person reads: most often a field that is different in every example.
MOST_PARTS = 50
NAME = re.compile(r"[^\W\d][\w-]*")
FUNCTION = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
Value = Callable[[Example, Prediction], str | None]
#: What a system says that is not asked.
NOTHING = Prediction("", None)
#: The functions that this process was told of on its command line, by the slice's name; no file can add to them.
_functions: dict[str, str] = {}


def from_options(given: Sequence[str], known: Sequence[str] = ()) -> dict[str, str]:
    """The slices of --slice NAME=DEFINITION values, expressions in one way of writing; "" takes a kept one away.

    Refused for what cannot be read, and for a name of ``known``, the built-in slices. Functions that are named here may
    be imported from now on.
    """
    found: dict[str, str] = {}
    for value in given:
        name, equals, definition = (part.strip() for part in value.partition("="))
        if not equals or not NAME.fullmatch(name):
            raise Refused(f"--slice {value}: begin with a name of its own: --slice NAME='{value}'")
        if name in known:
            raise Refused(f"--slice {value}: {name!r} is a slice of heldout's own; choose another name")
        if name in found:
            raise Refused(f"--slice {value}: {name!r} is given twice; choose another name")
        found[name] = _normal(name, definition) if definition else ""
        if FUNCTION.fullmatch(definition):
            _functions[name] = definition
    return found


def _normal(name: str, definition: str) -> str:
    """The definition as it is kept; Refused naming the slice where it means nothing."""
    if FUNCTION.fullmatch(definition):
        return definition
    try:
        tree = parse(definition)
    except Refused as error:
        raise Refused(f"slice {name}: {error}") from None
    if isinstance(tree, Field) and tree.counts:
        raise Refused(f"slice {name}: {show(tree)} is a number; compare it, such as {show(tree)}>200")
    return show(tree)


def of_card(card: Card) -> dict[str, str]:
    """The definitions among a card's slices, by name."""
    return {name: text for name, equals, text in (entry.partition("=") for entry in card.slices) if equals}


def with_slices(card: Card, own: Mapping[str, str]) -> Card:
    """The card with these slices of the user's own; one of a name that it has already takes that one's place."""
    kept = {**of_card(card), **own}
    plain = [entry for entry in card.slices if "=" not in entry]
    return replace(card, slices=(*plain, *(f"{name}={text}" for name, text in kept.items() if text)))


def read_slices(folder: Path) -> dict[str, str]:
    """The slices that a run folder keeps, by name."""
    path = folder / FILE
    found = read_json(path) if path.exists() else {}
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise Refused(f'{path}: must be an object of definitions by name, such as {{"long": "tokens > 200"}}')
    return {name: _normal(name, text) for name, text in found.items()}


def scored_card(folder: Path) -> Card:
    """The card of a run folder with the slices that are kept there and this call's functions: scores are made by it."""
    return with_slices(read_card(folder / "card.json"), {**read_slices(folder), **_functions})


def family(folders: Sequence[Path]) -> list[Path]:
    """These run folders with their baselines and controls, and the runs of their seeds: what is reported together."""
    seeds = [path for folder in folders for path in [folder, *sorted(folder.glob("seed-*"))]]
    every = [
        path
        for folder in seeds
        for path in [folder, *sorted(folder.glob("controls/*")), *sorted(folder.glob("baselines/*"))]
    ]
    return [path for path in dict.fromkeys(every) if (path / "card.json").exists()]


def keep(folders: Sequence[Path], own: Mapping[str, str]) -> None:
    """Have these run folders all keep the expressions that any of them keeps, and ``own``'s, which come before those.

    Refused where two of them mean different things by one name, and for a field that no example of any gold has.
    """
    kept: dict[str, str] = {}
    before = {folder: read_slices(folder) for folder in folders}
    for folder, found in before.items():
        for name, text in found.items():
            if kept.setdefault(name, text) != text and name not in own:
                raise Refused(
                    f"{folder}/{FILE}: slice {name!r} is {text!r}, elsewhere {kept[name]!r}; say which by --slice"
                )
    kept = {name: text for name, text in {**kept, **own}.items() if text and not FUNCTION.fullmatch(text)}
    changed = [folder for folder in folders if before[folder] != kept]
    new = {name: text for name, text in own.items() if text}
    if new and folders:
        card = read_card(folders[0] / "card.json")
        paths = sorted((folders[0] / "gold").glob("*.jsonl"))
        refuse_idle(new, [example for path in paths for example in read_gold(path, card)])
    for folder in changed:
        with holding(folder):
            write_json(folder / FILE, kept)


def refuse_idle(own: Mapping[str, str], examples: Sequence[Example]) -> None:
    """Refused for a function that is not there, and for a field that no example has or that has too many values."""
    for name, text in own.items():
        if FUNCTION.fullmatch(text):
            _calling(name, text)
            continue
        tree = parse(text)
        refuse_unknown(tree, examples, f"slice {name}")
        parts = {_value_of(tree, example) for example in examples} if isinstance(tree, Field) else ()
        if len(parts) > MOST_PARTS:
            raise Refused(f"slice {name}: {text} has {len(parts)} values; compare it, such as {text}=…")


def runnable(name: str, text: str) -> bool:
    """Whether a definition can be cut here: an expression always, a function where the command line names it."""
    return not FUNCTION.fullmatch(text) or text in _functions.values()


def refuse_unnamed_functions(card: Card) -> None:
    """Refused where scoring needs a function that the command line did not name."""
    for name, text in of_card(card).items():
        if not runnable(name, text):
            raise Refused(
                f"slice {name} is the function {text}, which runs only where the command line names it: "
                f"give --slice {name}={text}"
            )


def value_of(name: str, text: str) -> tuple[Value, bool, str | None]:
    """How a definition cuts: the part of an example, whether it looks at the system, and what the others are called."""
    if FUNCTION.fullmatch(text):
        return _calling(name, text), False, None
    tree = parse(_normal(name, text))
    of_system = any(field.path[0] == "seen" for field in fields(tree))
    if isinstance(tree, Field):
        return (lambda example, prediction: _value_of(tree, example, prediction)), of_system, None
    return (lambda example, prediction: YES if holds(tree, example, prediction) else None), of_system, REST


def _value_of(tree: Field, example: Example, prediction: Prediction = NOTHING) -> str | None:
    found = sorted(set(map(as_text, values(tree, example, prediction))))
    return ", ".join(found) if found else None


def _calling(name: str, text: str) -> Value:
    """The user's function, called with the example alone: a slice may not depend on the system."""
    module, _, attribute = text.partition(":")
    with _working_folder_first():
        try:
            function = getattr(importlib.import_module(module), attribute)
        except Exception as error:
            raise Refused(f"slice {name}: {text} cannot be imported ({type(error).__name__}: {error})") from None

    def value(example: Example, prediction: Prediction) -> str | None:
        try:
            part = function(example)
        except Exception as error:
            raise Failed(f"slice {name}: {text} raised {type(error).__name__} on id {example.id!r}: {error}") from None
        if not isinstance(part, str | bool | None):
            raise Failed(
                f"slice {name}: {text} gave {part!r:.40} on id {example.id!r}; give True, False, None or a name"
            )
        return (YES if part else REST) if isinstance(part, bool) else part

    return value


@contextmanager
def _working_folder_first() -> Iterator[None]:
    """An installed command does not look for modules where it is called; the user's function most often lies there."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
