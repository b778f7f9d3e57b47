"""Which documents train, which choose the checkpoint (dev), and which are only reported (test)."""

import hashlib
from collections.abc import Mapping

import numpy as np

from heldout.errors import Refused
from heldout.pretrain.masking import IntArray
from heldout.pretrain.store import Corpus, small

#: A domain of at least this many documents gives two to dev and two to test, however small the share.
ENOUGH = 20


def split(corpus: Corpus, share: float, seed: int) -> Mapping[str, IntArray]:
    """The documents of "train", "dev" and "test" as numbers in the corpus's order; drawn by text, domain by domain.

    Half of ``share`` goes to dev, half to test. The draw looks at a document's text and the seed alone, so that a
    corpus that grows keeps its held-out documents nearly all. Refused where nothing is held out.
    """
    drawn = np.fromiter((_draw(int(digest), seed) for digest in corpus.digests), np.uint64, len(corpus))
    role = np.zeros(len(corpus), dtype=np.int8)
    for domain in range(len(corpus.domains)):
        members = np.flatnonzero(corpus.domain == domain)
        each = max(round(len(members) * share / 2), 2 if len(members) >= ENOUGH else 0)
        ordered = members[np.argsort(drawn[members], kind="stable")]
        role[ordered[:each]], role[ordered[each : 2 * each]] = 1, 2
    names = ("train", "dev", "test")
    parts = {name: small(np.flatnonzero(role == number)) for number, name in enumerate(names)}
    for name, documents in parts.items():
        if not len(documents):
            raise Refused(
                f"--held-out {share}: leaves no document for {name} of the {len(corpus)}; give more documents "
                "(--documents blank-line, line or heading cuts a file into several) or another share"
            )
    return parts


def _draw(digest: int, seed: int) -> int:
    """64 bits of a hash of document and seed."""
    return int.from_bytes(hashlib.blake2b(f"{digest} {seed}".encode(), digest_size=8).digest(), "big")
