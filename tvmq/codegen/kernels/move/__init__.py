"""Operators that move values: concat, pad, transpose, resize, depth to space."""
