"""What can be trusted of a run: checks on the user's own model and data, one file a check, found by listing the folder.

To add a check, write ``heldout/checks/doctor/NAME.py`` with a ``CHECK``, and nothing else: a name of a few words, the
group that it is shown with, why it matters, and a function from a Patient to a Finding.
"""

import importlib
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from heldout.checks.doctor._contract import GROUPS, Check, Finding, Patient, not_applicable
from heldout.errors import Refused
from heldout.options import nearest

__all__ = ["Check", "Finding", "Patient", "all_checks", "chosen", "examine"]


@cache
def all_checks() -> dict[str, Check]:
    """Every check by the name of its module, in the order of their groups."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    found: dict[str, Check] = {name: importlib.import_module(f"{__name__}.{name}").CHECK for name in names}
    return dict(sorted(found.items(), key=lambda entry: (GROUPS.index(entry[1].group), entry[0])))


def chosen(names: Sequence[str]) -> dict[str, Check]:
    """The checks of these names, all where there are none; Refused naming the nearest for a name that is none."""
    known = all_checks()
    unknown = [name for name in names if name not in known]
    if unknown:
        raise Refused(
            f"--only {unknown[0]}: no such check{nearest(unknown[0], list(known))}; there are {', '.join(known)}"
        )
    return {name: check for name, check in known.items() if not names or name in names}


def examine(
    patient: Patient, names: Sequence[str] = (), say: Callable[[str], None] = lambda name: None
) -> list[dict[str, Any]]:
    """Each check's row for RUN/checks.json, in order; ``say`` is told a check's name before it begins."""
    rows = []
    for name, check in chosen(names).items():
        say(check.title)
        begun = time.perf_counter()
        wrong_kind = bool(check.kinds) and patient.card.kind not in check.kinds
        kinds = " and ".join(check.kinds)
        finding = not_applicable(f"is for cards of kind {kinds}") if wrong_kind else check.examine(patient)
        about: dict[str, Any] = {"name": name, "title": check.title, "group": check.group, "why": check.why}
        about |= {"data": patient.data, "n": len(patient.examples)}
        rows.append(about | finding.to_json() | {"seconds": round(time.perf_counter() - begun, 1)})
    return rows
