"""The torch importer: export, decompose and convert a model to a Relax module."""
