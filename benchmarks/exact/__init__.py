"""Subjects of the exactness benchmarks: cases, extremes, dynamic sizes, GPUs, single operators."""
