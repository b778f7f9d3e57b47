"""Negation in questions and in passages: who did not, and who did, each with its answer in the passage.

The twin asks the same passage without the negation, or asks the same of a passage without it. Every answer stands in
its passage once, so that its place is known. All questions have an answer: systems for SQuAD 1.1 and 2.0 take them.
"""

from collections.abc import Mapping
from typing import Any

from heldout.data.suites.frames import EACH, Frame, Slot, Values, rows_of, written

NAMES = ("Anna", "Peter", "Maria", "David", "Laura", "Thomas", "Julia", "Martin", "Sarah", "Robert", "Emma", "Daniel")
#: Three people of whom no two are the same.
WHO: Slot = [
    {"x": NAMES[k], "y": NAMES[(k + step) % 12], "z": NAMES[(k + 2 * step) % 12]} for k in range(12) for step in (1, 5)
]
ACTS: Slot = [
    {"base": base, "past": past, "done": done, "with": other}
    for base, past, done, other in (
        ("paint the fence", "painted the fence", "painted the fence", "a ladder"),
        ("climb the tower", "climbed the tower", "climbed the tower", "a map"),
        ("bake a cake", "baked a cake", "baked a cake", "a recipe"),
        ("win the race", "won the race", "won the race", "a coach"),
        ("visit the museum", "visited the museum", "visited the museum", "a ticket"),
        ("sing at the party", "sang at the party", "sung at the party", "a band"),
        ("repair the boat", "repaired the boat", "repaired the boat", "a helper"),
        ("write to the mayor", "wrote to the mayor", "written to the mayor", "a pencil"),
    )
]
#: Two things of one kind, and what is done with them.
THINGS: Slot = [
    {"a": a, "b": b, "buy": base, "bought": past, "kind": kind}
    for a, b, base, past, kind in (
        *(("apples", "pears", "buy", "bought", "fruit"), ("roses", "tulips", "plant", "planted", "flowers")),
        *(("tea", "coffee", "order", "ordered", "drink"), ("trout", "salmon", "catch", "caught", "fish")),
        *(("silver", "copper", "sell", "sold", "metal"), ("oak", "pine", "cut", "cut", "wood")),
        *(("wool", "linen", "buy", "bought", "cloth"), ("plums", "cherries", "pick", "picked", "fruit")),
        *(("violins", "trumpets", "repair", "repaired", "instruments"), ("goats", "geese", "keep", "kept", "animals")),
    )
]
CITIES: Slot = [
    {"a": a, "b": b}
    for a, b in (
        *(("Lisbon", "Madrid"), ("Oslo", "Bergen"), ("Vienna", "Graz"), ("Lima", "Cusco"), ("Cairo", "Luxor")),
        *(("Dublin", "Cork"), ("Kyoto", "Osaka")),
    )
]
HAS: Slot = [
    {"it": it, "its": its}
    for it, its in (
        *(("airport", "an airport"), ("harbour", "a harbour"), ("cathedral", "a cathedral"), ("zoo", "a zoo")),
        *(("university", "its own university"), ("tram", "a tram"), ("castle", "a castle")),
    )
]
DAY: Slot = [{"day": day} for day in ("Monday", "Tuesday", "Wednesday", "Friday", "Saturday")]


def _asked(phenomenon: str, context: str, negated: tuple[str, str], plain: tuple[str, str], *slots: Slot) -> Frame:
    """One passage and two questions with their answers: the negated one and its twin."""
    changed, twin = (
        {"context": context, "question": question, "answers": answer} for question, answer in (negated, plain)
    )
    return Frame(phenomenon, changed, twin, slots)


def _told(phenomenon: str, question: str, negated: tuple[str, str], plain: tuple[str, str], *slots: Slot) -> Frame:
    """One question and two passages with its answer: the one with a negation and its twin."""
    changed, twin = (
        {"context": context, "question": question, "answers": answer} for context, answer in (negated, plain)
    )
    return Frame(phenomenon, changed, twin, slots)


