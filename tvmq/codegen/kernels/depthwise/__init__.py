"""Depthwise convolutions: one filter a channel."""
