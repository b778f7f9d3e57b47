"""How SQuAD compares an answer with gold answers: exact match and F1 over words, as the official scorers do.

Both compare normalised texts: lower case, without ASCII punctuation, without a, an and the, single spaces. The two
versions (Rajpurkar et al. 2016 and 2018) differ where nothing is left of a text: by version 1.1 two empty texts have
an F1 of 0; by version 2.0 it is 1, gold answers of which nothing is left do not count, and no gold answer at all
means that "" is right.
"""

import re
import string
from collections import Counter
from collections.abc import Sequence

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """A text as it is compared.

    >>> normalise("The  Well-Tempered\\tClavier.")
    'welltempered clavier'
    """
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def judge(golds: Sequence[str], answer: str, *, second: bool) -> tuple[float, float]:
    """Exact match and F1 of an answer, each the largest over gold answers; ``second`` is by the rules of version 2.0.

    >>> judge(["Ada Lovelace", "Ada"], "the Lovelace", second=False)
    (0.0, 0.6666666666666666)
    >>> judge([], "", second=True), judge([], "Ada", second=True)
    ((1.0, 1.0), (0.0, 0.0))
    """
    given = normalise(answer)
    wanted = [normalise(gold) for gold in golds]
    if second:
        wanted = [text for text in wanted if text] or [""]
    f1 = max(word_f1(text.split(), given.split(), 1.0 if second else 0.0) for text in wanted)
    return float(given in wanted), f1


def word_f1(gold: Sequence[str], answer: Sequence[str], both_empty: float) -> float:
    """2 P R / (P + R) of the words two texts share, each as often as both have it; 0 where they share none."""
    if not gold and not answer:
        return both_empty
    shared = (Counter(gold) & Counter(answer)).total()
    if not shared:
        return 0.0
    # In the order of the official scorers, so that the last digit is theirs too.
    precision, recall = shared / len(answer), shared / len(gold)
    return 2 * precision * recall / (precision + recall)
