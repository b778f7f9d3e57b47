"""Attention before it was learnt: Nadaraya and Watson's smoother is a softmax over distances.

ŷ(q) = Σ α_i y_i, α_i = K(q, x_i) / Σ_j K(q, x_j): places are the keys, responses the values. For keys of one length the
Gaussian kernel is exactly a softmax of dot products with temperature h², since ‖q − k‖² = 2 − 2 q · k.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons.skip_gram import softmax

if TYPE_CHECKING:
    from matplotlib.axes import Axes

H = 0.1
#: Kernels as functions of the squared distance and the width h.
KERNELS: dict[str, Callable[[Floats, float], Floats]] = {
    "gaussian": lambda d2, h: np.exp(-d2 / (2 * h**2)),
    "boxcar": lambda d2, h: (np.sqrt(d2) < h).astype(float),
    "constant": lambda d2, h: np.ones_like(d2),
    "epanechnikov": lambda d2, h: np.maximum(1 - d2 / h**2, 0),
}
EDGE = np.linspace(0, 1, 100)
GRID: Floats = np.stack(np.meshgrid(EDGE, EDGE, indexing="ij"), axis=-1).reshape(-1, 2)


def observed() -> tuple[Floats, Floats]:
    """The chapter's 100 noisy observations: places (100, 2) and responses (100,)."""
    draw = np.random.RandomState(42)
    x = np.stack([draw.uniform(0, 1, 100), draw.uniform(0, 1, 100)], axis=1)
    return x, truth(x) + draw.normal(0, 0.1, 100)


def truth(x: Floats) -> Floats:
    """sin(2π x₁) + x₂², x of shape (n, 2)."""
    return np.asarray(np.sin(2 * np.pi * x[:, 0]) + x[:, 1] ** 2)


def squared(q: Floats, x: Floats) -> Floats:
    """Squared distances, (queries, places)."""
    return np.asarray(((q[:, None] - x) ** 2).sum(axis=-1))


def smooth(q: Floats, x: Floats, y: Floats, kernel: str, h: float = H) -> Floats:
    """ŷ at the queries (n, 2), shape (n,); nan where no observation has any weight.

    The Gaussian is taken as a softmax, which shifts by the nearest place first: exp alone gives 0 / 0 far out.
    """
    d2 = squared(q, x)
    if kernel == "gaussian":
        return np.asarray(softmax(-d2 / (2 * h**2)) @ y)
    weights = KERNELS[kernel](d2, h)
    total = weights.sum(axis=1)
    return np.asarray(np.divide(weights @ y, total, where=total > 0, out=np.full(len(q), np.nan)))


def unit(degrees: float) -> Floats:
    """The unit vector at an angle."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])


def values() -> Values:
    """The smoother on the chapter's data, the kernels' table, the identity for unit vectors."""
    x, y = observed()
    at = [(0.25, 0.5), (0.5, 0.5), (0.75, 0.25), (0, 0), (1, 1), (2, 2)]
    q = np.array(at, dtype=float)
    fits = {kernel: smooth(GRID, x, y, kernel) for kernel in ("gaussian", "boxcar", "epanechnikov")}
    wrong = {kernel: fit - truth(GRID) for kernel, fit in fits.items()}
    keys = np.stack([unit(degrees) for degrees in (0, 60, 90)])
    distances = np.array([0, 0.05, 0.1, 0.15, 0.2]) ** 2
    return {
        "ch.nadaraya": {
            **{"x1_first3": x[:3, 0], "x2_first3": x[:3, 1], "y_first3": y[:3], "y_mean": y.mean(), "y_sum": y.sum()},
            "constant_kernel": smooth(q[:1], x, y, "constant")[0],
            "gaussian_at": {f"{a},{b}": v for (a, b), v in zip(at, smooth(q, x, y, "gaussian"), strict=True)},
            "gaussian_grid_rmse": np.sqrt((wrong["gaussian"] ** 2).mean()),
            "gaussian_grid_mae": abs(wrong["gaussian"]).mean(),
            "gaussian_grid_range": [fits["gaussian"].min(), fits["gaussian"].max()],
            "gaussian_grid_max_error": abs(wrong["gaussian"]).max(),
            **{f"{k}_empty_grid_points": int(np.isnan(fits[k]).sum()) for k in ("boxcar", "epanechnikov")},
            **{f"{k}_rmse_defined": np.sqrt(np.nanmean(wrong[k] ** 2)) for k in ("boxcar", "epanechnikov")},
            **{f"{k}_at_half": smooth(q[1:2], x, y, k)[0] for k in ("boxcar", "epanechnikov")},
        },
        "ch.kernels": {name: kernel(distances, H) for name, kernel in KERNELS.items()},
        "ch.kernel.identity": {
            "weights_0_60_90_deg": softmax(keys @ unit(0)),
            "weights_h_half": softmax(keys @ unit(0) / 0.5**2),
        },
    }


def show() -> str:
    """The kernels, the errors on the grid, the identity."""
    found = values()
    shapes, fit, same = found["ch.kernels"], found["ch.nadaraya"], found["ch.kernel.identity"]
    kernels = table(["distance", *KERNELS], zip((0, 0.05, 0.1, 0.15, 0.2), *(shapes[k] for k in KERNELS), strict=True))
    rows = [["gaussian", fit["gaussian_grid_rmse"], 0]]
    rows += [[k, fit[f"{k}_rmse_defined"], fit[f"{k}_empty_grid_points"]] for k in ("boxcar", "epanechnikov")]
    errors = table(["kernel, h = 0.1", "RMSE where defined", "grid points of 10,000 without neighbour"], rows)
    far = f"at (2, 2), outside the data: {fit['gaussian_at']['2,2']:.4f}; the truth there is 4"
    gauss = KERNELS["gaussian"](squared(unit(0)[None], np.stack([unit(a) for a in (0, 60, 90)])), 1.0)[0]
    head = ["key at", "gaussian kernel, h = 1", "softmax(q · k)"]
    identity = table(head, zip(("0°", "60°", "90°"), gauss / gauss.sum(), same["weights_0_60_90_deg"], strict=True))
    return "\n\n".join([kernels, f"{errors}\n{far}", identity])


def picture(axes: "Axes") -> None:
    """Where the Gaussian smoother is wrong, and the observations."""
    x, y = observed()
    wrong = (smooth(GRID[::4], x, y, "gaussian") - truth(GRID[::4])).reshape(100, 25)
    shade = axes.imshow(wrong.T, origin="lower", extent=(0, 1, 0, 1), aspect="auto", cmap="RdBu", vmin=-0.6, vmax=0.6)
    axes.plot(x[:, 0], x[:, 1], "k.", markersize=3)
    axes.set(xlabel="x₁", ylabel="x₂", title="smoothed − true; dots: observations")
    axes.figure.colorbar(shade)


LESSON = Lesson(
    name="kernel-smoothing",
    title="kernel smoothing is attention with a similarity that nobody learnt",
    where="chapter 23.6",
    values=values,
    show=show,
    picture=picture,
    answers="""\
What does the denominator do? It makes the weights sum to 1, so the answer stays between the observed values; without it
the constant kernel returns n times their mean.
What if no observation is near? Boxcar and Epanechnikov have nothing to say at 371 of 10,000 grid points; an average
must not count those as 0. The Gaussian always answers, also where it knows nothing: at (2, 2) it says 0.72, truth 4.
Is the smallest error proof of the right kernel? No: leaving out the 2 in 2h² gives a smaller RMSE (0.149, not 0.179).
When is it softmax attention exactly? When all keys have one length: the factor with ‖k‖² cancels. The query's length
cancels in any case.""",
)
