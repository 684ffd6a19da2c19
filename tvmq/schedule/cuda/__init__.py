"""Schedules for NVIDIA GPUs."""
