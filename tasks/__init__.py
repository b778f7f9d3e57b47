"""How a model does a task: encode, model class, loss, decode; one file a task."""
