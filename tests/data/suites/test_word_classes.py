from collections import Counter

from heldout.data.suites.word_classes import FRAMES, WORDS, sentences


def test_every_word_is_a_noun_as_often_as_a_verb_and_in_every_frame_once() -> None:
    found = sentences()
    assert len(found) == len(WORDS) * 16 == 1024 and len(set(WORDS)) == len(WORDS)
    assert len({words for words, *_ in found}) == len(found)
    for word in WORDS:
        assert Counter(name for *_, name, asked in found if asked == word) == {"noun": 8, "verb": 8}


def test_the_place_is_that_of_the_word_and_its_frame_is_of_its_class() -> None:
    for words, at, name, word in sentences():
        assert words[at] == word and " ".join([*words[:at], "_", *words[at + 1 :]]) in FRAMES[name]


def test_what_stands_before_the_word_does_not_tell_its_class_by_place_alone() -> None:
    places = {name: Counter(frame.split().index("_") for frame in frames) for name, frames in FRAMES.items()}
    assert set(places["noun"]) & set(places["verb"]) >= {1, 2, 4}
