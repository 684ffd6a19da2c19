"""Quantized tensors to hold in one's hand: codes with their scale, what can be done with codes, and their files."""
