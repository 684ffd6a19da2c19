"""Convolutions and products with constant weights as implicit GEMM."""
