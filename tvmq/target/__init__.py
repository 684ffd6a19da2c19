"""What to compile for: CPUs and GPUs, their names and features."""
