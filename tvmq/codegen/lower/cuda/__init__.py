"""Rules and kernels for NVIDIA GPUs."""
