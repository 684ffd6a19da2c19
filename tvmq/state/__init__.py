"""State of streaming models and decoders: outputs that are inputs of the next call, and the state in one's hand."""
