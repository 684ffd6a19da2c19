"""Comparisons with a chip: what its description admits, and dumps of a device against the emulated arithmetic."""
