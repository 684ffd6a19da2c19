"""`tvmq doctor`: checks of an installation, or of a model and its data, each with a remedy."""
