"""Compiled models at work: inputs, threads, dynamic shapes, timing; saved models (`artifact/`)."""
