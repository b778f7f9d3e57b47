"""Static word vectors: word2vec and fastText over gensim, GloVe of our own, and how they are judged."""
