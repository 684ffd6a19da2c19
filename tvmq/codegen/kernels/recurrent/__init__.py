"""Layers with a loop over time inside of one kernel."""
