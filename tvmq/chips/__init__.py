"""Chips that a backend description describes: their arithmetic emulated in NumPy, compared with what a device gave."""
