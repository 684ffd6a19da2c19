"""Products of two activations, the softmax between them, and both as one kernel."""
