"""ONNX files: `importer/` reads them, `exporter/` writes QuantizeLinear and DequantizeLinear."""
