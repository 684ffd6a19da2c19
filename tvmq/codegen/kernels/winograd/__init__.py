"""Winograd's convolution in integers."""
