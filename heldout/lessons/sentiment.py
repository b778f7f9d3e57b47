"""Four reviews, a lexicon and a probability: right answers, ranking and calibration are three questions.

The lexicon says positive where it finds 'good', negative where it finds 'bad'; heldout/baselines/lexicon.py has that
rule. The contextual classifier's probabilities are stipulated by the chapter, nobody measured them.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.baselines.lexicon import SEEDS, contains
from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import bars
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REVIEWS = ("The film is good.", "The film is not good.", "The film is bad.", "The film is not bad.")
TARGETS = np.array([1, 0, 0, 1])
P: Floats = np.array([0.90, 0.60, 0.10, 0.70])
NEGATED = np.array(["not" in review for review in REVIEWS])
THRESHOLDS = (0.05, 0.1, 0.5, 0.6, 0.65, 0.7, 0.9)


def accuracy(answers: Floats, rows: Floats | slice = slice(None)) -> float:
    """The share of right answers among some of the reviews."""
    return float((answers == TARGETS)[rows].mean())


def decide(p: Floats, threshold: float = 0.5) -> Floats:
    """1 where p is above the threshold; at the threshold itself 0."""
    return (p > threshold).astype(float)


def auc(p: Floats) -> float:
    """The share of (positive, negative) pairs that p puts in order."""
    positive, negative = p[TARGETS == 1], p[TARGETS == 0]
    return float((positive[:, None] > negative).mean())


def rate(p: float = 0.9, draws: int = 100_000, seed: int = 0) -> float:
    """The share of positives among reviews that a calibrated classifier gives probability p."""
    return float((np.random.default_rng(seed).random(draws) < p).mean())


def values() -> Values:
    """The table of four reviews; what calibration means."""
    lexicon = np.array([float(contains(review, SEEDS) > 0) for review in REVIEWS])
    answers, likelihood = decide(P), np.where(TARGETS == 1, P, 1 - P)
    subsets = {"negation_subset": NEGATED, "plain_subset": ~NEGATED}
    wrong = {"lexicon": lexicon != TARGETS, "contextual": answers != TARGETS}
    return {
        "ch.sentiment": {
            **{"lexicon": lexicon, "contextual": answers},
            **{"lexicon_accuracy": accuracy(lexicon), "contextual_accuracy": accuracy(answers)},
            **{
                f"{name}_errors": [r for r, bad in zip(REVIEWS, rows, strict=True) if bad]
                for name, rows in wrong.items()
            },
            **{
                name: {"lexicon": accuracy(lexicon, rows), "contextual": accuracy(answers, rows)}
                for name, rows in subsets.items()
            },
            **{"log_loss": -np.log(likelihood).mean(), "brier": ((P - TARGETS) ** 2).mean(), "auc": auc(P)},
            "threshold_accuracy": {str(t): accuracy(decide(P, t)) for t in THRESHOLDS},
        },
        "ch.calibration": {
            "rate": rate(),
            # Logits ten times as large are as well normalised, and far too sure.
            "miscalibrated_softmax": softmax(10 * np.log([0.9, 0.1])).sum(),
        },
    }


def show() -> str:
    """The reviews; accuracy by threshold; the scores of the probabilities."""
    found = values()["ch.sentiment"]
    words = ("Negative", "Positive")
    rows = [
        [review, words[t], words[int(lex)], p, words[int(c)]]
        for review, t, lex, p, c in zip(REVIEWS, TARGETS, found["lexicon"], P, found["contextual"], strict=True)
    ]
    reviews = table(["review", "target", "lexicon", "p₊", "contextual at 0.5"], rows, digits=2)
    right = table(
        ["accuracy", "lexicon", "contextual"],
        [
            ["all four", found["lexicon_accuracy"], found["contextual_accuracy"]],
            ["negated", *found["negation_subset"].values()],
            ["plain", *found["plain_subset"].values()],
        ],
        digits=2,
    )
    cuts = table(["threshold", "accuracy"], found["threshold_accuracy"].items(), digits=2)
    said = f"AUC {found['auc']:.2f}, Brier {found['brier']:.4f}, log loss {found['log_loss']:.4f}"
    return "\n\n".join([reviews, right, f"{cuts}\n{said}"])


def picture(axes: "Axes") -> None:
    """The probabilities, and the threshold between right and wrong."""
    bars(axes, {"p₊": [*P]}, [review.replace("The film is", "…") for review in REVIEWS], y="P(positive | review)")
    axes.axhline(0.5, color="tab:red")


LESSON = Lesson(
    name="sentiment",
    title="four reviews: a lexicon gets two, a contextual classifier three, and neither number is calibration",
    where="chapter 23.9",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Why does the lexicon fail on both negated reviews? It reads 'good' and 'bad', not what stands before them.
A threshold of 0.65 gets all four right: is it the better classifier? It was chosen on the four test rows. The ranking
(AUC 1) was perfect before; a threshold must be fitted on other data.
What does the rule say to 'good but not bad'? Nothing: it holds both words. heldout's lexicon then gives train's most
frequent label.
Does summing to 1 make p calibrated? No: softmax of any logits does. Of reviews given 0.9 about 90% must be positive.
What would a real comparison need? An untouched sample of the reviews to come, overall and by negation and domain.""",
)
