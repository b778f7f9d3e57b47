import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from heldout.bio import strict
from heldout.data.duplicates import fold, fold_example
from heldout.data.prepare import load
from heldout.data.sources import Loaded, SourceOptions
from heldout.data.suites.negation_sentiment import SEEDS
from heldout.errors import Refused
from heldout.records import Example

TASKS = ("sentiment", "nli", "qa", "ner")
E, N, C = "entailment", "neutral", "contradiction"
#: Words of negation, written down apart from the grammar.
CUES = re.compile(
    r"\b(not|never|no|nobody|nothing|hardly|barely|scarcely|without|neither|nor|lacks|devoid|free of|fails?|failed"
    r"|refused|unless|instead|rather than|far from|anything but|except|but|non-\w+|un(?:happy|able))\b|n't\b"
)
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module", params=TASKS)
def suite(request: pytest.FixtureRequest) -> tuple[str, Loaded]:
    return request.param, load(request.param, "suite:negation", SourceOptions())


def pairs_of(loaded: Loaded) -> list[tuple[Example, Example]]:
    members = defaultdict(dict)
    for example in loaded.examples:
        members[example.about["pair"]][example.about["role"]] = example
    return [(found["original"], found["changed"]) for found in members.values()]


def words(example: Example) -> str:
    fields = example.text.values()
    return " / ".join(" ".join(field) if isinstance(field, list) else field for field in fields)


def test_there_are_hundreds_of_cases_of_many_phenomena_and_frames_and_none_is_dropped(
    suite: tuple[str, Loaded],
) -> None:
    task, loaded = suite
    changed = [example for example in loaded.examples if example.about["role"] == "changed"]
    sizes = Counter(example.about["phenomenon"] for example in changed)
    frames = {example.about["pair"].split(",")[0] for example in changed}
    assert len(changed) >= 300 and len(sizes) >= 15 and len(frames) >= 40, task
    assert min(sizes.values()) >= 30, sizes
    assert not loaded.dropped and not loaded.notes
    assert len({words(example) for example in changed}) == len(changed)
    assert len(pairs_of(loaded)) == len(changed) == len(loaded.examples) / 2


def test_every_changed_text_holds_a_negation_and_its_twin_less_of_it(suite: tuple[str, Loaded]) -> None:
    task, loaded = suite
    looked_at = 0
    for original, changed in pairs_of(loaded):
        before, after = (len(CUES.findall(words(example).lower())) for example in (original, changed))
        # The passage of a question may hold a negation that the twin's question does not ask for.
        assert after > before or (task == "qa" and after >= before >= 1), words(changed)
        looked_at += 1
    assert looked_at >= 300


def test_the_same_call_gives_the_same_cases_in_the_same_order(suite: tuple[str, Loaded]) -> None:
    task, loaded = suite
    assert load(task, "suite:negation", SourceOptions()).hash == loaded.hash


def test_a_review_without_a_negation_has_the_polarity_of_its_words() -> None:
    lists = json.loads((ROOT / "eval" / "slices" / "opinion_words.json").read_text())
    sides = {"positive": set(), "negative": set()}
    for name, found in lists.items():
        sides["positive" if name.startswith("pos") or name == "good" else "negative"] |= set(found)
    told = 0
    for original, _ in pairs_of(load("sentiment", "suite:negation", SourceOptions())):
        tokens = set(re.findall(r"[a-z]+", original.text["text"].lower()))
        found = {side for side, known in sides.items() if tokens & known}
        assert len(found) < 2, original
        told += bool(found)
        assert not found or found == {original.gold}, original
    assert told >= 500


def test_the_golds_of_the_negated_pairs_are_those_that_we_would_give_them() -> None:
    found = defaultdict(set)
    for original, changed in pairs_of(load("nli", "suite:negation", SourceOptions())):
        found[changed.about["phenomenon"]].add((original.gold, changed.gold))
    golds = {
        "hypothesis: not; hypothesis: contracted; premise: not; never; no": {(E, C)},
        "hardly anyone; fails, refuses": {(E, C)},
        "nobody; without; neither nor; not X but Y; not all; instead of; forgets, remembers": {(E, C), (E, E)},
        "both: wide to narrow; not only but; double negation; outside the scope": {(E, E)},
        "both: narrow to wide": {(N, N)},
        "not what is excluded": {(C, E)},
        "not: nothing excluded": {(C, N), (N, N)},
        "conditional": {(E, N)},
    }
    assert len(found) == 22
    for phenomenon, pairs in found.items():
        assert [wanted for names, wanted in golds.items() if phenomenon in names.split("; ")] == [pairs], phenomenon


