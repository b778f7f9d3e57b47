"""Negation in pairs of sentences: where it turns entailment to contradiction, and where it doesn't.

Premises and hypotheses tell of one scene, as SNLI's do: "a man" is the same man in both. What readers would argue about
is left out (what a negated factive presupposes: "she does not know that he sleeps").

Monotonicity: a negated sentence follows from a negated wider one (no instrument, so no flute), not from a narrower one.
"""

from collections.abc import Mapping
from typing import Any

from heldout.data.suites.frames import EACH, Frame, Slot, Values, rows_of, written

E, N, C = "entailment", "neutral", "contradiction"
WHO = [
    {"who": who} for who in ("the man", "the woman", "the boy", "the girl", "the cook", "the old lady", "the tourist")
]
TWO = [
    {"one": one, "two": two}
    for one, two in (
        *(
            ("the cook", "the waiter"),
            ("the boy", "the girl"),
            ("the nurse", "the driver"),
            ("the singer", "the painter"),
        ),
        *(("the teacher", "the pupil"), ("the farmer", "the hunter"), ("the bride", "the groom")),
    )
]
#: What someone does in three forms, wider words for it, and something that nobody does at the same time.
DOING = [
    dict(zip(("ing", "base", "past", "wide", "wider", "else"), forms, strict=True))
    for forms in (
        ("playing the flute", "play the flute", "played the flute", "playing an instrument", "make music", "swimming"),
        ("eating an apple", "eat an apple", "ate an apple", "eating a fruit", "eat fruit", "sleeping"),
        ("riding a horse", "ride a horse", "rode a horse", "riding an animal", "ride animals", "lying in bed"),
        ("reading a novel", "read a novel", "read a novel that day", "reading a book", "read books", "sleeping"),
        ("drinking tea", "drink tea", "drank tea", "drinking something hot", "drink hot drinks", "diving in a lake"),
        ("painting a portrait", "paint a portrait", "painted a portrait", "painting a picture", "paint", "surfing"),
        ("cutting roses", "cut roses", "cut roses that day", "cutting flowers", "cut flowers", "sleeping in a tent"),
        ("singing a carol", "sing a carol", "sang a carol", "singing a song", "sing", "eating a sandwich"),
    )
]
CROWD = [{"do": do} for do in ("dancing", "singing", "sitting", "waiting", "laughing", "talking", "eating", "reading")]
GROUP = [{"group": group} for group in ("children", "guests", "tourists", "nurses", "soldiers", "students", "dancers")]
PLACE = [
    {"in": place}
    for place in ("in the kitchen", "on the beach", "in the park", "at the station", "in the hall", "on the bridge")
]
THING = [{"it": f"a {it}", "bare": it} for it in ("dog", "bicycle", "lamp", "boat", "piano", "cat", "suitcase", "tree")]
WITH = [{"it": it} for it in ("an umbrella", "a helmet", "a hat", "a coat", "a backpack", "a walking stick", "a scarf")]
WEAR = [{"it": it} for it in ("a hat", "a coat", "a scarf", "a helmet", "a red shirt", "a watch", "a mask", "gloves")]
MOVE = [{"go": go} for go in ("walking", "crossing the street", "waiting for a bus", "leaving the shop")]
HOLD = [
    {"a": a, "b": b}
    for a, b in (
        *(("a book", "a newspaper"), ("a rose", "a tulip"), ("a cup", "a bottle"), ("a kite", "a balloon")),
        *(("a fork", "a spoon"), ("a rabbit", "a hen"), ("a violin", "a trumpet")),
    )
]
POSE = [
    {"a": a, "b": b} for a, b in (("sitting", "standing"), ("awake", "asleep"), ("indoors", "outdoors"), ("wet", "dry"))
]
TRY = [
    {"base": base, "past": past}
    for base, past in (
        *(
            ("catch the ball", "caught the ball"),
            ("open the jar", "opened the jar"),
            ("climb the wall", "climbed the wall"),
        ),
        *(("find the key", "found the key"), ("lift the box", "lifted the box"), ("lock the door", "locked the door")),
        *(("feed the cat", "fed the cat"), ("sign the letter", "signed the letter")),
    )
]
PLACES = [{"city": city} for city in ("Paris", "Rome", "Cairo", "Lima", "Oslo", "Kyoto", "Athens")]


def _frame(
    phenomenon: str, slots: tuple[Slot, ...], changed: tuple[str, str, str], twin: tuple[str, str, str]
) -> Frame:
    """A frame of (premise, hypothesis, label) of the changed pair and of its twin."""
    names = ("premise", "hypothesis", "label")
    return Frame(phenomenon, dict(zip(names, changed, strict=True)), dict(zip(names, twin, strict=True)), slots)


