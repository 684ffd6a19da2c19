"""NVIDIA GPUs: target, schedules, CUDA C++ and what compiles it, execution and saved files."""
