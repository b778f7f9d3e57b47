"""Negation in sentences with names: it must not move a single entity, nor make or unmake one.

Words and tags are made together: {p} a person, {q} another, {l} a place, {m} another; all other words are O. The twin
is the sentence without the negation, and the changed one must have the same entities (about.expect is inv).
"""

from collections.abc import Mapping
from typing import Any

from heldout.bio import tags_of
from heldout.data.suites.frames import EACH, Frame, Slot, Values, rows_of

PEOPLE = (
    *("Anna Keller", "Peter Brown", "Maria Lopez", "David Miller", "Laura Martin", "Thomas Young", "Julia Roth"),
    *("Sarah Johnson", "Robert Evans", "Emma Wilson", "Daniel Cohen", "James Carter", "Paul Fischer", "Linda Garcia"),
    *("Kevin Murphy", "Susan Clark"),
)
PLACES = (
    *(
        "London",
        "Paris",
        "Berlin",
        "Chicago",
        "Tokyo",
        "Kenya",
        "Norway",
        "New York",
        "Madrid",
        "South Africa",
        "Texas",
    ),
    *("Boston", "Canada", "Rome", "Sweden", "San Francisco"),
)
#: Two people, two places of whom no two are the same.
P: Slot = [{"p": PEOPLE[k], "q": PEOPLE[(k + 5) % len(PEOPLE)]} for k in range(len(PEOPLE))]
L: Slot = [{"l": PLACES[k], "m": PLACES[(k + 3) % len(PLACES)]} for k in range(len(PLACES))]
#: The slots that are entities, with their type by the names that data sets have for it.
TYPES = {"p": "person", "q": "person", "l": "location", "m": "location"}
#: (phenomenon, changed, twin)
SENTENCES = (
    ("not", "{p} does not live in {l} .", "{p} does still live in {l} ."),
    ("not", "The train from {l} is not late .", "The train from {l} is very late ."),
    ("not", "We did not see {p} at the airport in {l} .", "We did just see {p} at the airport in {l} ."),
    ("contracted", "{p} isn't from {l} .", "{p} is from {l} ."),
    ("contracted", "I don't know {p} .", "I do know {p} ."),
    ("contracted", "Wasn't it {p} who moved to {l} ?", "Was it {p} who moved to {l} ?"),
    ("never", "{p} has never been to {l} .", "{p} has often been to {l} ."),
    ("never", "Never go to {l} in winter .", "Always go to {l} in winter ."),
    ("no", "There is no {p} at this school .", "There is one {p} at this school ."),
    ("no", "No news from {l} today .", "Good news from {l} today ."),
    ("no", "No , {p} , I said no .", "Yes , {p} , I said yes ."),
    ("nobody", "Nobody told {p} about it .", "Somebody told {p} about it ."),
    ("nobody", "Nobody in {l} talks of {p} .", "Everybody in {l} talks of {p} ."),
    ("hardly", "{p} hardly ever visits {l} .", "{p} very often visits {l} ."),
    ("hardly", "Scarcely anyone in {l} was at home .", "Nearly everyone in {l} was at home ."),
    ("without", "We left {l} without {p} .", "We left {l} with {p} ."),
    ("without", "{l} without rain is strange .", "{l} with rain is strange ."),
    ("neither nor", "Neither {p} nor {q} called .", "Both {p} and {q} called ."),
    ("neither nor", "They moved to neither {l} nor {m} .", "They moved to both {l} and {m} ."),
    ("not only but", "Not only {p} but also {q} was there .", "Some time ago {p} and also {q} was there ."),
    ("not only but", "It rains not only in {l} but also in {m} .", "It rains today in {l} and also in {m} ."),
    ("not X but Y", "It was not {p} but {q} who won .", "It was {p} and then {q} who won ."),
    ("not X but Y", "She flew not to {l} but to {m} .", "She flew first to {l} then to {m} ."),
    ("double negation", "It is not true that {p} is not in {l} .", "It is quite true that {p} is now in {l} ."),
    ("double negation", "Nobody who knows {l} would not love it .", "Everybody who knows {l} would surely love it ."),
    ("outside the scope", "It was not cold when {p} came to {l} .", "It was very cold when {p} came to {l} ."),
    ("outside the scope", "I am not sure , but {p} may know .", "I am quite sure , and {p} may know ."),
    ("conditional", "If {p} does not come , we stay in {l} .", "If {p} does really come , we stay in {l} ."),
    ("conditional", "Unless {l} is too far , ask {p} .", "Since {l} is so near , ask {p} ."),
    ("questioned", "Why not ask {p} in {l} ?", "Why now ask {p} in {l} ?"),
    ("questioned", "Didn't {p} once work in {l} ?", "Did {p} once work in {l} ?"),
    ("instead of", "Instead of {p} they asked {q} .", "In front of {p} they asked {q} ."),
    ("instead of", "We chose {l} rather than {m} .", "We chose {l} together with {m} ."),
    ("no longer, not yet", "{p} no longer works in {l} .", "{p} now again works in {l} ."),
    ("no longer, not yet", "The ship has not yet reached {l} .", "The ship has just now reached {l} ."),
    ("everyone but", "Everyone but {p} laughed .", "Everyone and {p} laughed ."),
    ("everyone but", "All of the country except {l} voted .", "All of the country around {l} voted ."),
    ("refused, failed", "{p} refused to leave {l} .", "{p} agreed to leave {l} ."),
    ("refused, failed", "{p} failed to call {q} .", "{p} managed to call {q} ."),
    ("not before the name", "Not {p} again !", "Oh {p} again !"),
    ("not before the name", "Not {l} , please .", "Yes {l} , please ."),
    ("non-", "Non-smokers like {p} moved to {l} .", "Heavy smokers like {p} moved to {l} ."),
    ("non-", "{p} was unhappy in {l} and unable to sleep .", "{p} was happy in {l} and able to sleep ."),
)
FRAMES: tuple[Frame, ...] = tuple(
    Frame(phenomenon, {"words": changed}, {"words": twin}, (P, L), "inv") for phenomenon, changed, twin in SENTENCES
)


def _finish(template: Mapping[str, str], filling: Mapping[str, str]) -> Values:
    words: list[str] = []
    entities = []
    for piece in template["words"].split():
        name = piece.strip("{}")
        added = filling[name].split() if piece != name else [piece]
        if piece != name:
            entities.append((len(words), len(words) + len(added), TYPES[name]))
        words += added
    return {"words": words, "tags": tags_of(entities, len(words))}


def rows(each: int = EACH, seed: int = 0) -> list[dict[str, Any]]:
    """``each`` pairs of every phenomenon."""
    return rows_of(FRAMES, _finish, each=each, seed=seed)
