"""A compiled model at work: inputs, threads, free sizes, timing."""
