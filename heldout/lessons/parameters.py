"""Where the parameters of BERT, DistilBERT and GPT-2 are, counted by hand.

A layer of width d with a feed-forward width f has 4 (d² + d) in attention, 2 d f + f + d in the network, 4 d in two
norms. The number of heads changes nothing. (Tested against transformers, whose models are built without memory.)
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heldout.lessons._contract import Lesson, Values, table
from heldout.lessons._pictures import bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Shape:
    """Width, layers, heads, vocabulary and longest sequence; the network is four times as wide."""

    d: int
    layers: int
    heads: int
    vocabulary: int = 30522
    positions: int = 512

    @property
    def f(self) -> int:
        """The feed-forward width."""
        return 4 * self.d


BASE, LARGE, CASED = Shape(768, 12, 12), Shape(1024, 24, 16), Shape(768, 12, 12, vocabulary=28996)
GPT2 = Shape(768, 12, 12, vocabulary=50257, positions=1024)
FORMULA = "(V+512+2)d+2d + L(4(d^2+d)+2d+2df+f+d+2d) + [d^2+d]"


def layer(s: Shape) -> int:
    """One block: attention, network, two norms."""
    return 4 * (s.d**2 + s.d) + 2 * s.d * s.f + s.f + s.d + 4 * s.d


def embeddings(s: Shape, segments: int = 2) -> int:
    """Tables of words, positions and segments, and their norm."""
    return (s.vocabulary + s.positions + segments) * s.d + 2 * s.d


def pooler(s: Shape) -> int:
    """The dense layer above [CLS]."""
    return s.d**2 + s.d


def masked_head(s: Shape) -> int:
    """Dense, norm and a bias a word: the output matrix is the table of words."""
    return s.d**2 + s.d + 2 * s.d + s.vocabulary


def bert(s: Shape) -> int:
    """BERT without its pooler."""
    return embeddings(s) + s.layers * layer(s)


def gpt2(s: Shape) -> int:
    """GPT-2: no segments, no norm at the embeddings but one at the end; the head is the table of words."""
    return embeddings(s, segments=0) + s.layers * layer(s)


def distilbert() -> int:
    """BERT-base with half the layers, no segments, no pooler."""
    return embeddings(BASE, segments=0) + BASE.layers // 2 * layer(BASE)


def values() -> Values:
    """The counts that the chapter rounds."""
    full = {name: bert(s) + pooler(s) for name, s in (("base", BASE), ("large", LARGE))}
    bare = {name: bert(s) for name, s in (("base", BASE), ("large", LARGE))}
    heads = {name: masked_head(s) for name, s in (("base", BASE), ("large", LARGE))}
    return {
        "ch.bert.params": {
            **{f"{name}_with_pooler": n for name, n in full.items()},
            **{f"{name}_no_pooler": n for name, n in bare.items()},
            **{f"{name}_masked_lm_tied": bare[name] + heads[name] for name in bare},
            # Next sentence: two classes over the pooler.
            "base_pretraining_tied": full["base"] + heads["base"] + 2 * BASE.d + 2,
            "large_pretraining_tied": full["large"] + heads["large"] + 2 * LARGE.d + 2,
            "base_cased_with_pooler": bert(CASED) + pooler(CASED),
            **{"head_dim": [s.d // s.heads for s in (BASE, LARGE)], "ffn": [BASE.f, LARGE.f], "formula": FORMULA},
            "embedding_share_base": BASE.vocabulary * BASE.d / full["base"],
        },
        "ch.distilbert.params": {
            **{"model": distilbert(), "masked_lm_tied": distilbert() + masked_head(BASE)},
            **{"reduction": 1 - distilbert() / full["base"], "layers": BASE.layers // 2},
        },
        "ch.gpt2.params": {
            **{"model": gpt2(GPT2), "lm_tied": gpt2(GPT2)},
            "config": [GPT2.vocabulary, GPT2.positions, GPT2.d, GPT2.layers, GPT2.heads],
        },
    }


def parts() -> dict[str, tuple[int, int, int]]:
    """(embeddings, blocks, the rest) of each model."""
    rows = {"BERT-base": BASE, "BERT-large": LARGE}
    found = {name: (embeddings(s), s.layers * layer(s), pooler(s)) for name, s in rows.items()}
    half = BASE.layers // 2 * layer(BASE)
    return found | {
        "DistilBERT": (distilbert() - half, half, 0),
        "GPT-2 small": (embeddings(GPT2, segments=0), GPT2.layers * layer(GPT2), 0),
    }


def show() -> str:
    """Each model's parts."""
    rows = [[name, *(f"{n:,}" for n in three), f"{sum(three):,}"] for name, three in parts().items()]
    split = table(["model", "embeddings", "blocks", "pooler", "all"], rows)
    return f"{split}\n\nBERT: {FORMULA}\nDistilBERT has {values()['ch.distilbert.params']['reduction']:.1%} fewer"


def picture(axes: "Axes") -> None:
    """Millions of parameters by part."""
    found = parts()
    groups = {kind: [three[at] / 1e6 for three in found.values()] for at, kind in enumerate(("embeddings", "blocks"))}
    bars(axes, groups, list(found), y="million parameters")


LESSON = Lesson(
    name="parameters",
    title="where the parameters of BERT, DistilBERT and GPT-2 are, counted by hand",
    where="chapter 23.7, 23.8 and 23.10",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Has BERT-Base 110 million parameters? 109,482,240 with its pooler: the chapter's figure, rounded.
Has BERT-Large 340 million? 335,141,888. The table's 340M is the paper's rounding, 1.4% above; with both pretraining
heads it is 336,226,108.
Has DistilBERT 40% fewer? 39.4% fewer than BERT-Base with its pooler: layers are halved, tables are not.
What do more heads cost? Nothing: they only cut the same matrices differently.
How much of BERT-Base is the table of words? 21.4%.""",
)
