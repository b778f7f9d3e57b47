"""pair_negation: which text of a pair holds a negation cue: the hypothesis only, the premise only, both, or neither.

The cues, and the phrases that are read over ("not only", "no doubt"), are those of negation.json; unlike there, what
is negated need not be an opinion. On negation_nli (Hossain et al. 2020), whose authors put a "not" into premise,
hypothesis or both of 500 pairs each of SNLI, MNLI and RTE, a cue is found in 1,996 of the 2,000 SNLI texts with a
"not", 1,974 of MNLI's and 1,980 of RTE's. Most of those missed are "not only" and "not just".
"""

from heldout.eval.slices import Slice
from heldout.eval.slices.negation import scopes
from heldout.records import Example, Prediction

#: By (a cue in the premise, a cue in the hypothesis).
PARTS = {
    (False, True): "hypothesis only",
    (True, False): "premise only",
    (True, True): "both",
    (False, False): "neither",
}


def has_cue(text: object) -> bool:
    """Whether a negation cue stands in a text.

    >>> has_cue("Nobody is asleep."), has_cue("Not only dogs sleep.")
    (True, False)
    """
    return next(scopes(str(text)), None) is not None


def _value(example: Example, prediction: Prediction) -> str | None:
    if not {"premise", "hypothesis"} <= example.text.keys():
        return None
    return PARTS[has_cue(example.text["premise"]), has_cue(example.text["hypothesis"])]


SLICE = Slice("pair_negation", _value, order=tuple(PARTS.values()))
