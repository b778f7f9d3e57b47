"""The language of --slice: printed and parsed again it is the same, and it means what plain Python means."""

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import Failed, Refused
from heldout.eval.own_slices.condition import holds, refuse_unknown
from heldout.eval.own_slices.expression import Both, Compare, Field, Match, Not, parse, show
from heldout.records import Example, Prediction

WORD = st.sampled_from(["domain", "text", "about", "gold", "premise", "x1", "größe", "in-it", "note", "order"])
FIELDS = st.builds(Field, st.lists(WORD, min_size=1, max_size=3).map(tuple))
COUNTS = st.builds(lambda path: Field((*path, "words")), st.lists(WORD.filter(lambda w: w != "about"), max_size=2))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: 0.0 if x == 0 else x)
VALUES = st.one_of(NUMBERS, st.text(max_size=12), COUNTS)
PATTERNS = st.lists(
    st.sampled_from(["a", "/", r"\.", r"\\", "[a-c]", "b?", " ", '"', ")|(?:x", "(?:y)"]), min_size=1, max_size=6
).map("".join)


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return True


COMPARES = st.one_of(
    st.builds(Compare, FIELDS, st.sampled_from(["=", "!="]), VALUES),
    st.builds(Compare, FIELDS, st.sampled_from(["<", "<=", ">", ">="]), st.one_of(NUMBERS, COUNTS)),
)
MATCHES = st.builds(
    Match, FIELDS, st.sampled_from(["~", "!~"]), PATTERNS.filter(_compiles), st.sampled_from(["", "i", "ims"])
)
TREES = st.recursive(
    st.one_of(FIELDS, COUNTS, COMPARES, MATCHES),
    lambda inner: st.one_of(st.builds(Not, inner), st.builds(Both, st.sampled_from(["and", "or"]), inner, inner)),
    max_leaves=8,
)


@given(TREES)
def test_a_printed_expression_parses_to_the_same_tree(tree: Any) -> None:
    assert parse(show(tree)) == tree


@given(st.text(max_size=40) | st.text(alphabet="abtext. ()=<>~!/'\"\\19-ornd", max_size=40))
def test_any_string_is_parsed_or_refused_in_one_line(source: str) -> None:
    try:
        tree = parse(source)
    except Refused as error:
        assert "\n" not in str(error).replace(repr(source), "")
    else:
        assert parse(show(tree)) == tree


ROWS = st.fixed_dictionaries(
    {"domain": st.sampled_from([None, "books", "dvd"]), "stars": st.sampled_from([None, 1, 3, "3", 4.5])},
)
#: Each test of the language beside the Python that it means, of (about, text, gold).
MEANINGS: dict[str, Any] = {
    "domain = books": lambda a, t, g: a.get("domain") == "books",
    "domain != books": lambda a, t, g: a.get("domain") != "books",
    "about.domain": lambda a, t, g: bool(a.get("domain")),
    "stars > 2": lambda a, t, g: a.get("stars") is not None and float(a["stars"]) > 2,
    "stars = 3": lambda a, t, g: a.get("stars") in (3, "3"),
    "stars <= words": lambda a, t, g: a.get("stars") is not None and float(a["stars"]) <= len(t.split()),
    "tokens >= 3": lambda a, t, g: len(t.split()) >= 3,
    "text.characters<8": lambda a, t, g: len(t) < 8,
    "text ~ /yeah|no/i": lambda a, t, g: re.search("yeah|no", t, re.IGNORECASE) is not None,
    "text !~ 'a b'": lambda a, t, g: "a b" not in t,
    "gold=positive": lambda a, t, g: g == "positive",
    "label == negative": lambda a, t, g: g == "negative",
}


@given(
    ROWS,
    st.text(alphabet="abn oYeah", max_size=15),
    st.sampled_from(["positive", "negative"]),
    st.sampled_from(list(MEANINGS)),
    st.sampled_from(list(MEANINGS)),
    st.sampled_from(list(MEANINGS)),
    st.sampled_from(["{} and {} or {}", "{} or {} and {}", "not {} and ({} or {})", "not ({} or not {}) or {}"]),
)
def test_an_expression_means_what_python_means(
    row: dict[str, Any], text: str, gold: str, first: str, second: str, third: str, form: str
) -> None:
    about = {key: value for key, value in row.items() if value is not None}
    said = [MEANINGS[name](about, text, gold) for name in (first, second, third)]
    expected = eval(form.format(*said))  # noqa: S307 - the oracle is Python's own and, or, not
    found = holds(
        parse(form.format(first, second, third)), Example("a", {"text": text}, gold, about), Prediction("a", "")
    )
    assert found == expected


