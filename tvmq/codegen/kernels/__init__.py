"""Kernels: one operator family a file; isa/ says what CPUs offer."""
