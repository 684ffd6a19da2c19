"""`tvmq doctor`: what is wrong with an installation, or with a model and its data, and what to do about it."""