IS, SAME = "{who} is {ing} {in}.", "{who} is {ing}."
SCENE = (WHO, DOING, PLACE)
ACT = (WHO, DOING)
FRAMES: tuple[Frame, ...] = (
    _frame("hypothesis: not", SCENE, (IS, "{who} is not {ing}.", C), (IS, SAME, E)),
    _frame(
        "hypothesis: not", ACT, ("{who} {past}.", "{who} did not {base}.", C), ("{who} {past}.", "{who} did {base}.", E)
    ),
    _frame("hypothesis: contracted", SCENE, (IS, "{who} isn't {ing}.", C), (IS, SAME, E)),
    _frame(
        "hypothesis: contracted",
        ACT,
        ("{who} {past}.", "{who} didn't {base}.", C),
        ("{who} {past}.", "{who} did {base}.", E),
    ),
    _frame("premise: not", SCENE, ("{who} is not {ing} {in}.", IS, C), (IS, IS, E)),
    _frame("premise: not", ACT, ("{who} isn't {ing}.", SAME, C), ("{who} is really {ing}.", SAME, E)),
    _frame(
        "both: wide to narrow", ACT, ("{who} is not {wide}.", "{who} is not {ing}.", E), (SAME, "{who} is {wide}.", E)
    ),
    _frame("both: wide to narrow", SCENE, ("{who} isn't {ing}.", "{who} isn't {ing} {in}.", E), (IS, SAME, E)),
    _frame(
        "both: narrow to wide", ACT, ("{who} is not {ing}.", "{who} is not {wide}.", N), ("{who} is {wide}.", SAME, N)
    ),
    _frame("both: narrow to wide", SCENE, ("{who} isn't {ing} {in}.", "{who} isn't {ing}.", N), (SAME, IS, N)),
    _frame(
        "nobody",
        (CROWD, PLACE),
        ("several people are {do} {in}.", "nobody is {do}.", C),
        ("several people are {do} {in}.", "somebody is {do}.", E),
    ),
    _frame(
        "nobody", (WHO, PLACE), ("nobody is {in}.", "{who} is {in}.", C), ("{who} is {in}.", "somebody is {in}.", E)
    ),
    _frame(
        "nobody",
        (CROWD, PLACE),
        ("nobody is {do}.", "nobody is {do} {in}.", E),
        ("somebody is {do} {in}.", "somebody is {do}.", E),
    ),
    _frame(
        "no",
        (THING, PLACE),
        ("there is {it} {in}.", "there is no {bare} {in}.", C),
        ("there is {it} {in}.", "{it} is {in}.", E),
    ),
    _frame(
        "no",
        (GROUP, CROWD, PLACE),
        ("no {group} are {do} {in}.", "some {group} are {do} {in}.", C),
        ("many {group} are {do} {in}.", "some {group} are {do} {in}.", E),
    ),
    _frame(
        "never",
        (WHO, PLACES),
        ("{who} has been to {city}.", "{who} has never been to {city}.", C),
        ("{who} has been to {city} twice.", "{who} has been to {city}.", E),
    ),
    _frame(
        "never",
        (WHO, PLACES),
        ("{who} has never been to {city}.", "{who} spent last summer in {city}.", C),
        ("{who} spent last summer in {city}.", "{who} has been to {city}.", E),
    ),
    _frame(
        "without",
        (WHO, MOVE, WITH),
        ("{who} is {go} with {it}.", "{who} is {go} without {it}.", C),
        ("{who} is {go} with {it}.", "{who} is {go}, and has {it}.", E),
    ),
    _frame(
        "without",
        (WHO, MOVE, WITH),
        ("{who} is {go} without {it}.", "{who} is {go}.", E),
        ("{who} is {go} with {it}.", "{who} is {go}.", E),
    ),
    _frame(
        "neither nor",
        (TWO, CROWD),
        ("neither {one} nor {two} is {do}.", "{one} is {do}.", C),
        ("both {one} and {two} are {do}.", "{one} is {do}.", E),
    ),
    _frame(
        "neither nor",
        (TWO, CROWD),
        ("neither {one} nor {two} is {do}.", "{two} is not {do}.", E),
        ("both {one} and {two} are {do}.", "{two} is {do}.", E),
    ),
    _frame(
        "not only but",
        (WHO, HOLD),
        ("{who} is holding not only {a} but also {b}.", "{who} is holding {a}.", E),
        ("{who} is holding {a} and also {b}.", "{who} is holding {a}.", E),
    ),
    _frame(
        "not only but",
        (TWO, CROWD),
        ("not only {one} but also {two} is {do}.", "{one} is {do}.", E),
        ("{one} and also {two} are {do}.", "{one} is {do}.", E),
    ),
    _frame(
        "not X but Y",
        (WHO, HOLD),
        ("{who} is holding not {a} but {b}.", "{who} is holding {a}.", C),
        ("{who} is holding {a} and {b}.", "{who} is holding {a}.", E),
    ),
    _frame(
        "not X but Y",
        (WHO, HOLD),
        ("{who} is holding not {a} but {b}.", "{who} is holding {b}.", E),
        ("{who} is holding {a} and {b}.", "{who} is holding {b}.", E),
    ),
    _frame(
        "double negation",
        SCENE,
        ("it is not true that {who} is not {ing} {in}.", SAME, E),
        ("it is true that {who} is {ing} {in}.", SAME, E),
    ),
    _frame(
        "double negation",
        (WHO, TRY),
        ("{who} did not fail to {base}.", "{who} {past}.", E),
        ("{who} managed to {base}.", "{who} {past}.", E),
    ),
    _frame(
        "hardly anyone",
        (CROWD, PLACE),
        ("hardly anyone {in} is {do}.", "most people {in} are {do}.", C),
        ("almost everyone {in} is {do}.", "most people {in} are {do}.", E),
    ),
    _frame(
        "hardly anyone",
        (GROUP, CROWD),
        ("barely any of the {group} are {do}.", "all of the {group} are {do}.", C),
        ("every one of the {group} is {do}.", "all of the {group} are {do}.", E),
    ),
    _frame(
        "not all",
        (GROUP, CROWD),
        ("not all of the {group} are {do}.", "all of the {group} are {do}.", C),
        ("all of the {group} are {do} now.", "all of the {group} are {do}.", E),
    ),
    _frame(
        "not all",
        (GROUP, CROWD),
        ("not all of the {group} are {do}.", "at least one of the {group} is not {do}.", E),
        ("all of the {group} are {do}.", "at least one of the {group} is {do}.", E),
    ),
    _frame(
        "fails, refuses",
        (WHO, TRY),
        ("{who} failed to {base}.", "{who} {past}.", C),
        ("{who} managed to {base}.", "{who} {past}.", E),
    ),
    _frame(
        "fails, refuses",
        (WHO, TRY),
        ("{who} refused to {base} and left.", "{who} {past}.", C),
        ("{who} agreed to {base} and did so.", "{who} {past}.", E),
    ),
    _frame(
        "forgets, remembers",
        (WHO, TRY),
        ("{who} did not forget to {base}.", "{who} {past}.", E),
        ("{who} remembered to {base}.", "{who} {past}.", E),
    ),
    _frame(
        "forgets, remembers",
        (WHO, TRY),
        ("{who} did not remember to {base}.", "{who} {past}.", C),
        ("{who} remembered to {base}.", "{who} {past}.", E),
    ),
    _frame(
        "outside the scope",
        (WHO, WEAR, DOING),
        ("{who}, who is not wearing {it}, is {ing}.", SAME, E),
        ("{who}, who is wearing {it}, is {ing}.", SAME, E),
    ),
    _frame(
        "outside the scope",
        SCENE,
        ("{who} is {ing} {in}, although it is not warm.", SAME, E),
        ("{who} is {ing} {in}, because it is warm.", SAME, E),
    ),
    _frame(
        "outside the scope",
        SCENE,
        ("nobody stops {who} from {ing} {in}, and so {who} goes on {ing}.", SAME, E),
        ("people help {who} with {ing} {in}, and so {who} goes on {ing}.", SAME, E),
    ),
    _frame(
        "not what is excluded",
        (WHO, POSE),
        ("{who} is {a}.", "{who} is not {b}.", E),
        ("{who} is {a}.", "{who} is {b}.", C),
    ),
    _frame("not what is excluded", ACT, (SAME, "{who} is not {else}.", E), (SAME, "{who} is {else}.", C)),
    _frame("not: nothing excluded", ACT, ("{who} is not {ing}.", "{who} is {else}.", N), (SAME, "{who} is {else}.", C)),
    _frame(
        "not: nothing excluded",
        (WHO, DOING, WEAR),
        (SAME, "{who} is not wearing {it}.", N),
        (SAME, "{who} is wearing {it}.", N),
    ),
    _frame(
        "conditional",
        SCENE,
        ("if it is not raining, {who} is {ing} {in}.", SAME, N),
        ("it is sunny, and {who} is {ing} {in}.", SAME, E),
    ),
    _frame(
        "conditional",
        (WHO, TRY),
        ("unless it rains tonight, {who} will {base}.", "{who} {past}.", N),
        ("as it rained last night, {who} {past}.", "{who} {past}.", E),
    ),
    _frame(
        "instead of",
        (WHO, HOLD),
        ("{who} bought {a} instead of {b}.", "{who} did not buy {b}.", E),
        ("{who} bought {a} as well as {b}.", "{who} bought {b}.", E),
    ),
    _frame(
        "instead of",
        (WHO, HOLD),
        ("{who} bought {a} instead of {b}.", "{who} bought {b}.", C),
        ("{who} bought {a} as well as {b}.", "{who} bought {b}.", E),
    ),
)


def _finish(template: Mapping[str, str], filling: Mapping[str, str]) -> Values:
    fields = {name: written(template[name].format_map(filling)) for name in ("premise", "hypothesis")}
    return {**fields, "label": template["label"]}


def rows(each: int = EACH, seed: int = 0) -> list[dict[str, Any]]:
    """``each`` pairs of every phenomenon."""
    return rows_of(FRAMES, _finish, each=each, seed=seed)
