"""Kernels for NVIDIA GPUs: integer products on dp4a and tensor cores, as PrimFuncs with thread bindings."""
