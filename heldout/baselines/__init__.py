"""Systems that take seconds to train and that a fine-tuned encoder must beat: one file each."""
