"""Normalizations, softmax and sums of floats, by tvmq's own definition."""
