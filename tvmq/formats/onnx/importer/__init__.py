"""The ONNX importer: read, check, expand, fold and convert a model to a Relax module."""