def test_a_negated_hypothesis_contradicts_what_stands_in_the_premise_word_for_word() -> None:
    looked_at = 0
    for _, changed in pairs_of(load("nli", "suite:negation", SourceOptions())):
        if changed.about["phenomenon"].startswith("hypothesis:"):
            plain = re.sub(r"( is)(?: not|n't)", r"\1", changed.text["hypothesis"]).rstrip(".")
            if plain != changed.text["hypothesis"].rstrip("."):
                assert changed.text["premise"].startswith(plain) and changed.gold == C
                looked_at += 1
    assert looked_at >= 20


def test_every_answer_stands_in_its_passage_once_and_where_it_says() -> None:
    loaded = load("qa", "suite:negation", SourceOptions())
    assert not loaded.notes
    for example in loaded.examples:
        (answer,) = example.gold
        context = example.text["context"]
        assert context.startswith(answer["text"], answer["start"])
        assert len(re.findall(rf"\b{answer['text']}\b", context)) == 1, example
    asked = [(a, b) for a, b in pairs_of(loaded) if a.text["context"] == b.text["context"]]
    told = [(a, b) for a, b in pairs_of(loaded) if a.text["question"] == b.text["question"]]
    assert len(asked) + len(told) == len(loaded.examples) / 2 and min(len(asked), len(told)) > 200
    assert all(a.gold[0]["text"] != b.gold[0]["text"] for a, b in asked)
    assert all(a.gold[0]["text"] == b.gold[0]["text"] for a, b in told)


def test_a_negation_moves_no_entity_and_every_name_is_one() -> None:
    loaded = load("ner", "suite:negation", SourceOptions())
    for original, changed in pairs_of(loaded):
        assert named(original) == named(changed) != []
        assert changed.about["expect"] == "inv"
    for example in loaded.examples:
        inside = {place for start, end, _ in strict(example.gold) for place in range(start, end)}
        outside = [word for place, word in enumerate(example.text["words"]) if place not in inside and place]
        # Names are the only capitalised words that do not begin the sentence.
        assert all(word[0] in "I" or not word[0].isupper() for word in outside), example


def named(example: Example) -> list[tuple[str, str]]:
    words = example.text["words"]
    return [(" ".join(words[start:end]), kind) for start, end, kind in strict(example.gold)]


@pytest.mark.parametrize(
    ("task", "known", "golds"),
    [
        ("ner", ("O", "B-PER", "I-PER", "B-LOC", "I-LOC"), {"PER", "LOC"}),
        ("ner", ("O", "B-person", "I-person", "B-geo-loc", "I-geo-loc"), {"person", "geo-loc"}),
        ("nli", ("entailment", "non-entailment"), {"entailment", "non-entailment"}),
        ("nli", ("entailment", "neutral", "contradiction"), {E, N, C}),
    ],
)
def test_labels_have_the_names_of_the_card(task: str, known: tuple[str, ...], golds: set[str]) -> None:
    loaded = load(task, "suite:negation", SourceOptions(), labels=known)
    found = {kind for example in loaded.examples for _, _, kind in strict(example.gold)} if task == "ner" else set()
    assert (found or {example.gold for example in loaded.examples}) == golds


def test_a_card_that_calls_people_otherwise_is_told_how_to_name_them() -> None:
    with pytest.raises(Refused, match="--label person=TYPE"):
        load("ner", "suite:negation", SourceOptions(), labels=("O", "B-Who", "I-Who"))
    renamed = load(
        *("ner", "suite:negation", SourceOptions(label=("person=Who", "location=-"))), labels=("O", "B-Who", "I-Who")
    )
    assert {kind for example in renamed.examples for _, _, kind in strict(example.gold)} == {"Who"}


@pytest.mark.parametrize(
    ("task", "source", "message"),
    [
        ("nli", "suite:negatoin", "did you mean negation"),
        ("sentiment", "suite:composition", "has no cases of sentiment; it has some of nli"),
        (
            "nli",
            "suite:composition@test",
            "no part 'test' for nli; there are suite:composition, suite:composition@train",
        ),
    ],
)
def test_a_suite_that_is_not_there_is_refused_saying_what_is(task: str, source: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        load(task, source, SourceOptions())


@pytest.mark.data
def test_the_seeds_four_sentences_stand_in_the_suite_and_in_no_train_split(real_data: Path) -> None:
    texts = {example.text["text"]: example for example in load("sentiment", "suite:negation", SourceOptions()).examples}
    seeds = {
        sentence: gold for plain, gold, negated, other in SEEDS for sentence, gold in ((plain, gold), (negated, other))
    }
    assert {sentence: texts[sentence].gold for sentence in seeds} == {
        "The film is good.": "positive",
        "The film is not good.": "negative",
        "The film is bad.": "negative",
        "The film is not bad.": "positive",
    }
    folds, read = set(map(fold, seeds)), 0
    for source in ("imdb/train.jsonl.gz", "sst_mr_cr_mpqa_subj_trec/stsa.binary.train"):
        train = load("sentiment", str(real_data / source), SourceOptions())
        assert folds.isdisjoint(map(fold_example, train.examples)), source
        read += len(train.examples)
    assert read == 25_000 + 6_920
