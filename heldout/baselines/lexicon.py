"""Lexicon: answers by counting words of praise and of blame; nothing is learnt but the answer to a tie.

Two rules, both blind to negation on purpose ("not good" counts as good), which is what the negation slice shows:

* ``seeds``: positive if the text contains 'good' as a word, negative if it contains 'bad'; case is folded, and
  'goodness' is another word. A text with both or with neither gets the label that train has most of: the rule says
  nothing there, and an answer must be given.
* ``full``: the sign of (positive words − negative words), each occurrence counted, by the packaged lexicon
  (eval/slices/opinion_words.json) or a file of one's own; a sum of nought gets the label that train has most of.
  The packaged words were chosen without looking at any data set.

On IMDb's 25,000 test reviews ``full`` is right on 0.771, ``seeds`` on 0.545.

Answers only: a count is no probability, so there are no scores, and what needs scores says so in the report.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from heldout.baselines._contract import Baseline, BaselineOptions, Fitted, most_frequent, text_of
from heldout.errors import Refused
from heldout.records import Card, Example, Prediction

#: Words with their polarity, above nought for praise and below for blame.
Lexicon = Mapping[str, float]
SEEDS: Lexicon = {"good": 1.0, "bad": -1.0}
#: A word: letters and digits, joined by hyphens or apostrophes (well-acted, don't); _good_ holds the word good.
_PART = r"[^\W_]+"
_WORD = re.compile(rf"{_PART}(?:[-'’]{_PART})*")
_POLES = {"positive": 1.0, "negative": -1.0}


def fit(train: Sequence[Example], dev: Sequence[Example], card: Card, seed: int, options: BaselineOptions) -> Fitted:
    """Find the card's two poles and train's majority; Refused for a card whose labels name no poles."""
    poles = {pole: label for label in card.labels for pole in _POLES if label.casefold() in (pole, pole[:3])}
    if len(poles) < 2:
        raise Refused(
            f"lexicon: not applicable to labels {list(card.labels)}, which name no positive and negative;"
            " rename them with --label FROM=positive, or leave this baseline out"
        )
    if options.rule == "seeds" and options.lexicon:
        raise Refused(f"lexicon: --rule seeds has its own two words; leave out --lexicon {options.lexicon}")
    lexicon = SEEDS if options.rule == "seeds" else read_lexicon(options.lexicon)
    judge = contains if options.rule == "seeds" else balance
    otherwise = most_frequent(train, card.labels)

    def answer(example: Example) -> str:
        value = judge(text_of(example), lexicon)
        return poles["positive"] if value > 0 else poles["negative"] if value < 0 else otherwise

    return Fitted(lambda examples: [Prediction(example.id, answer(example)) for example in examples])


def matches(text: str, lexicon: Lexicon) -> Iterator[str]:
    """The words of the text that the lexicon has, in order; a joined word it lacks is looked up part by part.

    >>> list(matches("Well-acted, GOOD; no goodness.", {"good": 1.0, "well": 1.0}))
    ['well', 'good']
    """
    for word in _WORD.findall(text.casefold()):
        if word in lexicon:
            yield word
        elif not word.isalnum():
            yield from (part for part in re.findall(_PART, word) if part in lexicon)


def balance(text: str, lexicon: Lexicon) -> float:
    """The sum of the polarities of the words that occur, each occurrence counted; exact, so a tie is a tie."""
    return math.fsum(lexicon[word] for word in matches(text, lexicon))


def contains(text: str, lexicon: Lexicon) -> float:
    """The sum of the polarities of the words that occur, each word counted once (the seeds' 'contains')."""
    return math.fsum(lexicon[word] for word in set(matches(text, lexicon)))


def read_lexicon(path: Path | None) -> Lexicon:
    """Read a lexicon: .json {"positive": [...], "negative": [...]}, else lines of word TAB polarity; None: our own.

    A polarity is ``positive``, ``negative`` or a number. Refused with file and row where a line is anything else.
    """
    if path is None:
        packaged = resources.files("heldout.eval.slices").joinpath("opinion_words.json").read_text(encoding="utf-8")
        return _from_json(Path("opinion_words.json"), packaged)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Refused(f"{path}: the lexicon cannot be read ({error.strerror}); give --lexicon a file") from None
    except UnicodeDecodeError as error:
        raise Refused(f"{path}: not UTF-8 at byte {error.start}; save the lexicon as UTF-8") from None
    return _from_json(path, text) if path.suffix == ".json" else _from_lines(path, text)


def _from_json(path: Path, text: str) -> Lexicon:
    try:
        sides = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise Refused(f"{path}: the lexicon is not JSON ({error})") from None
    if not isinstance(sides, dict) or set(sides) != set(_POLES) or not all(isinstance(v, list) for v in sides.values()):
        raise Refused(f'{path}: a lexicon in JSON is {{"positive": [words], "negative": [words]}}')
    rows = [(side, n, word) for side in _POLES for n, word in enumerate(sides[side], 1)]
    return _collect(path, [(f"{path}, {side} word {n}", word, _POLES[side]) for side, n, word in rows])


def _from_lines(path: Path, text: str) -> Lexicon:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            where, (word, *rest) = f"{path}, line {number}", line.split("\t")
            rows.append((where, word, _polarity(where, rest)))
    return _collect(path, rows)


def _polarity(where: str, columns: Sequence[str]) -> float:
    """The second column as a number."""
    try:
        (value,) = columns
        number = _POLES[value.strip()] if value.strip() in _POLES else float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise Refused(f"{where}: must be a word, a tab and its polarity (positive, negative or a number)")
    return number


def _collect(path: Path, rows: Sequence[tuple[str, Any, float]]) -> Lexicon:
    """The rows as one lexicon; Refused for what could never match, an opposite second entry, or no entry at all."""
    lexicon: dict[str, float] = {}
    for where, word, polarity in rows:
        key = word.strip().casefold() if isinstance(word, str) else ""
        if not _WORD.fullmatch(key):
            raise Refused(f"{where}: {word!r} is not one word, so it could never be found; leave it out")
        if lexicon.setdefault(key, polarity) != polarity:
            raise Refused(f"{where}: {word!r} stands here a second time with another polarity; keep one")
    if not lexicon:
        raise Refused(f"{path}: the lexicon holds no words; give lines of a word, a tab and its polarity")
    return lexicon


BASELINE = Baseline("lexicon", fit, "golds")
