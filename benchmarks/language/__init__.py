"""Language models for benchmarks: weights from GGUF files of pip packages, texts that pip packages ship, peers."""
