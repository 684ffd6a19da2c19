"""The saved model: its container, manifest, code and constants."""
