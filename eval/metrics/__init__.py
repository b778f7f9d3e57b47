"""One file a family of metrics; each metric is a function of sums over examples, so that it can be resampled."""
