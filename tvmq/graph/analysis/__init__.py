"""Analyses of modules, which change nothing: bounds of integers, limits of dynamic shapes, layers and their tensors."""
