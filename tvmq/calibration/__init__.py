"""Calibration data in any form, as checked batches; statistics of tensors, and the ranges chosen from them.

Data (`dataset.py`, `data/`) and observers (`observers/`) are NumPy alone: no model is known here.
"""
