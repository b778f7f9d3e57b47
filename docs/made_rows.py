"""Write as many rows of made-up text as are asked for: what is large is tried on them.

    python docs/made_rows.py 2000000 > rows.jsonl          reviews with a label
    python docs/made_rows.py 2000000 --text > corpus.txt   a document a line

20 to 40 words a row out of 30,000, the k-th likeliest with a probability like 1/k (Zipf); the same rows at every call.
"""

import itertools
import json
import sys

import numpy as np

SYLLABLES = ["ba", "ke", "lo", "mi", "nu", "ra", "si", "to", "ve", "za", "ri", "an", "es", "od"]
WORDS, BLOCK = 30_000, 20_000


def main() -> None:
    """Rows by blocks, so that memory is that of one."""
    count, as_text = int(sys.argv[1]), "--text" in sys.argv[2:]
    made = ("".join(word) for size in range(1, 5) for word in itertools.product(SYLLABLES, repeat=size))
    words = np.array(list(itertools.islice(made, WORDS)))
    likely = np.cumsum(1 / np.arange(1, WORDS + 1))
    draw = np.random.default_rng(5)
    for start in range(0, count, BLOCK):
        lengths = draw.integers(20, 41, min(BLOCK, count - start))
        drawn = words[np.searchsorted(likely, draw.random(lengths.sum()) * likely[-1])]
        texts = [" ".join(some) for some in np.split(drawn, np.cumsum(lengths)[:-1])]
        for row, text in enumerate(texts, start):
            label = "positive" if row % 2 else "negative"
            print(text if as_text else json.dumps({"id": f"r{row}", "text": text, "label": label}))


if __name__ == "__main__":
    main()
