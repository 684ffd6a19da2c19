"""Running compiled models: inputs, threads, dynamic shapes, timing."""
