"""A server of one model: KServe's JSON, arrays as .npz and pictures; health, metrics, batches that keep bits."""
