"""What a model costs: estimates, profiles, measured tiles."""
