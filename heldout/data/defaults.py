"""The names by which a column is recognised when no --column names it (case ignored, the first one there is taken)."""

TEXT = ("text", "sentence", "review", "content", "review_text", "reviewtext", "tweet", "comment", "body", "document")
LABEL = ("label", "labels", "sentiment", "gold", "gold_label", "category", "class", "polarity", "target")
IDENTITY = ("id", "idx", "uid", "guid")
PREMISE = ("premise", "sentence1", "text", "context", "s1")
HYPOTHESIS = ("hypothesis", "sentence2", "s2")
WORDS = ("words", "tokens", "token")
TAGS = ("tags", "ner_tags", "ner", "labels", "label")
