"""Quantization from end to end: the stages behind `quantize`, the guard of its accuracy, the search for precisions."""
