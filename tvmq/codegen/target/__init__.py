"""Targets: CPUs and GPUs to compile for, their names and features."""
