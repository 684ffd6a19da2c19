"""Decoders of text: the loop that writes tokens, receipts of what it computed, and their check by the definition."""
