"""Words that are nouns in one sentence and verbs in another: part of speech by construction, which only context tells.

    the walk was over by noon     → walk: noun
    they walk every day           → walk: verb

Every word stands in every frame, so that of its two classes each is right half of the time: who knows the word alone
is at 0.5. Asked is that word only. A word is a group: a probe that has never met the scored words cannot know them.
"""

from typing import TypeAlias

#: The words of a sentence, the place of the one that is asked, its class, and itself.
Asked: TypeAlias = tuple[tuple[str, ...], int, str, str]
_BOTH = (
    "walk talk play plan watch look call drink cook dance dream fight fish guess help hope hunt joke laugh march "
    "paint phone pull push reply rest ride sail search shout sleep smile start stop study swim turn vote wait wish "
    "work answer attack climb cry drive escape fall jump move dive rush sigh smoke bow nap trade rise race bet return "
    "travel protest command"
)
WORDS = _BOTH.split()
SLOT = "_"
FRAMES = {
    "noun": (
        "The _ was over by noon .",
        "It had been a long _ .",
        "Her _ surprised us .",
        "We spoke about their _ .",
        "After the _ everyone went home .",
        "No _ is like another .",
        "That _ did not last .",
        "He was tired of the daily _ again .",
    ),
    "verb": (
        "They _ every day .",
        "We will _ tomorrow .",
        "She did not _ at all .",
        "You can _ with us .",
        "After noon they all _ at home .",
        "No one may _ here .",
        "The children _ in the garden .",
        "He was asked to _ again .",
    ),
}


def sentences() -> list[Asked]:
    """Every word in every frame, 512 of each class."""
    return [_asked(frame, name, word) for word in WORDS for name, frames in FRAMES.items() for frame in frames]


def _asked(frame: str, name: str, word: str) -> Asked:
    words = frame.split()
    at = words.index(SLOT)
    return (*words[:at], word, *words[at + 1 :]), at, name, word
