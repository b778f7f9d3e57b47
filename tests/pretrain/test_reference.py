import numpy as np

from heldout.pretrain.reference import mask_corpus

# Exercise 23.11 of the first text in seeds/: subjects and what they do, twelve sentences of five words.
SUBJECTS = ["king", "queen", "king", "queen", "king", "queen", "dog", "cat", "dog", "cat", "king", "dog"]
REST = ["rules the kingdom"] * 2 + ["loves the queen", "loves the king"] + ["guards the castle"] * 2
REST += ["chases the ball"] * 2 + ["sleeps on mat"] * 2 + ["sleeps on throne", "guards the castle"]


def test_seed_26_selects_six_of_sixty_positions_four_masked_one_random_one_kept():
    sentences = [f"the {subject} {rest}".split() for subject, rest in zip(SUBJECTS, REST, strict=True)]
    vocabulary = sorted({word for words in sentences for word in words})
    ids = [[vocabulary.index(word) for word in words] for words in sentences]
    assert (len(vocabulary), sum(map(len, ids))) == (16, 60)
    found = mask_corpus(ids, 16, 16, np.random.RandomState(26))
    kinds = [selected.kind for selected in found]
    assert len(found) == 6
    assert [kinds.count(kind) for kind in ("masked", "random", "kept")] == [4, 1, 1]
    assert all(selected.truth == ids[selected.sentence][selected.position] for selected in found)
    assert all(selected.seen == 16 for selected in found if selected.kind == "masked")
    assert all(selected.seen == selected.truth for selected in found if selected.kind == "kept")
