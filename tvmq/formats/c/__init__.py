"""Fully integral modules as C99 for microcontrollers."""
