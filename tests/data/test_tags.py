import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.scheme import BILOU, IOBES, Entities

from heldout.bio import lenient, strict, tags_of
from heldout.data.tags import read_tags, types_of
from heldout.errors import Refused


def where(sentence, word):
    return f"sentence {sentence}, word {word}"


def read(*sentences):
    return read_tags([sentence.split() for sentence in sentences], where)


# The same three sentences: two entities that touch, one of two words behind another type, one alone at the end.
ENTITIES = [[(0, 2, "X"), (2, 3, "X")], [(0, 1, "Y"), (1, 3, "X")], [(2, 3, "Y")]]
SPELT = {
    "IOB2": ["B-X I-X B-X O", "B-Y B-X I-X", "O O B-Y"],
    "IOB1": ["I-X I-X B-X O", "I-Y I-X I-X", "O O I-Y"],
    "BIOES": ["B-X E-X S-X O", "S-Y B-X E-X", "O O S-Y"],
    "BILOU": ["B-X L-X U-X O", "U-Y B-X L-X", "O O U-Y"],
}


@pytest.mark.parametrize("scheme", SPELT)
def test_each_scheme_is_recognised_and_read_to_the_same_entities(scheme):
    found = read(*SPELT[scheme])
    assert (found.scheme, found.entities) == (scheme, ENTITIES)
    assert "invalid_tags_read_as_entities" not in found.notes


def test_a_conversion_is_said_with_the_number_of_tags_that_changed():
    changed = {scheme: read(*sentences).notes for scheme, sentences in SPELT.items()}
    assert changed == {
        "IOB2": {},
        "IOB1": {"tags_converted_from_IOB1_to_IOB2": 4},
        "BIOES": {"tags_converted_from_BIOES_to_IOB2": 5},
        "BILOU": {"tags_converted_from_BILOU_to_IOB2": 5},
    }


def test_a_source_without_b_is_read_as_io_and_bare_types_are_too():
    # FAULTS N6: labels without B- and I- gave a precision and recall of nought without a word.
    for sentence, scheme in (("I-X I-X O I-Y I-X", "IO"), ("X X O Y X", "bare_types")):
        found = read(sentence)
        assert found.scheme == scheme
        assert found.entities == [[(0, 2, "X"), (3, 4, "Y"), (4, 5, "X")]]
    assert found.notes == {"tags_converted_from_bare_types_to_IOB2": 4}


def test_tags_of_o_with_a_prefix_are_read_as_o_and_counted():
    found = read("B-X I-X I-O O", "I-O B-O B-X")
    assert found.entities == [[(0, 2, "X")], [(2, 3, "X")]]
    assert found.notes == {"stray_tags_read_as_O": 3}


def test_what_iob2_does_not_allow_begins_an_entity_and_is_counted():
    found = read("O I-X I-X", "B-X I-Y", "B-Y", "B-Y O B-X")
    assert found.scheme == "IOB2"
    assert found.entities == [[(1, 3, "X")], [(0, 1, "X"), (1, 2, "Y")], [(0, 1, "Y")], [(0, 1, "Y"), (2, 3, "X")]]
    assert found.notes == {"invalid_tags_read_as_entities": 2}


def test_an_entity_that_never_ends_is_counted_where_a_scheme_marks_the_end():
    found = read("B-X I-X O", "B-X E-X I-X", "S-X")
    assert found.entities == [[(0, 2, "X")], [(0, 2, "X"), (2, 3, "X")], [(0, 1, "X")]]
    # The first lacks its end; the last I-X lacks its beginning and its end.
    assert found.notes["invalid_tags_read_as_entities"] == 3


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("O B-X,B-Y", "word 1: 'B-X,B-Y' is several tags of one word"),
        ("B-X PER", "word 1: tag 'PER' has no B- or I-"),
        ("O -- B-X", "word 1: tag '--' has no B- or I-"),
    ],
)
def test_tags_that_cannot_be_meant_are_refused_with_their_place(sentence, message):
    with pytest.raises(Refused, match=f"sentence 0, {message}"):
        read(sentence)
    with pytest.raises(Refused, match="sentence 0, word 1: the word has no tag"):
        read_tags([["O", ""]], where)


def test_a_type_may_hold_hyphens_and_commas():
    assert types_of({"O", "B-creative-work", "I-a,b"}) == {"creative-work", "a,b"}


TYPES = st.sampled_from(["X", "Y-z"])
LENGTHS = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), TYPES), min_size=1, max_size=4)


def entities(parts):
    """Entities from (words before, words of it, type)."""
    found, at = [], 0
    for before, length, kind in parts:
        found.append((at + before, at + before + length, kind))
        at += before + length
    return found, at


@given(LENGTHS)
def test_bioes_and_bilou_are_read_as_seqeval_reads_them(parts):
    wanted, n = entities(parts)
    for scheme, (end, single) in {IOBES: "ES", BILOU: "LU"}.items():
        tags = ["O"] * n
        for start, stop, kind in wanted:
            several = [f"B-{kind}", *[f"I-{kind}"] * (stop - start - 2), f"{end}-{kind}"]
            tags[start:stop] = several if stop - start > 1 else [f"{single}-{kind}"]
        theirs = Entities([tags], scheme=scheme).entities[0]
        found = read_tags([tags], where)
        assert found.entities == [wanted] == [[(e.start, e.end, e.tag) for e in theirs]]


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y-z", "I-Y-z"]), max_size=8))
def test_iob1_and_iob2_are_read_as_conlleval_does_whatever_is_recognised(tags):
    found = read_tags([tags], where)
    assert found.entities == [lenient(tags)]


@given(LENGTHS)
def test_valid_iob2_is_left_as_it_is(parts):
    wanted, n = entities(parts)
    found = read_tags([tags_of(wanted, n)], where)
    assert (found.entities[0], found.scheme, found.notes) == (strict(tags_of(wanted, n)), "IOB2", {})
