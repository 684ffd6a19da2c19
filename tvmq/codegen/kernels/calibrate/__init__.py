"""Statistics of tensors, and the rounding of weights, as kernels."""
