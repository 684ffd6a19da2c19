"""A described chip at work in NumPy: its accumulators, its requantize, its floats; vectors for it; what explains it."""
