import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.checks.writing import broken, odd, script

ENGLISH = "the film was good and we went home with a smile on our faces after it ended in the rain for once"
GERMAN = (
    "der Film war gut und wir gingen mit einem Lachen nach Hause weil es endlich wieder einmal regnete und niemand fror"
)


@pytest.mark.parametrize(
    "text", ["a café", "Ünïcödé", "naïve “quotes” — dash…", "CAFÉ” he said", "5 £ or 3 €", "Ñandú"]
)
def test_text_that_was_decoded_rightly_is_left_alone(text):
    assert broken(text) == {}


@pytest.mark.parametrize("text", ["café", "“quoted”", "it’s", "naïve", "€ 5", "Málaga"])
@pytest.mark.parametrize("wrong", ["latin-1", "cp1252"])
def test_utf_8_read_in_another_encoding_is_found(text, wrong):
    # cp1252 has no character for five bytes: decoders put the control character of that number.
    read = "".join(
        bytes([byte]).decode(wrong) if wrong == "latin-1" or byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(byte)
        for byte in text.encode()
    )
    assert "mojibake" in broken(read)


@given(st.text(st.characters(max_codepoint=0x24F, categories=["L", "N", "P", "Zs"]), max_size=30))
def test_what_is_found_is_shorter_when_it_is_read_rightly(text):
    if broken(text):
        assert any(character > "\x7f" for character in text)
    assert broken(text.encode("ascii", "ignore").decode()) == {}


def test_replaced_and_control_characters_are_found():
    assert broken("a caf\ufffd") == {"replacement character": 5}
    assert broken("a \x07 bell") == {"control character": 2}
    assert broken("said \x93yes\x94") == {"undecoded character": 5}
    assert broken("tab\tand\nline\u0085") == {}


def test_the_script_of_a_text_is_that_of_most_of_its_letters():
    assert script("Привет, мир, это IBM") == "CYRILLIC"
    assert script("今天天气很好") == "CJK"
    assert script("1 2 3") == ""


def test_a_text_in_another_script_and_one_in_another_language_are_found_among_many():
    texts = [f"{ENGLISH} {number}" for number in range(250)]
    texts[17] = "Фильм был хорош, и мы пошли домой"
    texts[40] = GERMAN
    assert odd(texts) == {"other script": {17: 0}, "unlike words": {40: 0}}


def test_two_languages_with_a_large_part_each_are_not_told_apart():
    # What the check cannot do, as its docstring says.
    assert odd([ENGLISH, GERMAN] * 150) == {}
