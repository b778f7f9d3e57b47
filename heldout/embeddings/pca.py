"""A picture of chosen words: their first two principal components, and the share of variance that these show.

A PCA keeps directions of variance, not neighbourhoods, and takes the mean off first: it does not show that all vectors
crowd together. So the picture says its share, of the chosen words alone, and the cosine of random pairs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from heldout.embeddings.neighbours import Crowding, known
from heldout.embeddings.vectors import Vectors
from heldout.errors import Refused
from heldout.runs import atomic

FORMATS = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Projection:
    """The chosen words in two dimensions, (n, 2), and the share of their variance along each."""

    words: tuple[str, ...]
    points: npt.NDArray[np.float64]
    explained: tuple[float, float]


def project(vectors: Vectors, words: Sequence[str]) -> Projection:
    """The first two principal components of the words' rows (not made unit); Refused for fewer than three words."""
    if len(set(words)) < 3:
        raise Refused(f"--picture: {len(set(words))} words; give three or more with --group NAME=A,B,C or --word")
    rows = np.stack([known(vectors, word) for word in words]).astype(np.float64)
    left, singular, _ = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    share = singular**2 / np.sum(singular**2)
    # The sign of a component means nothing; a fixed one makes the picture repeatable.
    signs = np.sign(left[np.abs(left[:, :2]).argmax(axis=0), [0, 1]])
    return Projection(tuple(words), left[:, :2] * singular[:2] * signs, (float(share[0]), float(share[1])))


def draw(projection: Projection, named: Mapping[str, Sequence[str]], crowded: Crowding, path: Path) -> None:
    """Write the picture, a colour a group; Refused without matplotlib or for another format."""
    if path.suffix not in FORMATS:
        raise Refused(f"--picture {path}: the file must end in one of {', '.join(FORMATS)}")
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise Refused("--picture needs matplotlib; pip install 'heldout[pictures]'") from None
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "embeddings", "figure.dpi": 100}):
        figure = Figure(figsize=(7.2, 5.2), layout="constrained")
        axes = figure.subplots()
        for name, words in (named or {"": projection.words}).items():
            at = [projection.words.index(word) for word in words]
            axes.scatter(projection.points[at, 0], projection.points[at, 1], label=name or None, s=18)
        for word, (x, y) in zip(projection.words, projection.points, strict=True):
            axes.annotate(word, (x, y), xytext=(4, 3), textcoords="offset points")
        across, up = projection.explained
        axes.set_xlabel(f"{across:.1%} of the variance of these {len(projection.words)} words")
        axes.set_ylabel(f"{up:.1%}")
        axes.set_title(
            f"{sum(projection.explained):.1%} of the variance shown; not shown: random pairs of frequent\n"
            f"words have a mean cosine of {crowded.mean:.2f} (90th percentile {crowded.p90:.2f})",
            fontsize="medium",
        )
        if named:
            axes.legend()
        with atomic(path) as temporary:
            figure.savefig(
                temporary, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None
            )
