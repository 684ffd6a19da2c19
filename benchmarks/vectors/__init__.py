"""Parts of invariance.py: models and samples, surroundings, contestants, quality, emulated CPUs."""
