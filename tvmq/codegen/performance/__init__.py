"""Costs of a model: estimates, profiles, measured tiles."""
