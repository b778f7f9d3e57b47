"""Analogies: a is to b as c is to …? By 3CosAdd (Mikolov et al. 2013) and 3CosMul (Levy and Goldberg 2014).

    add   argmax over d of cos(d, b) − cos(d, a) + cos(d, c)
    mul   argmax over d of cos'(d, b) · cos'(d, c) / (cos'(d, a) + 0.001),  cos' = (cos + 1) / 2

The three words asked about are never an answer, as in both papers. A file of questions has ": section" lines and lines
of four words. Questions with a word that has no vector cannot be asked: they are counted, not called wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heldout.data.files import read_text
from heldout.embeddings.vectors import Ints, Vectors
from heldout.errors import Refused

EPSILON = 0.001
#: Questions asked at once: with 30,000 words their cosines take 60 MB.
BLOCK = 500


@dataclass(frozen=True)
class Section:
    """The questions of a section: how many there are, how many could be asked, how many each way got right."""

    name: str
    questions: int
    asked: int
    add: int
    mul: int


def read_questions(path: Path) -> dict[str, list[tuple[str, str, str, str]]]:
    """The questions of each section; Refused with the line where one is not four words."""
    found: dict[str, list[tuple[str, str, str, str]]] = {}
    name = path.stem
    for number, line in enumerate(read_text(path, "utf-8").splitlines(), 1):
        if line.startswith(":"):
            name = line[1:].strip()
        elif line.strip():
            words = line.split()
            if len(words) != 4:
                raise Refused(f"{path}, line {number}: {len(words)} words; a question has four: a b c d")
            found.setdefault(name, []).append((words[0], words[1], words[2], words[3]))
    return found


def analogies(
    vectors: Vectors, sections: dict[str, list[tuple[str, str, str, str]]], *, among: int = 30_000
) -> list[Section]:
    """How many questions of each section are answered right, among the ``among`` most frequent words."""
    kept = Vectors(vectors.words[:among], vectors.rows[:among])
    return [_section(kept, name, questions) for name, questions in sections.items()]


def _section(vectors: Vectors, name: str, questions: Sequence[tuple[str, str, str, str]]) -> Section:
    found = [[vectors.find(word) for word in question] for question in questions]
    rows = np.array([row for row in found if None not in row], np.int64).reshape(-1, 4)
    right = np.zeros(2, np.int64)
    for at in range(0, len(rows), BLOCK):
        block = rows[at : at + BLOCK]
        right += [int((answer == block[:, 3]).sum()) for answer in answers(vectors, block[:, :3])]
    return Section(name, len(questions), len(rows), int(right[0]), int(right[1]))


def answers(vectors: Vectors, asked: Ints) -> tuple[Ints, Ints]:
    """The rows that 3CosAdd and 3CosMul answer to rows (a, b, c) of shape (questions, 3)."""
    to_a, to_b, to_c = (vectors.unit[asked[:, k]] @ vectors.unit.T for k in range(3))
    add = to_b - to_a + to_c
    mul = (to_b + 1) * (to_c + 1) / (to_a + 1 + 2 * EPSILON)
    for scores in (add, mul):
        np.put_along_axis(scores, asked, -np.inf, axis=1)
    return np.asarray(add.argmax(axis=1)), np.asarray(mul.argmax(axis=1))