def test_fields_of_every_kind_of_gold_are_read() -> None:
    said = Prediction("a", "", seen={"tokens": 9, "lost": 2})
    pair = Example("a", {"premise": "A dog runs home.", "hypothesis": "A dog."}, "entailment", {"tags": ["x", "y"]})
    question = Example("b", {"question": "Who?", "context": "Ada and Bo."}, [{"text": "Ada"}, {"text": "Bo B"}])
    impossible = Example("c", {"question": "Who?", "context": "Nobody."}, [], {"impossible": True})
    sentence = Example("d", {"words": ["Ada", "in", "Rome", "now"]}, ["B-PER", "O", "B-LOC", "O"])
    true = [
        (pair, "premise.words = 4 and hypothesis.words < premise.words and premise.characters=16"),
        (pair, "words=6 and tokens=6 and text ~ /home\\.\\nA/ and text.premise ~ 'dog'"),
        (pair, "seen.tokens>8 and seen.lost and tags=y and not tags=z and nothing!=x and not nothing"),
        (question, "gold=Ada and gold='Bo B' and gold.count=2 and gold.words=3 and not about.impossible"),
        (impossible, "gold.count=0 and not gold and impossible and impossible=true and gold.words=0"),
        (sentence, "gold=PER and gold.count=2 and not gold=ORG and words=4 and text ~ /in Rome/"),
    ]
    for example, source in true:
        for part in source.split(" and "):
            assert holds(parse(part), example, said), part
        assert holds(parse(source), example, said)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "its end: expected a field"),
        ("tokens>", "its end: expected a number"),
        ("tokens > big", "'big' at character 10: expected a number behind >"),
        ("(a=b", "its end: expected a closing )"),
        ("a=b c=d", "'c' at character 5: expected and, or, or the end"),
        ("words~/x/", "words is a number; compare it"),
        ("text~/(/", "is no regular expression"),
        ("text~/a/x", "the flags 'x'"),
        ("text~/abc", "'/' at character 6"),
        ("text~//", "0 characters; give 1 to 200"),
        ("text~/" + "a" * 201 + "/", "201 characters"),
        ("not " * 50 + "a", "nested more than 40 deep"),
        ("a or " * 500 + "a", "an expression has at most 2000"),
        ("__import__('os')", "'(' at character 11"),
        ("a; b", "';' at character 2"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(source: str, message: str) -> None:
    with pytest.raises(Refused, match=re.escape(message)):
        parse(source)


def test_a_field_that_no_example_has_is_refused_with_the_nearest() -> None:
    examples = [Example("a", {"premise": "x", "hypothesis": "y"}, "neutral", {"domain": "books"})]
    refuse_unknown(parse("domain=b and premise.words>1 and tokens>2 and gold=x and seen.lost>0"), examples, "slice s")
    for source, near in [("hypotesis.words>3", "hypothesis.words"), ("domian=b", "domain"), ("tokns>1", "tokens")]:
        with pytest.raises(Refused, match=rf"slice s: no example has .*did you mean {near}\?"):
            refuse_unknown(parse(source), examples, "slice s")


def test_a_pattern_that_would_never_end_is_stopped_and_its_example_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("heldout.eval.own_slices.condition.PATIENCE", 0.2)
    start = time.monotonic()
    with pytest.raises(Failed, match=r"took over 0\.2 s on id 'a7'; write a simpler pattern"):
        holds(parse("text ~ /(a+)+$/"), Example("a7", {"text": "a" * 40 + "!"}, "x"), Prediction("a7", "x"))
    assert time.monotonic() - start < 5
    assert holds(parse("text ~ /(a+)+$/"), Example("a8", {"text": "a" * 40}, "x"), Prediction("a8", "x"))
