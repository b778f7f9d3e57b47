"""Distillation, quantisation and pruning, in numbers small enough to check.

L = α L_task + (1 − α) KL(p_teacher ‖ p_student), 0 ≤ α ≤ 1: the label's loss and the agreement with a teacher. Int8
keeps round(w / scale) of each weight, magnitude pruning only the largest weights.
"""

from typing import TYPE_CHECKING

import numpy as np

from heldout.lessons._contract import Floats, Lesson, Values, table
from heldout.lessons._pictures import curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEACHER: Floats = np.array([0.7, 0.2, 0.1])
STUDENT: Floats = np.array([0.6, 0.3, 0.1])
WEIGHTS: Floats = np.array([-1.27, 0.004, 0.5, 0.637, 1.27])
PRUNED: Floats = np.array([0.5, -0.01, 0.2, -0.9, 0.05, 0.3])


def kl(p: Floats, q: Floats) -> float:
    """KL(p ‖ q) in nats: Σ p log(p / q) where p > 0; infinite where q is 0 and p is not."""
    seen = p > 0
    with np.errstate(divide="ignore"):
        return float((p[seen] * np.log(p[seen] / q[seen])).sum())


def distill(teacher: Floats, student: Floats, label: int, alpha: float) -> float:
    """The chapter's two-term loss of one example."""
    return float(alpha * -np.log(student[label]) + (1 - alpha) * kl(teacher, student))


def quantise(w: Floats) -> tuple[Floats, float]:
    """Symmetric int8: round(w / scale) in −127..127, and the scale, max |w| / 127."""
    scale = float(abs(w).max() / 127)
    return np.round(w / scale), scale


def prune(w: Floats, keep: int) -> Floats:
    """The ``keep`` weights of the largest magnitude, the others 0."""
    return np.where(abs(w) >= np.sort(abs(w))[-keep], w, 0)


def values() -> Values:
    """The loss at several α, the weights, the claims that the chapter quotes."""
    return {
        "ch.distill": {
            **{"task": -np.log(STUDENT[0]), "kl_teacher_student": kl(TEACHER, STUDENT)},
            **{f"loss_{name}": distill(TEACHER, STUDENT, 0, a) for name, a in (("half", 0.5), ("alpha_03", 0.3))},
            **{f"loss_alpha{a}": distill(TEACHER, STUDENT, 0, a) for a in (0, 1)},
            "identical": kl(TEACHER, TEACHER),
        },
        # Of DistilBERT's paper, as the chapter quotes them; not computed here.
        "ch.distil.claims": {"glue": 0.97, "fewer_params": 0.4, "speedup": 0.6},
        "ch.compress": {
            **{"int8": quantise(WEIGHTS)[0], "pruned": prune(PRUNED, 3)},
            "bytes_ratio": np.dtype(np.float32).itemsize / np.dtype(np.int8).itemsize,
        },
    }


def show() -> str:
    """The loss by α; both directions of KL; weights before and after."""
    losses = table(["α", "loss"], [[a, distill(TEACHER, STUDENT, 0, a)] for a in (0.0, 0.3, 0.5, 1.0)], digits=6)
    said = f"KL(teacher ‖ student) = {kl(TEACHER, STUDENT):.6f}, the other way round {kl(STUDENT, TEACHER):.6f}"
    whole, scale = quantise(WEIGHTS)
    rows = zip(WEIGHTS, whole.astype(int), whole * scale, strict=True)
    small = table(["weight", "int8", f"int8 × {scale:g}"], rows)
    return "\n\n".join([f"{losses}\n{said}", small, f"three largest of {PRUNED}: {prune(PRUNED, 3)}"])


def picture(axes: "Axes") -> None:
    """The loss by the student's probability of the label, for three α; the rest is shared as the teacher shares it."""
    p = np.linspace(0.05, 0.95, 100)
    students = [np.array([x, (1 - x) * 2 / 3, (1 - x) / 3]) for x in p]
    lines = {f"α = {a}": (p, [distill(TEACHER, s, 0, a) for s in students]) for a in (0.0, 0.5, 1.0)}
    curves(axes, lines, x="student's P(label); the teacher's is 0.7", y="loss")


LESSON = Lesson(
    name="distillation",
    title="distillation's two-term loss, int8 and pruning, in numbers small enough to check",
    where="chapter 23.10",
    values=values,
    show=show,
    picture=picture,
    answers="""\
Which way round is the KL? KL(teacher ‖ student): 0.0268; the other way it is 0.0291, so argument order matters
(PyTorch's kl_div takes log student first, and divides by the number of elements unless told 'batchmean').
Does α = 1/2 check the formula? No: swapped shares give the same. Use 0.3.
Is cross-entropy with the teacher the same loss? It has the same gradient; its value is larger by the teacher's entropy.
Does '60% faster' mean 40% of the time? No: 1 / 1.6 = 62.5% of the time. The figures quoted here (97% of GLUE, 40% fewer
parameters, 60% faster) are of one task set and one CPU, and DistilBERT's own loss has two more terms.""",
)
