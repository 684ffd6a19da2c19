"""Foundations that every room may use: files, memory, caches, names, text for other languages, TVM's runtime.

Nothing here knows of quantization; `tvmq/errors.py` and `tvmq/version.py` share its floor.
"""
