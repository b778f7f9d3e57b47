"""Words as vectors: word2vec and fastText through gensim, GloVe in NumPy, and what their geometry is worth.

    corpus ── text ─► sentences ── word2vec | glove ─► Vectors ── neighbours, analogies, similarity, stability ─► judged
                                                         └─► features ─► heldout baseline static

Nothing here imports torch; gensim and matplotlib are extras, imported where they are used.
"""
