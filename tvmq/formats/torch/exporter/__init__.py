"""Integer modules as torch modules with quantize and dequantize operators of torch.ops.quantized_decomposed."""