ROOM = "On {day} the friends met by the river. "
FRAMES: tuple[Frame, ...] = (
    # The negation stands in the question, and in what it asks for.
    _asked(
        "who did not",
        ROOM + "{x} {past}. {y} did not {base}, but had a good time.",
        ("Who did not {base}?", "{y}"),
        ("Who {past}?", "{x}"),
        WHO,
        ACTS,
        DAY,
    ),
    _asked(
        "who did not",
        "There was a plan for {day}. {y} did not {base} because of the rain. {x} {past} anyway.",
        ("Who did not {base}?", "{y}"),
        ("Who {past}?", "{x}"),
        WHO,
        ACTS,
        DAY,
    ),
    _asked(
        "who didn't",
        ROOM + "{y} {past}, with {z} looking on. {x} didn't {base}.",
        ("Who didn't {base}?", "{x}"),
        ("Who {past}?", "{y}"),
        WHO,
        ACTS,
        DAY,
    ),
    _asked(
        "who didn't",
        "In the letter {z} tells of two cousins. {x} didn't {base}, which surprised no one. {y} {past}.",
        ("Which cousin didn't {base}?", "{x}"),
        ("Which cousin {past}?", "{y}"),
        WHO,
        ACTS,
    ),
    _asked(
        "what not",
        "{x} runs a small farm near the coast. Last spring {x} {bought} {a}, but did not {buy} {b}.",
        ("What did {x} not {buy} last spring?", "{b}"),
        ("What did {x} {buy} last spring?", "{a}"),
        WHO,
        THINGS,
    ),
    _asked(
        "what not",
        "{x} wanted to {buy} some {kind} that year. {a} it had to be. {x} didn't {buy} any {b} at all.",
        ("Which {kind} didn't {x} {buy}?", "{b}"),
        ("Which {kind} did {x} {buy}?", "{a}"),
        WHO,
        THINGS,
    ),
    _asked(
        "where not",
        "{x} travelled for two weeks. The train stopped in {a}, where {x} stayed, but it did not stop in {b}.",
        ("Where did the train not stop?", "{b}"),
        ("Where did the train stop?", "{a}"),
        WHO,
        CITIES,
    ),
    _asked(
        "where not",
        "{x} works as a guide. On {day} the tour went to {a}. It was not possible to go to {b} as well.",
        ("Where did the tour not go?", "{b}"),
        ("Where did the tour go?", "{a}"),
        WHO,
        CITIES,
        DAY,
    ),
    _asked(
        "never",
        "{x} and a friend talk of the past. {y} has never {done}. {z} has often {done}.",
        ("Who has never {done}?", "{y}"),
        ("Who has often {done}?", "{z}"),
        WHO,
        ACTS,
    ),
    _asked(
        "never",
        "{x} loves to travel. Before this year {x} had been to {a} many times, but never to {b}.",
        ("Which city had {x} never been to?", "{b}"),
        ("Which city had {x} been to many times?", "{a}"),
        WHO,
        CITIES,
    ),
    _asked(
        "no",
        "The two towns are an hour apart. {a} has {its}. {b} has no {it}, though it is the older town.",
        ("Which town has no {it}?", "{b}"),
        ("Which town has {its}?", "{a}"),
        CITIES,
        HAS,
    ),
    _asked(
        "no",
        "There is no {it} in {a}. People who need one go to {b}, where there is {its} near the river.",
        ("In which town is there no {it}?", "{a}"),
        ("In which town is there {its}?", "{b}"),
        CITIES,
        HAS,
    ),
    _asked(
        "without",
        ROOM + "{x} came with {with}. {y} came without {with}, and nobody minded.",
        ("Who came without {with}?", "{y}"),
        ("Who came with {with}?", "{x}"),
        WHO,
        ACTS,
        DAY,
    ),
    _asked(
        "without",
        "{y} {past} without {with}. {x} {past} too, but with {with}.",
        ("Who {past} without {with}?", "{y}"),
        ("Who {past} with {with}?", "{x}"),
        WHO,
        ACTS,
    ),
    _asked(
        "refused, failed",
        ROOM + "{x} agreed to {base}. {y} refused to {base} and went home early.",
        ("Who refused to {base}?", "{y}"),
        ("Who agreed to {base}?", "{x}"),
        WHO,
        ACTS,
        DAY,
    ),
    _asked(
        "refused, failed",
        "It was a long day. {x} failed to {base}, {y} managed to {base}, and {z} slept.",
        ("Who failed to {base}?", "{x}"),
        ("Who managed to {base}?", "{y}"),
        WHO,
        ACTS,
    ),
    _asked(
        "everyone but",
        "All of them {past} on {day}, all but {x}. The first to do so was {y}.",
        ("Who did not {base} on {day}?", "{x}"),
        ("Who was the first to {base} on {day}?", "{y}"),
        WHO,
        ACTS,
        DAY,
    ),
    _asked(
        "everyone but",
        "Nobody {past} on {day} except {x}. The others, {y} among them, stayed at home.",
        ("Who was not at home on {day}?", "{x}"),
        ("Who was at home on {day}?", "{y}"),
        WHO,
        ACTS,
        DAY,
    ),
    _asked(
        "no longer, not yet",
        "{x} no longer lives in {a}. Since last year the family has been living in {b}.",
        ("Where does {x} no longer live?", "{a}"),
        ("Where does {x} live now?", "{b}"),
        WHO,
        CITIES,
    ),
    _asked(
        "no longer, not yet",
        "{x} has {done} already. {y} has not {done} yet, but wants to do so on {day}.",
        ("Who has not {done} yet?", "{y}"),
        ("Who has {done} already?", "{x}"),
        WHO,
        ACTS,
        DAY,
    ),
    # The negation stands in the passage, where it must keep an answer out, or must not.
    _told(
        "not X but Y",
        "Who {past}?",
        (ROOM + "It was not {x} but {y} who {past}.", "{y}"),
        (ROOM + "It was {y}, a friend of {x}, who {past}.", "{y}"),
        WHO,
        ACTS,
        DAY,
    ),
    _told(
        "not X but Y",
        "What did the farmer {buy}?",
        ("The farmer did not {buy} {a}, as is often said. The farmer {bought} {b}.", "{b}"),
        ("The farmer said a lot about {a}. The farmer {bought} {b}.", "{b}"),
        THINGS,
    ),
    _told(
        "not X but Y",
        "Where was the meeting held?",
        ("The meeting was to be held on {day}. In the end it was held not in {a} but in {b}.", "{b}"),
        ("The meeting was to be held on {day}. People from {a} came when it was held in {b}.", "{b}"),
        CITIES,
        DAY,
    ),
    _told(
        "instead of",
        "What did {x} {buy}?",
        ("{x} went out early. Instead of {a}, {x} {bought} {b}.", "{b}"),
        ("{x} went out early. After a talk about {a}, {x} {bought} {b}.", "{b}"),
        WHO,
        THINGS,
    ),
    _told(
        "instead of",
        "Which city did {x} visit?",
        ("{x} had a week off. Rather than {a}, which was too far, {x} visited {b}.", "{b}"),
        ("{x} had a week off. With a friend from {a}, which is far, {x} visited {b}.", "{b}"),
        WHO,
        CITIES,
    ),
    _told(
        "denied",
        "Who {past}?",
        (ROOM + "It is not true that {x} {past}. The truth is that {y} {past}.", "{y}"),
        (ROOM + "It is true that {x} was there. The truth is that {y} {past}.", "{y}"),
        WHO,
        ACTS,
        DAY,
    ),
    _told(
        "denied",
        "Who {past}?",
        ("Some thought of {x}, but {x} did not {base}. {y} {past}.", "{y}"),
        ("Some thought of {x}, but {x} was elsewhere. {y} {past}.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "neither nor",
        "Who {past}?",
        ("Neither {x} nor {z} was able to {base}. {y} {past} in the end.", "{y}"),
        ("Both {x} and {z} were glad to help. {y} {past} in the end.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "neither nor",
        "Who did not come?",
        ("{x} came on {day}, and so did {z}. {y} neither came nor wrote.", "{y}"),
        ("{x} came on {day}, and so did {z}. {y} stayed away and wrote.", "{y}"),
        WHO,
        DAY,
    ),
    _told(
        "double negation",
        "Who {past}?",
        ("It is wrong to say that {y} did not {base}. {x} only watched.", "{y}"),
        ("It is right to say that {y} {past}. {x} only watched.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "double negation",
        "Who remembered to {base}?",
        ("{x} forgot to {base}. {y} did not forget to {base}.", "{y}"),
        ("{x} was too late to {base}. {y} remembered to {base}.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "hardly",
        "Who was often in {a}?",
        ("{x} was hardly ever in {a}. It was {y} who went there every {day}.", "{y}"),
        ("{x} was born in {a}. It was {y} who went there every {day}.", "{y}"),
        WHO,
        CITIES,
        DAY,
    ),
    _told(
        "hardly",
        "Who knew the town well?",
        ("{x} scarcely knew the town. {y} knew it well, having lived there.", "{y}"),
        ("{x} liked the town. {y} knew it well, having lived there.", "{y}"),
        WHO,
    ),
    _told(
        "outside the scope",
        "Who {past}?",
        ("It was not warm on {day}. {y} {past}, and {x} watched.", "{y}"),
        ("It was rather warm on {day}. {y} {past}, and {x} watched.", "{y}"),
        WHO,
        ACTS,
        DAY,
    ),
    _told(
        "outside the scope",
        "Who {past}?",
        ("{y}, who had not slept at all, {past}. {x} watched from the door.", "{y}"),
        ("{y}, who had slept very well, {past}. {x} watched from the door.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "outside the scope",
        "Which town has {its}?",
        ("{a} does not lie on the coast. It has {its}. Many people from {b} use it.", "{a}"),
        ("{a} lies far from the coast. It has {its}. Many people from {b} use it.", "{a}"),
        CITIES,
        HAS,
    ),
    _told(
        "not only but",
        "Who {past} first?",
        ("Not only {x} but also {z} {past}. The first to do so was {y}.", "{y}"),
        ("{x} and also {z} {past}. The first to do so was {y}.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "not only but",
        "What did {x} {buy} in autumn?",
        ("{x} did not only {buy} {a} that year. In autumn {x} {bought} {b} too.", "{b}"),
        ("{x} went out to {buy} {a} that year. In autumn {x} {bought} {b} too.", "{b}"),
        WHO,
        THINGS,
    ),
    _told(
        "conditional",
        "Who {past}?",
        ("If it had not rained, {x} would have {done}. As it was, {y} {past}.", "{y}"),
        ("If it rains again, {x} will be sad. As it was, {y} {past}.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "conditional",
        "Where did {x} go on {day}?",
        ("Unless the road is closed, {x} goes to {a}. On {day} it was closed, and {x} went to {b}.", "{b}"),
        ("When the road is open, {x} goes to {a}. On {day} it was closed, and {x} went to {b}.", "{b}"),
        WHO,
        CITIES,
        DAY,
    ),
    _told(
        "nobody",
        "Who {past}?",
        ("Nobody asked {x} to {base}. {y} {past} without being asked.", "{y}"),
        ("Somebody asked {x} about it. {y} {past} before being asked.", "{y}"),
        WHO,
        ACTS,
    ),
    _told(
        "nobody",
        "Who was seen in {a}?",
        ("Nobody has seen {x} in {a}. {y} was seen there on {day}.", "{y}"),
        ("People talked of {x} in {a}. {y} was seen there on {day}.", "{y}"),
        WHO,
        CITIES,
        DAY,
    ),
)


def _finish(template: Mapping[str, str], filling: Mapping[str, str]) -> Values:
    fields = {name: written(template[name].format_map(filling)) for name in ("question", "context")}
    answer = template["answers"].format_map(filling)
    start = fields["context"].find(answer)
    if start < 0:  # a sentence may begin with it
        answer = answer[0].upper() + answer[1:]
        start = fields["context"].index(answer)
    return {**fields, "answers": [{"text": answer, "answer_start": start}]}


def rows(each: int = EACH, seed: int = 0) -> list[dict[str, Any]]:
    """``each`` pairs of every phenomenon."""
    return rows_of(FRAMES, _finish, each=each, seed=seed)
