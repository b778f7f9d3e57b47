"""One novel, one run: what a table of neighbours does and does not show.

The listing trains CBOW on War and Peace, and the chapter shows a picture and a table. Here are its parts that need no
novel: the preparation of the text, the options that stand behind gensim's defaults, and the cosines held against those
of random pairs.
"""

from typing import TYPE_CHECKING, Any

from heldout.lessons._contract import Lesson, Values, table
from heldout.lessons._pictures import bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The listing's first five lines as the file has them: the body of ``with`` lost its indentation.
LISTING = "from gensim.models import Word2Vec\nfrom sklearn.decomposition import PCA\n#\n"
LISTING += "with open('data/warpeace.txt', 'r') as file:\nText = file.read()"
SMALL = 'He said, "Go!" The soldier (a Frenchman) fell. The lady--young--wept; the battle ended.\n'
SMALL += "The war... began. ?! . End."
#: What gensim 4.4.0 does where the listing says nothing.
DEFAULTS = {
    **{"sg": 0, "hs": 0, "negative": 5, "epochs": 5, "window": 5, "ns_exponent": 0.75, "cbow_mean": 1},
    **{"sample": 0.001, "alpha": 0.025, "min_alpha": 0.0001, "shrink_windows": 1, "vector_size": 100},
}
#: What the chapter reports of its run.
STATED: dict[str, Any] = {
    "cosines": {"soldier-Frenchman": 0.971, "soldier-lady": 0.968, "battle-war": 0.933, "battle-fact": 0.932},
    "counts": {"soldier": 182, "Frenchman": 95, "lady": 76, "battle": 333, "war": 258, "fact": 151},
    **{"soldier_battle": 0.694, "soldier_ballroom": 0.907, "random_pairs_mean": 0.70, "random_pairs_p90": 0.90},
    **{"military_mean": 0.80, "military_social_mean": 0.79, "social_mean": 0.91},
    **{"pca_explained": 0.806, "pca_components": 2, "n_selected": 14},
}


def sentences(text: str) -> list[list[str]]:
    """A text as the listing cuts it: sentences at '. ', words at white space, stripped of .,!?;:()[] at both ends.

    >>> sentences("Well (he said). No!")
    [['Well', 'he', 'said'], ['No']]
    """
    cut = ([word.strip(".,!?;:()[]") for word in part.split()] for part in text.split(". "))
    return [kept for words in cut if (kept := [word for word in words if word])]


def compile_error(code: str) -> str:
    """The kind and line of the error that Python finds in a listing, or an empty string."""
    try:
        compile(code, "listing", "exec")
    except SyntaxError as error:
        return f"{type(error).__name__} line {error.lineno}"
    return ""


def values() -> Values:
    """The preparation, the defaults, the table as it is stated."""
    cut = sentences(SMALL)
    return {
        "ch.warpeace.listing": {
            "compile_error": compile_error(LISTING),
            "n_words_selected": STATED["n_selected"],
            "needs": ["data/warpeace.txt", "data/embedding_words.txt"],
        },
        "ch.warpeace.prep": {"sentences": cut, "n_sentences": len(cut), "n_tokens": sum(map(len, cut))},
        "ch.warpeace.table": STATED,
        "ch.w2v.gensim_defaults": {"params": DEFAULTS},
        "ch.w2v.determinism": {},
    }


def show() -> str:
    """The table with what it must be held against."""
    counts = STATED["counts"]
    rows = [[f"{a} ({counts[a]})", f"{b} ({counts[b]})", c] for (a, b), c in _pairs()]
    neighbours = table(["word (count)", "neighbour (count)", "cosine"], rows, digits=3)
    scale = table(
        ["beside it", "cosine"],
        [
            ["random pairs of words seen 50 times or more, mean", STATED["random_pairs_mean"]],
            ["… their 90th percentile", STATED["random_pairs_p90"]],
            ["soldier, ballroom", STATED["soldier_ballroom"]],
            ["soldier, battle", STATED["soldier_battle"]],
            ["military terms among each other", STATED["military_mean"]],
            ["military terms with social ones", STATED["military_social_mean"]],
            ["social terms among each other", STATED["social_mean"]],
        ],
        digits=3,
    )
    quoted = "what the chapter reports of its run (quoted; heldout embed trains it again)"
    return "\n\n".join([f"{quoted}\n{neighbours}", scale, f"the listing as printed: {compile_error(LISTING)}"])


def _pairs() -> list[tuple[list[str], float]]:
    return [(pair.split("-"), cosine) for pair, cosine in STATED["cosines"].items()]


def picture(axes: "Axes") -> None:
    """The neighbours' cosines against those of random pairs."""
    bars(axes, {"cosine": [c for _, c in _pairs()]}, ["\n".join(pair) for pair, _ in _pairs()], y="cosine")
    axes.axhline(STATED["random_pairs_mean"], color="tab:red", label="random pairs, mean")
    axes.axhline(STATED["random_pairs_p90"], color="tab:red", linestyle="--", label="random pairs, 90th percentile")
    axes.set_ylim(0.5, 1)
    axes.legend(loc="lower right")


LESSON = Lesson(
    name="war-and-peace",
    title="War and Peace: a cosine of 0.97 means little where random pairs have 0.70",
    where="the listing before chapter 23; chapter 23.4",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Do military terms have closer neighbours than social ones? Not in this run: 0.80 among themselves, 0.79 with social
terms, while social terms have 0.91 among themselves.
Is 'lady' like 'soldier'? 0.968 says less than it seems to: two random words have 0.70, one random pair in ten more than
0.90. With one novel, min_count=1 and five epochs all vectors crowd together (see lesson crowding).
What does the picture's 80.6% say? That share of the variance of the 14 chosen words, nothing about the vocabulary.
Can the listing be run? Not as printed (the bodies of both with blocks must be indented), and its list of words is lost.
What makes a run repeatable? seed=42 and workers=1; and before a neighbour is believed: other seeds, other windows, and
the passages where the words stand.""",
)
