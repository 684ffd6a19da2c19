"""ONNX models as Relax modules: read, checked, expanded, folded, converted."""
