"""Integer modules as ONNX with QuantizeLinear and DequantizeLinear."""
